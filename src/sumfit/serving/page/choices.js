// Slots and limits that the page offers, beyond what the server says of its presets.

export const RANGES = {
  words: [1, 40], chars: [10, 300], bytes: [10, 300], utf16: [10, 300], graphemes: [10, 300], cells: [10, 160],
  tokens: [2, 80], tweet: [20, 280], mastodon: [20, 500], sms: [20, 160],
};
export const START = {
  words: 10, chars: 60, bytes: 60, utf16: 60, graphemes: 60, cells: 60, tokens: 16, tweet: 280, mastodon: 500, sms: 160,
};
export const SIDE_BY_SIDE = ["seo-title", "push", "git-subject", "tweet"]; // until the reader chooses others
const LOW = ["git-subject", "git-subject-hard", "synopsis"]; // where many texts begin in lower case
const GROUPS = {
  "Search and links": /^(seo|meta|og|rss|youtube)-/,
  Posts: /^(tweet|mastodon|bluesky|threads|linkedin)/,
  Messages: /^(push|sms|email|slack)/,
  Code: /^(git|pr)-|^synopsis$/,
  "Stores and ads": /^(app|play|google-ads)-/,
  Other: /./,
};
const NAMES = { seo: "SEO", sms: "SMS", og: "Link preview:", rss: "Feed:", pr: "Pull request", linkedin: "LinkedIn",
  youtube: "YouTube", tweet: "Post on X" };

export function slotTitle(name) {
  const words = name.split("-").map((word) => NAMES[word] ?? word).join(" ");
  return words[0].toUpperCase() + words.slice(1);
}

export function slotGroups(names) {
  const left = new Set(names);
  return Object.entries(GROUPS).map(([group, pattern]) => {
    const own = [...left].filter((name) => pattern.test(name));
    own.forEach((name) => left.delete(name));
    return [group, own];
  }).filter(([, own]) => own.length);
}

// What to ask for beside text and limit: the reader's own choice, else what suits the slot.
export function wordingFor(name, slots, { style, capitals }) {
  const wording = { style: style === "auto" ? slots[name]?.style || "auto" : style };
  const letters = capitals || (LOW.includes(name) ? "source" : "");
  return letters ? { ...wording, capitalization: letters } : wording;
}

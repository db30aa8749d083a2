// Slots that the page offers, beyond what the server says of its presets.

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

// Previews: the summary where it will be read. Text enters by textContent alone.

const TITLE_FONT = "20px Arial, sans-serif"; // what search engines measure titles in, as far as is known
const TITLE_PIXELS = 600;
const ABOUT_CHARS = 155;

function part(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  element.dir = "auto";
  return element;
}

function box(className, ...parts) {
  const element = part("div", className);
  element.append(...parts);
  return element;
}

// Cut between words, as a result page does.
function beginning(text, most) {
  const letters = [...text.trim().replace(/\s+/gu, " ")];
  if (letters.length <= most) return letters.join("");
  return `${letters.slice(0, most - 1).join("").replace(/\s+\S*$/u, "")} …`;
}

function pixels(text) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return null;
  pen.font = TITLE_FONT;
  return Math.round(pen.measureText(text).width);
}

// The title in full where it fits or the preview is narrow, as on a phone; else cut as on a desktop.
function searchTitle(text, width) {
  if (width === null || width <= TITLE_PIXELS) return part("span", "title", text);
  const words = text.split(/(?=\s)/u);
  let most = words.length - 1;
  while (most > 1 && pixels(`${words.slice(0, most).join("")} …`) > TITLE_PIXELS) most -= 1;
  const title = part("span", "title");
  title.append(part("span", "kept", words.slice(0, most).join("")), part("span", "rest", words.slice(most).join("")));
  return title;
}

function search(text, source) {
  const width = pixels(text);
  const result = box("slot-search", part("span", "where", "example.org › news"), searchTitle(text, width),
    part("span", "about", beginning(source, ABOUT_CHARS)));
  if (width === null) return result;
  const note = width <= TITLE_PIXELS ? `about ${width} of the ${TITLE_PIXELS} pixels that a desktop shows`
    : `about ${width} pixels: a desktop shows ${TITLE_PIXELS} and cuts the rest`;
  return box("slot-noted", result, part("p", "hint", note));
}

const description = (text) => box("slot-search", part("span", "where", "example.org › news"),
  part("span", "title", "The title of your page"), part("span", "about", text));

const link = (text, source, preset) => box("slot-link", part("span", "picture"),
  part("span", "title", preset === "og-title" ? text : "The title of your page"),
  part("span", "about", preset === "og-title" ? beginning(source, 80) : text), part("span", "where", "example.org"));

const push = (text) => box("slot-push", part("span", "app", "s"), part("span", "who", "Your app · now"),
  part("span", "body", text));

function commit(text) {
  const line = part("span", "line");
  line.append(part("span", "hash", "4f2a91c "), text);
  return box("slot-term", part("span", "dim", "$ git log --oneline"), line);
}

const pull = (text) => box("slot-post", part("p", "body", `${text} `), part("p", "who", "#128 opened just now by you"));

const mail = (text) => box("slot-mail", part("span", "who", "You"), part("span", "subject", text),
  part("span", "when", "09:41"));

const post = (text) => box("slot-post", part("p", "who", "You · now"), part("p", "body", text));

const message = (text) => box("slot-message", part("p", "body", text), part("p", "who", "now"));

const store = (text) => box("slot-push", part("span", "app", "s"), part("span", "who", "Your app"),
  part("span", "body", text));

const SLOTS = {
  "seo-title": search, "meta-description": description, "og-title": link, "og-description": link,
  push, sms: message, "slack-header": message, "slack-section": message, "email-subject": mail,
  "git-subject": commit, "git-subject-hard": commit, "pr-title": pull,
  tweet: post, mastodon: post, bluesky: post, threads: post, "linkedin-post": post, "linkedin-fold": post,
  "app-subtitle": store, "app-promotional-text": store, "play-short-description": store,
};

export const hasPreview = (preset) => preset in SLOTS;

// Draws a slot, or the bare text where the slot has no picture of its own.
export function drawSlot(place, preset, text, source) {
  const draw = SLOTS[preset] ?? ((plain) => part("p", "slot-plain", plain));
  place.replaceChildren(draw(text, source, preset));
}

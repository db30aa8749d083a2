// Previews: the summary where it will be read. Text enters by textContent alone.

function part(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  if (className !== "hash") element.dir = "auto";
  return element;
}

function search(text, source) {
  const box = part("div", "slot-search");
  box.append(part("span", "where", "example.org › news"), part("span", "title", text),
    part("span", "about", source.slice(0, 150)));
  return box;
}

function description(text) {
  const box = part("div", "slot-search");
  box.append(part("span", "where", "example.org › news"), part("span", "title", "The title of your page"),
    part("span", "about", text));
  return box;
}

function push(text) {
  const box = part("div", "slot-push");
  box.append(part("span", "app", "s"), part("span", "who", "Your app · now"), part("span", "body", text));
  return box;
}

function commit(text) {
  const box = part("div", "slot-term");
  box.dir = "ltr";
  box.append(part("span", "dim", "$ git log --oneline\n"), part("span", "hash", "4f2a91c "),
    document.createTextNode(`${text}\n`),
    part("span", "dim", `${" ".repeat(8)}${"·".repeat(49)}50${"·".repeat(20)}72`));
  return box;
}

function mail(text) {
  const box = part("div", "slot-mail");
  box.append(part("span", "who", "You"), part("span", "subject", text), part("span", "when", "09:41"));
  return box;
}

function post(text) {
  const box = part("div", "slot-post");
  box.append(part("p", "who", "You · now"), part("p", "body", text));
  return box;
}

const plain = (text) => part("p", "slot-plain", text);

const SLOTS = {
  "seo-title": search,
  "meta-description": description,
  push,
  "git-subject": commit,
  "git-subject-hard": commit,
  "email-subject": mail,
  tweet: post,
  sms: post,
};

export function drawSlot(place, preset, text, source) {
  place.replaceChildren((SLOTS[preset] ?? plain)(text, source));
}

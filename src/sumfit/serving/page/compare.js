// The same text in several slots side by side, each within its own limit.
import { isAbort } from "./api.js";
import { SIDE_BY_SIDE, slotGroups, slotTitle, wordingFor } from "./choices.js";
import { drawSlot } from "./slots.js";
import { unitName } from "./units.js";
import { counter, isProved, problemOf } from "./wording.js";

const KEPT = "sumfit-slots";

export class SideBySide {
  constructor({ card, list, form, add, status, ask, copy }) {
    Object.assign(this, { card, list, form, add, status, ask, copy });
    this.slots = {};
    this.names = [];
    this.replies = new Map(); // answers of one text, by slot
    this.question = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.choose([...this.names, add.value]);
      this.list.lastElementChild?.querySelector("button")?.focus();
    });
  }

  offer(slots) {
    this.slots = slots;
    let names = null;
    try {
      names = JSON.parse(localStorage.getItem(KEPT));
    } catch { /* what is kept was changed by hand */ }
    this.names = (Array.isArray(names) ? names : SIDE_BY_SIDE).filter((name) => name in slots);
    this.fillMenu();
  }

  fillMenu() {
    const left = Object.keys(this.slots).filter((name) => !this.names.includes(name));
    this.add.replaceChildren(...slotGroups(left).map(([group, names]) => {
      const part = document.createElement("optgroup");
      part.label = group;
      part.append(...names.map((name) => new Option(slotTitle(name), name)));
      return part;
    }));
    this.form.hidden = !left.length;
  }

  choose(names) {
    this.names = names.filter((name) => name in this.slots);
    localStorage.setItem(KEPT, JSON.stringify(this.names));
    this.fillMenu();
    this.draw();
    if (this.question) this.fetch(this.question);
  }

  // What is shown belongs to another question: nothing of it may be read or copied.
  age() {
    this.question = null;
    this.replies.clear();
    this.card.classList.add("old");
    this.card.setAttribute("aria-busy", "true");
  }

  hide() {
    this.age();
    this.card.hidden = true;
  }

  // Slots of one unit and one wording share a request, and so a reading of the text.
  async fetch(question) {
    const { text, style, capitals, cut, signal } = (this.question = question);
    this.card.hidden = false;
    this.card.setAttribute("aria-busy", "true");
    const groups = new Map();
    for (const name of this.names.filter((one) => !this.replies.has(one))) {
      const wording = wordingFor(name, this.slots, { style, capitals });
      const key = JSON.stringify([this.slots[name].unit, wording]);
      groups.set(key, [...(groups.get(key) ?? []), name]);
    }
    this.status.textContent = "";
    try {
      for (const [key, names] of groups) {
        const [unit, wording] = JSON.parse(key);
        const limits = names.map((name) => this.slots[name].limit);
        const body = { text, unit, limits, ...wording, ...(cut ? { on_infeasible: "cut" } : {}) };
        const { summaries } = await this.ask("v1/summarize", body, signal);
        if (question !== this.question) return;
        names.forEach((name, at) => this.replies.set(name, summaries[at]));
      }
    } catch (error) {
      if (isAbort(error) || question !== this.question) return;
      this.status.textContent = problemOf(error).text;
    }
    this.card.classList.remove("old");
    this.card.setAttribute("aria-busy", "false");
    this.draw();
  }

  draw() {
    this.list.replaceChildren(...this.names.map((name) => this.item(name, this.replies.get(name))));
  }

  item(name, summary) {
    const { limit, unit } = this.slots[name];
    const item = document.createElement("li");
    item.dataset.slot = name;
    const head = document.createElement("h3");
    head.textContent = slotTitle(name);
    const place = document.createElement("div");
    place.className = "preview";
    const foot = document.createElement("p");
    foot.className = "count";
    foot.textContent = `at most ${limit} ${unitName(unit, limit)}`;
    const buttons = document.createElement("div");
    buttons.className = "row";
    if (summary?.text) {
      drawSlot(place, name, summary.text, this.question?.text ?? "");
      foot.textContent = counter(summary) + (isProved(summary) ? ", proved best" : "");
      buttons.append(this.button("Copy", name, (button) => this.copy(summary.text, button, place)));
    } else {
      const wait = document.createElement("p");
      wait.className = "none";
      wait.textContent = summary?.error ? problemOf(summary.error).text : "…";
      place.append(wait);
    }
    buttons.append(this.button("Remove", name, () => {
      this.choose(this.names.filter((other) => other !== name));
      this.add.focus();
    }));
    item.append(head, place, foot, buttons);
    return item;
  }

  button(label, name, act) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "quiet", textContent: label });
    button.setAttribute("aria-label", `${label}: ${slotTitle(name)}`);
    button.addEventListener("click", () => act(button));
    return button;
  }
}

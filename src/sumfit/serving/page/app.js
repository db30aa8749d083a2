// The page: reads the text and the limit, asks the server, shows what comes back.
import { GraphView } from "./graph.js";
import { SAMPLES } from "./samples.js";
import { drawSlot } from "./slots.js";
import { badgesOf, certificateOf, counter, oddsOf, unitName } from "./wording.js";

const RANGES = {
  words: [1, 40], chars: [10, 300], bytes: [10, 300], graphemes: [10, 300], cells: [10, 160],
  tokens: [2, 80], tweet: [20, 280], sms: [20, 160],
};
const START = { words: 10, chars: 60, bytes: 60, graphemes: 60, cells: 60, tokens: 16, tweet: 280, sms: 160 };
const SETTLE_MS = 180;
const GRID = 24;

const $ = (id) => document.getElementById(id);
const ui = Object.fromEntries(["source", "limit", "limit-number", "unit", "summary", "gauge", "count",
  "badges", "certificate", "preview", "alternatives", "live", "problem", "elapsed", "copy", "presets",
  "samples", "source-size", "limit-label", "capitals", "style", "key-form", "key", "theme", "model-name"]
  .map((id) => [id.replace(/-(.)/g, (_, letter) => letter.toUpperCase()), $(id)]));
const view = new GraphView({
  svg: $("graph"), scroll: $("graph-scroll"), details: $("vertex"),
  table: $("path-table").tBodies[0], size: $("graph-size"),
});
const state = { preset: "", slots: {}, known: new Map(), round: 0, shown: null, settle: 0, abort: null };

class ServerProblem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function ask(path, body, signal) {
  const headers = { "content-type": "application/json" };
  const key = sessionStorage.getItem("sumfit-key");
  if (key) headers.authorization = `Bearer ${key}`;
  const init = body ? { method: "POST", headers, body: JSON.stringify(body), signal } : { headers, signal };
  let response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerProblem("The server does not answer. Is it still running?", 0);
  }
  const reply = await response.json().catch(() => ({}));
  if (response.ok) return reply;
  if (response.status === 401) ui.keyForm.hidden = false;
  throw new ServerProblem(reply.error?.message ?? `The server answered ${response.status}.`, response.status);
}

const limit = () => Number(ui.limitNumber.value);
const unit = () => ui.unit.value;
const LOW_SLOTS = ["git-subject", "git-subject-hard", "synopsis"]; // where many texts begin in lower case
const capitals = () => ui.capitals.value || (LOW_SLOTS.includes(state.preset) ? "source" : undefined);
const style = () => (ui.style.value === "auto" ? state.slots[state.preset]?.style || "auto" : ui.style.value);
const wording = () => ({ capitalization: capitals(), style: style() });
const lengthOptions = () => ({ unit: unit(), max_length: limit(), ...wording() });

function setLimit(value) {
  const [low, high] = RANGES[unit()] ?? [1, 300];
  ui.limit.min = low;
  ui.limit.max = Math.max(high, value);
  ui.limit.value = value;
  ui.limitNumber.value = value;
  const words = `${value} ${unitName(unit(), value)}`;
  ui.limitLabel.textContent = `At most ${words}`;
  ui.limit.setAttribute("aria-valuetext", words);
}

// A summary of the best score for at most L with length l has it for every limit from l to L as well;
// what a scorer chose among the candidates of one limit holds for that limit alone.
function remember(summary) {
  if (summary.error) return;
  const isBest = summary.optimal && summary.chosen_by === "graph";
  const low = isBest || summary.origin === "source" ? summary.length : summary.limit;
  for (let at = low; at <= summary.limit; at += 1) {
    state.known.set(`${summary.unit} ${at}`, { ...summary, limit: at });
  }
}

function forget() {
  state.known.clear();
  state.round += 1;
}

function show(summary) {
  state.shown = summary;
  ui.problem.hidden = true;
  ui.summary.textContent = summary.text;
  ui.summary.classList.remove("empty");
  ui.gauge.style.width = `${Math.min(100, (100 * summary.length) / Math.max(1, summary.limit))}%`;
  ui.count.textContent = counter(summary);
  ui.certificate.textContent = certificateOf(summary);
  ui.copy.disabled = false;
  ui.badges.replaceChildren(...badgesOf(summary).map(({ text, good }) => {
    const item = document.createElement("li");
    item.textContent = text;
    if (!good) item.className = "caution";
    return item;
  }));
  drawSlot(ui.preview, state.preset, summary.text, ui.source.value);
}

function showAlternatives(summary) {
  const others = summary.alternatives ?? [];
  ui.alternatives.replaceChildren(...others.map((other) => {
    const item = document.createElement("li");
    item.dir = "auto";
    const odds = other.log_prob === null ? "" : `, ${oddsOf(other.log_prob)}`;
    const hint = document.createElement("span");
    hint.className = "hint";
    hint.textContent = `${other.length} ${unitName(other.unit, other.length)}${odds}`;
    item.append(`${other.text} `, hint);
    return item;
  }));
  if (!others.length) {
    const none = document.createElement("li");
    none.className = "none";
    none.textContent = summary.origin === "source" ? "None needed." : "None.";
    ui.alternatives.append(none);
  }
}

function showNothing(message, isProblem) {
  state.shown = null;
  ui.problem.hidden = !isProblem;
  ui.problem.textContent = isProblem ? message : "";
  ui.summary.textContent = isProblem ? "No summary." : message;
  ui.summary.classList.add("empty");
  ui.gauge.style.width = "0";
  for (const place of [ui.count, ui.certificate, ui.elapsed, ui.live]) place.textContent = "";
  for (const place of [ui.badges, ui.alternatives, ui.preview]) place.replaceChildren();
  ui.copy.disabled = true;
  view.clear();
}

// Shows what is known at once and fetches the rest when the hand comes to rest.
function update({ now = false } = {}) {
  const text = ui.source.value;
  clearTimeout(state.settle);
  if (!text.trim()) {
    state.abort?.abort();
    showNothing("Your summary appears here.", false);
    return;
  }
  const known = state.known.get(`${unit()} ${limit()}`);
  if (known) show(known);
  state.settle = setTimeout(fetchAll, now ? 0 : known ? SETTLE_MS : 40);
}

async function fetchAll() {
  state.abort?.abort();
  const { signal } = (state.abort = new AbortController());
  const round = state.round;
  const text = ui.source.value;
  const body = { text, ...lengthOptions(), n_best: 6 };
  try {
    const start = performance.now();
    const summary = await ask("v1/summarize", body, signal);
    if (round !== state.round) return;
    ui.elapsed.textContent = `${Math.round(performance.now() - start)} ms`;
    remember(summary);
    show(summary);
    showAlternatives(summary);
    ui.live.textContent = `${counter(summary)}: ${summary.text}`;
    const graph = await ask("v1/graph", { text, ...lengthOptions(), min_link_prob: 0.05 }, signal);
    if (round !== state.round) return;
    view.show(graph);
    await lookAround(text, round, signal);
  } catch (error) {
    if (error.name === "AbortError" || round !== state.round) return;
    showNothing(error.message, true);
  }
}

// One forward pass gives every limit: a coarse grid first, then what it leaves open.
async function lookAround(text, round, signal) {
  const [low, high] = RANGES[unit()] ?? [1, 300];
  const missing = () => {
    const limits = [];
    for (let at = low; at <= high; at += 1) if (!state.known.has(`${unit()} ${at}`)) limits.push(at);
    return limits;
  };
  for (let pass = 0; pass < 3; pass += 1) {
    const open = missing();
    if (!open.length) return;
    const stride = Math.ceil(open.length / GRID);
    const limits = open.filter((_, at) => at % stride === stride - 1);
    const reply = await ask("v1/summarize", { text, unit: unit(), limits, ...wording() }, signal).catch((error) => {
      if (error.name === "AbortError") throw error;
      return { summaries: [] };
    });
    if (round !== state.round) return;
    reply.summaries.forEach(remember);
  }
}

function choosePreset(name, presets) {
  const before = JSON.stringify(wording());
  state.preset = name;
  if (JSON.stringify(wording()) !== before) forget();
  if (name && presets[name]) {
    const slot = presets[name];
    ensureUnit(slot.unit);
    ui.unit.value = slot.unit;
    setLimit(slot.limit);
  }
  if (state.shown) drawSlot(ui.preview, state.preset, state.shown.text, ui.source.value);
  update({ now: true });
}

function ensureUnit(name) {
  if ([...ui.unit.options].some((option) => option.value === name)) return;
  ui.unit.append(new Option(unitName(name), name));
}

function chip(name, label, presets) {
  const wrap = document.createElement("label");
  wrap.className = "chip";
  const input = document.createElement("input");
  Object.assign(input, { type: "radio", name: "preset", value: name, checked: name === "" });
  input.addEventListener("change", () => choosePreset(name, presets));
  wrap.append(input, label);
  return wrap;
}

function title(name) {
  const words = name.replaceAll("-", " ").replace("seo", "SEO").replace("sms", "SMS");
  return words[0].toUpperCase() + words.slice(1);
}

async function loadModel() {
  const model = await ask("v1/model");
  ui.unit.replaceChildren(...Object.keys(model.units).map((name) => new Option(unitName(name), name)));
  ui.unit.value = "chars";
  state.slots = model.presets;
  ui.style.replaceChildren(new Option("As the slot or text asks", "auto"),
    ...(model.styles ?? []).map((name) => new Option(title(name), name)));
  ui.style.parentElement.hidden = !model.styles?.length;
  const slots = Object.keys(model.presets);
  ui.presets.replaceChildren(chip("", "Free", model.presets),
    ...slots.map((name) => chip(name, title(name), model.presets)));
  ui.modelName.textContent = `Model: ${model.name}, sumfit ${model.version}.`;
  setLimit(START.chars);
}

function sizeOf(text) {
  const words = text.trim() ? text.trim().split(/\s+/u).length : 0;
  ui.sourceSize.textContent = text ? `${words.toLocaleString("en")} words` : "";
}

function onText(event) {
  sizeOf(ui.source.value);
  forget();
  update({ now: event?.inputType === "insertFromPaste" });
}

const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };
function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  ui.theme.textContent = THEMES[theme];
  ui.theme.setAttribute("aria-label", `Colour theme: ${theme === "auto" ? "automatic" : theme}`);
  localStorage.setItem("sumfit-theme", theme);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(state.shown.text);
    ui.copy.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(ui.summary);
    ui.copy.textContent = "Selected";
  }
  setTimeout(() => { ui.copy.textContent = "Copy"; }, 1500);
}

function listen() {
  ui.source.addEventListener("input", onText);
  ui.limit.addEventListener("input", () => { setLimit(Number(ui.limit.value)); update(); });
  ui.limitNumber.addEventListener("input", () => {
    if (!ui.limitNumber.checkValidity() || ui.limitNumber.value === "") return;
    setLimit(limit());
    update();
  });
  ui.unit.addEventListener("change", () => { setLimit(START[unit()] ?? 60); update({ now: true }); });
  for (const choice of [ui.capitals, ui.style]) {
    choice.addEventListener("change", () => { forget(); update({ now: true }); });
  }
  ui.copy.addEventListener("click", copy);
  ui.theme.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const now = names.indexOf(localStorage.getItem("sumfit-theme") ?? "auto");
    setTheme(names[(now + 1) % names.length]);
  });
  ui.keyForm.addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("sumfit-key", ui.key.value.trim());
    ui.keyForm.hidden = true;
    begin();
  });
  ui.samples.append("Or try: ", ...Object.entries(SAMPLES).map(([name, text]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => { ui.source.value = text; onText({ inputType: "insertFromPaste" }); });
    return button;
  }));
}

async function begin() {
  try {
    await loadModel();
    if (ui.source.value.trim()) onText();
  } catch (error) {
    showNothing(error.message, true);
  }
}

setTheme(localStorage.getItem("sumfit-theme") ?? "auto");
listen();
begin();

// The page: reads the text and the limit, asks the server, shows what comes back.
//
// What is shown always belongs to the question that stands beside it. A question is the body of a request;
// each change of text, limit, unit, slot or wording makes another one, and what answers the old one is
// dimmed, and loses Copy, marks, previews and graph, until the new answer is there.
import { ask, isAbort, ServerProblem } from "./api.js";
import { slotGroups, slotTitle, wordingFor } from "./choices.js";
import { SideBySide } from "./compare.js";
import { GraphView } from "./graph.js";
import { SAMPLES } from "./samples.js";
import { drawSlot, hasPreview } from "./slots.js";
import { sliderOf, startOf, unitName, useUnits } from "./units.js";
import {
  badgesOf, certificateOf, counter, doubtsOf, limitRule, numbersOf, orderOf, problemOf, waitOf,
} from "./wording.js";

const SETTLE_MS = 180;
const SLOW_MS = 2500; // after which the page says that it waits, and for how long
const N_BEST = 6;
const MIN_LINK_PROB = 0.05;
const LEAST_MAXIMUM = 1000; // of the box for the limit; more where a slot has more

const $ = (id) => document.getElementById(id);
const ui = Object.fromEntries(["source", "limit", "limit-number", "limit-problem", "unit", "preset", "summary",
  "summary-card", "facts", "gauge", "count", "badges", "certificate", "preview", "preview-wrap", "others", "order",
  "alternatives", "live", "problem", "problem-text", "retry", "first-words", "status", "copy", "samples",
  "source-size", "limit-label", "capitals", "style", "key-form", "key", "theme", "model-name", "graph-card",
  "graph-note", "graph-body"]
  .map((id) => [id.replace(/-(.)/g, (_, letter) => letter.toUpperCase()), $(id)]));
const view = new GraphView({
  svg: $("graph"), scroll: $("graph-scroll"), hint: $("graph-scroll-hint"), details: $("vertex"),
  table: $("path-table").tBodies[0], size: $("graph-size"),
});
const sideBySide = new SideBySide({
  card: $("compare-card"), list: $("compare"), form: $("compare-form"), add: $("compare-add"),
  status: $("compare-status"), ask: askAndWait, copy,
});
const state = {
  slots: {}, limit: 60, isReady: false, cut: false, // cut: take the first words where nothing fits
  shown: null, // the summary on the page and its text
  answers: new Map(), // of this text, by question
  abort: null, settle: 0, slow: 0,
};

const unit = () => ui.unit.value;
const wishes = () => ({ style: ui.style.value, capitals: ui.capitals.value });
const question = () => ({
  text: ui.source.value, unit: unit(), max_length: state.limit,
  ...wordingFor(ui.preset.value, state.slots, wishes()), ...(state.cut ? { on_infeasible: "cut" } : {}),
});

// --- waiting ---------------------------------------------------------------------------------------------

async function askAndWait(path, body, signal) {
  const onWait = (problem) => {
    const words = waitOf(problem);
    stopClock();
    ui.status.textContent = words;
    if (ui.live.textContent !== words) ui.live.textContent = words;
  };
  try {
    return await ask(path, body, { signal, onWait });
  } catch (error) {
    if (error.status === 401) ui.keyForm.hidden = false;
    throw error;
  }
}

function startClock() {
  stopClock();
  const start = performance.now();
  ui.status.textContent = "Working …";
  state.slow = setInterval(() => {
    const passed = performance.now() - start;
    if (passed < SLOW_MS) return;
    ui.status.textContent = `Still waiting for the server: ${Math.round(passed / 1000)} s`;
    const words = "Still waiting for the server.";
    if (ui.live.textContent !== words) ui.live.textContent = words;
  }, 500);
}

function stopClock() {
  clearInterval(state.slow);
}

// --- showing ---------------------------------------------------------------------------------------------

function setBusy(isBusy) {
  ui.summaryCard.classList.toggle("old", isBusy);
  ui.summaryCard.setAttribute("aria-busy", String(isBusy));
}

// The answer on the page is to another question. With another text nothing of it is left.
function age() {
  ui.copy.disabled = true;
  ui.problem.hidden = true;
  if (!state.shown || state.shown.text !== ui.source.value) {
    state.shown = null;
    ui.facts.hidden = true;
    ui.summary.textContent = "…";
    ui.summary.classList.add("empty");
  }
  setBusy(true);
  ui.graphCard.classList.add("old");
  ui.graphCard.setAttribute("aria-busy", "true");
  view.clear();
}

function show(summary) {
  state.shown = { summary, text: ui.source.value };
  stopClock();
  setBusy(false);
  ui.problem.hidden = true;
  ui.facts.hidden = false;
  ui.summary.textContent = summary.text;
  ui.summary.classList.remove("empty");
  ui.gauge.style.width = `${Math.min(100, (100 * summary.length) / Math.max(1, summary.limit))}%`;
  ui.count.textContent = counter(summary);
  ui.certificate.textContent = [certificateOf(summary), doubtsOf(summary)].filter(Boolean).join(" ");
  ui.copy.disabled = false;
  ui.badges.replaceChildren(...badgesOf(summary).map(({ text, good }) => {
    const item = document.createElement("li");
    item.textContent = text;
    if (!good) item.className = "caution";
    return item;
  }));
  ui.previewWrap.hidden = !hasPreview(ui.preset.value);
  if (!ui.previewWrap.hidden) drawSlot(ui.preview, ui.preset.value, summary.text, ui.source.value);
  showAlternatives(summary);
}

function showAlternatives(summary) {
  const others = summary.alternatives ?? [];
  ui.others.hidden = !others.length;
  ui.order.textContent = orderOf(summary);
  ui.alternatives.replaceChildren(...others.map((other) => {
    const item = document.createElement("li");
    item.dir = "auto";
    const hint = document.createElement("span");
    hint.className = "hint";
    hint.dir = "ltr";
    hint.textContent = numbersOf(other, summary.chosen_by);
    item.append(`${other.text} `, hint);
    return item;
  }));
}

function showEmpty(message) {
  stopClock();
  state.shown = null;
  setBusy(false);
  ui.copy.disabled = true;
  ui.facts.hidden = true;
  ui.problem.hidden = true;
  ui.summary.textContent = message;
  ui.summary.classList.add("empty");
  ui.status.textContent = "";
  ui.live.textContent = "";
  view.clear();
  ui.graphCard.hidden = true;
  sideBySide.hide();
}

function showProblem(error) {
  const { text, canCut, canRetry } = problemOf(error);
  showEmpty("No summary.");
  ui.problemText.textContent = text;
  ui.retry.hidden = !canRetry;
  ui.firstWords.hidden = !canCut || state.cut;
  ui.problem.hidden = false;
}

function showGraph(graph, summary) {
  ui.graphCard.hidden = false;
  ui.graphCard.classList.remove("old");
  ui.graphCard.setAttribute("aria-busy", "false");
  ui.graphBody.hidden = !graph;
  ui.graphNote.hidden = Boolean(graph);
  if (graph) view.show(graph);
  else if (summary.origin === "source") ui.graphNote.textContent = "The text fits already: nothing was searched, and there is no path to draw.";
  else if (summary.origin === "cut") ui.graphNote.textContent = "These are the text\u2019s own first words: the search found no path to draw.";
  else ui.graphNote.textContent = "The graph could not be fetched.";
}

// --- asking ----------------------------------------------------------------------------------------------

// Something changed: what is shown is old at once, until there is an answer to the new question.
function update({ now = false } = {}) {
  clearTimeout(state.settle);
  state.abort?.abort();
  stopClock();
  if (!ui.source.value.trim()) {
    showEmpty("Your summary appears here.");
    return;
  }
  age();
  if (!state.isReady) return; // the text is asked for once the server has said what it offers
  ui.status.textContent = "Working …";
  const isKnown = state.answers.has(JSON.stringify(question()));
  state.settle = setTimeout(fetchAll, now || isKnown ? 0 : SETTLE_MS);
}

async function fetchAll() {
  const { signal } = (state.abort = new AbortController());
  const body = question();
  const key = JSON.stringify(body);
  startClock();
  try {
    const start = performance.now();
    const known = state.answers.get(key);
    const summary = known ?? await askAndWait("v1/summarize", { ...body, n_best: N_BEST }, signal);
    if (signal.aborted) return;
    state.answers.set(key, summary);
    show(summary);
    ui.status.textContent = known ? "" : `answered in ${((performance.now() - start) / 1000).toFixed(1)} s`;
    ui.live.textContent = `${counter(summary)}: ${summary.text}`;
    await sideBySide.fetch({ text: body.text, ...wishes(), cut: state.cut, signal });
    if (!signal.aborted) await fetchGraph(body, summary, signal);
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    if (!(error instanceof ServerProblem)) throw error;
    showProblem(error);
  }
}

async function fetchGraph(body, summary, signal) {
  let graph = null;
  if (summary.origin === "model") {
    try {
      graph = await askAndWait("v1/graph", { ...body, min_link_prob: MIN_LINK_PROB }, signal);
    } catch (error) {
      if (isAbort(error)) throw error; // the summary stands without its graph
    }
  }
  if (!signal.aborted) showGraph(graph, summary);
}

// --- choosing --------------------------------------------------------------------------------------------

function setLimit(value) {
  const [low, high] = sliderOf(unit());
  state.limit = value;
  ui.limit.min = Math.min(low, value);
  ui.limit.max = Math.max(high, value);
  ui.limit.value = value;
  ui.limitNumber.value = value;
  const words = `${value} ${unitName(unit(), value)}`;
  ui.limitLabel.textContent = `At most ${words}`;
  ui.limit.setAttribute("aria-valuetext", words);
  sayLimitProblem("");
}

function sayLimitProblem(words) {
  ui.limitProblem.textContent = words;
  if (words) ui.limitNumber.setAttribute("aria-invalid", "true");
  else ui.limitNumber.removeAttribute("aria-invalid");
}

// A limit that the slot does not have is a limit of one's own.
function leaveSlot() {
  const slot = state.slots[ui.preset.value];
  if (slot && (slot.unit !== unit() || slot.limit !== state.limit)) ui.preset.value = "";
}

function onLimitNumber() {
  const box = ui.limitNumber;
  if (box.value === "" || !box.checkValidity()) {
    const rule = limitRule(Number(box.min), Number(box.max));
    sayLimitProblem(`${rule}; ${state.limit} stays the limit.`);
    return;
  }
  if (Number(box.value) === state.limit) {
    sayLimitProblem("");
    return;
  }
  setLimit(Number(box.value));
  leaveSlot();
  update();
}

function choosePreset() {
  const slot = state.slots[ui.preset.value];
  if (slot) {
    ensureUnit(slot.unit);
    ui.unit.value = slot.unit;
    setLimit(slot.limit);
  }
  update({ now: true });
}

function ensureUnit(name) {
  if ([...ui.unit.options].some((option) => option.value === name)) return;
  ui.unit.append(new Option(unitName(name), name));
}

function onText(event) {
  const text = ui.source.value;
  const words = text.trim() ? text.trim().split(/\s+/u).length : 0;
  ui.sourceSize.textContent = text ? `${words.toLocaleString("en")} ${words === 1 ? "word" : "words"}` : "";
  state.answers.clear();
  state.cut = false;
  sideBySide.age();
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

async function copy(text, button, place) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch { // a page without TLS may not write to the clipboard
    getSelection().selectAllChildren(place);
    button.textContent = "Selected";
  }
  ui.live.textContent = button.textContent === "Copied" ? "Copied." : "Selected; copy it with the keyboard.";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function listen() {
  ui.source.addEventListener("input", onText);
  ui.limit.addEventListener("input", () => { setLimit(Number(ui.limit.value)); leaveSlot(); update(); });
  ui.limitNumber.addEventListener("input", onLimitNumber);
  ui.limitNumber.addEventListener("blur", () => setLimit(state.limit));
  ui.unit.addEventListener("change", () => {
    setLimit(startOf(unit()));
    leaveSlot();
    update({ now: true });
  });
  ui.preset.addEventListener("change", choosePreset);
  for (const choice of [ui.capitals, ui.style]) {
    choice.addEventListener("change", () => { sideBySide.age(); update({ now: true }); });
  }
  ui.copy.addEventListener("click", () => copy(state.shown.summary.text, ui.copy, ui.summary));
  ui.retry.addEventListener("click", () => (state.isReady ? update({ now: true }) : begin()));
  ui.firstWords.addEventListener("click", () => {
    state.cut = true;
    sideBySide.age();
    update({ now: true });
    ui.summaryCard.focus();
  });
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
    button.addEventListener("click", () => {
      ui.source.value = text;
      onText({ inputType: "insertFromPaste" });
      ui.summary.scrollIntoView({ block: "nearest" }); // a small screen ends above it
    });
    return button;
  }));
}

function option(name) {
  const { limit, unit: own } = state.slots[name];
  return new Option(`${slotTitle(name)} (${limit.toLocaleString("en")} ${unitName(own, limit)})`, name);
}

async function loadModel() {
  const model = await askAndWait("v1/model");
  state.slots = model.presets;
  useUnits(model.unit_display);
  ui.unit.replaceChildren(...Object.keys(model.units).map((name) => new Option(unitName(name), name)));
  ui.unit.value = "chars";
  ui.style.replaceChildren(ui.style.options[0],
    ...(model.styles ?? []).map((name) => new Option(slotTitle(name), name)));
  ui.style.parentElement.hidden = !model.styles?.length;
  ui.preset.replaceChildren(ui.preset.options[0], ...slotGroups(Object.keys(model.presets)).map(([group, names]) => {
    const part = document.createElement("optgroup");
    part.label = group;
    part.append(...names.map(option));
    return part;
  }));
  ui.limitNumber.max = Math.max(LEAST_MAXIMUM, ...Object.values(model.presets).map((slot) => slot.limit));
  ui.modelName.textContent = `Model: ${model.name}, sumfit ${model.version}.`;
  sideBySide.offer(model.presets);
  setLimit(startOf(unit()));
  state.isReady = true;
}

async function begin() {
  startClock();
  try {
    await loadModel();
    if (ui.source.value.trim()) onText();
    else showEmpty("Your summary appears here.");
  } catch (error) {
    if (!(error instanceof ServerProblem)) throw error;
    showProblem(error);
  }
}

$("loading").remove();
setTheme(localStorage.getItem("sumfit-theme") ?? "auto");
listen();
begin();

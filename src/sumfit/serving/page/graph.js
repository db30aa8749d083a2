// The graph as a drawing: dots in a row, links as arcs above, words slanted below.
import { percent } from "./wording.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 26;
const MARGIN = 28;
const LABEL_HEIGHT = 92;
const LEAST_REACH = 0.04; // dots that hardly any way passes are left out

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const shown = (word) => word.trim() || "␣";

function nameOf(vertex, last) {
  if (vertex.index === 0) return "start";
  if (vertex.index === last) return "end";
  return vertex.chosen ? shown(vertex.chosen) : shown(vertex.words[0]?.text ?? "");
}

function short(text) {
  const letters = [...text];
  return letters.length > 13 ? `${letters.slice(0, 12).join("")}…` : text;
}

export class GraphView {
  constructor({ svg, scroll, details, table, size }) {
    Object.assign(this, { svg, scroll, details, table, size });
    this.graph = null;
    svg.addEventListener("keydown", (event) => this.onKey(event));
  }

  clear() {
    this.graph = null;
    this.svg.replaceChildren();
    this.svg.setAttribute("height", "0");
    this.details.replaceChildren();
    this.table.replaceChildren();
    this.size.textContent = "";
  }

  show(graph) {
    this.graph = graph;
    this.last = graph.vertices.length - 1;
    const onPath = new Set([0, ...graph.path, this.last]);
    this.kept = graph.vertices.filter((vertex) => onPath.has(vertex.index) || vertex.reach >= LEAST_REACH);
    this.place = new Map(this.kept.map((vertex, at) => [vertex.index, at]));
    const links = graph.links.filter((link) => this.place.has(link.source) && this.place.has(link.target));
    const span = (link) => this.place.get(link.target) - this.place.get(link.source);
    const gaps = Math.max(this.kept.length - 1, 1);
    const spread = Math.max(STEP, (this.scroll.clientWidth - 2 * MARGIN - 60) / gaps);
    this.x = (index) => MARGIN + this.place.get(index) * spread;
    const longest = Math.max(1, ...links.map(span));
    const rise = (link) => 14 + 170 * (span(link) / longest) ** 0.6;
    this.base = (14 + 170) * 0.75 + 16;
    const width = this.x(this.last) + MARGIN + 60;
    const height = this.base + LABEL_HEIGHT;
    this.svg.replaceChildren();
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const ordered = [...links].sort((a, b) => a.chosen - b.chosen);
    for (const link of ordered) this.svg.append(this.arc(link, rise(link)));
    this.groups = this.kept.map((vertex) => this.dot(vertex, onPath.has(vertex.index)));
    this.svg.append(...this.groups);
    this.size.textContent = `the ${this.kept.length} likeliest of ${graph.vertices.length} dots`;
    this.fillTable(graph);
    this.select(this.place.get(graph.path[0] ?? 0), false);
  }

  arc(link, rise) {
    const [from, to] = [this.x(link.source), this.x(link.target)];
    const top = this.base - rise;
    const path = make("path", {
      d: `M ${from} ${this.base} C ${from} ${top}, ${to} ${top}, ${to} ${this.base}`,
      class: link.chosen ? "link chosen" : "link",
    });
    if (!link.chosen) {
      path.setAttribute("stroke-width", (0.6 + 2 * link.prob).toFixed(2));
      path.setAttribute("opacity", (0.12 + 0.6 * Math.sqrt(link.prob)).toFixed(2));
    }
    return path;
  }

  dot(vertex, isChosen) {
    const [x, y] = [this.x(vertex.index), this.base];
    const name = nameOf(vertex, this.last);
    const group = make("g", {
      class: isChosen ? "vertex-group chosen" : "vertex-group",
      tabindex: "-1",
      role: "button",
      "aria-label": `Dot ${vertex.index}: ${name}${isChosen ? ", on the path" : ""}`,
    });
    group.append(make("rect", { x: x - 12, y: y - 14, width: 24, height: 40, fill: "transparent" }));
    group.append(make("circle", { cx: x, cy: y, r: isChosen ? 6.5 : (2.5 + 3 * Math.sqrt(vertex.reach)).toFixed(1), class: "dot" }));
    const label = make("text", { x: x + 2, y: y + 20, transform: `rotate(42 ${x} ${y + 14})` });
    label.textContent = short(name);
    group.append(label);
    group.addEventListener("click", () => this.select(this.place.get(vertex.index), true));
    group.addEventListener("focus", () => this.select(this.place.get(vertex.index), false));
    return group;
  }

  select(at, moveFocus) {
    this.groups.forEach((group, other) => {
      group.setAttribute("tabindex", other === at ? "0" : "-1");
      group.classList.toggle("active", other === at);
      group.setAttribute("aria-pressed", String(other === at));
    });
    this.selected = at;
    if (moveFocus) this.groups[at].focus();
    this.describe(this.kept[at]);
  }

  describe(vertex) {
    const { last } = this;
    const head = document.createElement("strong");
    head.textContent = `Dot ${vertex.index}: `;
    const words = vertex.words.map((word) => `“${shown(word.text)}” ${percent(word.prob)}`).join(", ");
    const text = vertex.index === 0 ? "the start." : vertex.index === last ? "the end." : `may say ${words}.`;
    const next = this.graph.links.filter((link) => link.source === vertex.index)
      .sort((a, b) => b.prob - a.prob).slice(0, 4)
      .map((link) => `${link.target} (${nameOf(this.graph.vertices[link.target], last)}) ${percent(link.prob)}`);
    this.details.replaceChildren(head, `${text}${next.length ? ` Leads to ${next.join(", ")}.` : ""}`);
  }

  fillTable(graph) {
    const linkTo = new Map(graph.links.filter((link) => link.chosen).map((link) => [link.target, link.prob]));
    this.table.replaceChildren(...graph.path.map((index) => {
      const vertex = graph.vertices[index];
      const row = document.createElement("tr");
      const cells = [index, shown(vertex.chosen ?? ""), vertex.chosen_prob === null ? "–" : percent(vertex.chosen_prob),
        linkTo.has(index) ? percent(linkTo.get(index)) : "–"];
      row.append(...cells.map((content) => {
        const cell = document.createElement("td");
        cell.textContent = content;
        return cell;
      }));
      return row;
    }));
  }

  onKey(event) {
    if (!this.graph) return;
    const end = this.kept.length - 1;
    const moves = { ArrowRight: this.selected + 1, ArrowLeft: this.selected - 1, Home: 0, End: end };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const at = Math.min(end, Math.max(0, moves[event.key]));
    this.select(at, true);
    this.groups[at].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

// The graph as a drawing: dots in a row, links as arcs above, words slanted below.
import { percent } from "./wording.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 26;
const MARGIN = 28;
const LABEL_HEIGHT = 92;

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
    const last = graph.vertices.length - 1;
    const onPath = new Set([0, ...graph.path, last]);
    const spread = Math.max(STEP, (this.scroll.clientWidth - 2 * MARGIN - 40) / Math.max(last, 1));
    this.x = (index) => MARGIN + index * spread;
    const longest = Math.max(1, ...graph.links.map((link) => link.target - link.source));
    const rise = (span) => 14 + 170 * (span / longest) ** 0.6;
    this.base = rise(longest) * 0.75 + 16;
    const width = this.x(last) + MARGIN + 60;
    const height = this.base + LABEL_HEIGHT;
    this.svg.replaceChildren();
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const ordered = [...graph.links].sort((a, b) => a.chosen - b.chosen);
    for (const link of ordered) this.svg.append(this.arc(link, rise(link.target - link.source)));
    this.groups = graph.vertices.map((vertex) => this.dot(vertex, onPath.has(vertex.index), last));
    this.svg.append(...this.groups);
    const nLinks = graph.links.length;
    this.size.textContent = `${graph.vertices.length} dots, ${nLinks} likeliest links`;
    this.fillTable(graph);
    this.select(graph.path[0] ?? 0, false);
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

  dot(vertex, isChosen, last) {
    const [x, y] = [this.x(vertex.index), this.base];
    const name = nameOf(vertex, last);
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
    group.addEventListener("click", () => this.select(vertex.index, true));
    group.addEventListener("focus", () => this.select(vertex.index, false));
    return group;
  }

  select(index, moveFocus) {
    this.groups.forEach((group, at) => {
      group.setAttribute("tabindex", at === index ? "0" : "-1");
      group.classList.toggle("active", at === index);
      group.setAttribute("aria-pressed", String(at === index));
    });
    this.selected = index;
    if (moveFocus) this.groups[index].focus();
    this.describe(this.graph.vertices[index]);
  }

  describe(vertex) {
    const last = this.graph.vertices.length - 1;
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
    const last = this.graph.vertices.length - 1;
    const moves = { ArrowRight: this.selected + 1, ArrowLeft: this.selected - 1, Home: 0, End: last };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const index = Math.min(last, Math.max(0, moves[event.key]));
    this.select(index, true);
    this.groups[index].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

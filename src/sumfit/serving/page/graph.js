// The graph as a drawing: dots in a row, links as arcs above, words slanted below; on a narrow screen in a column.
import { percent } from "./wording.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 26;
const MARGIN = 28;
const RISE = 170; // of the longest line's control points
const LABEL_HEIGHT = 92;
const NARROW = 620; // pixels; below, the dots stand under each other with their words beside them
const LEAST_REACH = 0.04; // dots that hardly any way passes are left out

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// A piece that goes on with the word before it has a plus sign; marks that stand alone have none.
function shown(piece, isFirst = false) {
  if (!piece.trim()) return "␣";
  return !isFirst && /^[\p{L}\p{N}]/u.test(piece) ? `+${piece}` : piece.trim();
}

function short(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

export class GraphView {
  constructor({ svg, scroll, hint, details, table, size }) {
    Object.assign(this, { svg, scroll, hint, details, table, size });
    this.graph = null;
    svg.addEventListener("keydown", (event) => this.onKey(event));
    // In a frame of its own: drawing changes sizes, which an observer must not do at once.
    new ResizeObserver(() => requestAnimationFrame(() => this.onResize())).observe(scroll);
  }

  clear() {
    this.graph = null;
    this.svg.replaceChildren();
    this.details.replaceChildren();
    this.table.replaceChildren();
    this.size.textContent = "";
  }

  show(graph) {
    this.graph = graph;
    this.last = graph.vertices.length - 1;
    this.onPath = new Set([0, ...graph.path, this.last]);
    this.kept = graph.vertices.filter((vertex) => this.onPath.has(vertex.index) || vertex.reach >= LEAST_REACH);
    this.place = new Map(this.kept.map((vertex, at) => [vertex.index, at]));
    this.size.textContent = `the ${this.kept.length} likeliest of ${graph.vertices.length} dots`;
    this.svg.setAttribute("aria-label", `Graph of words: ${this.kept.length} dots from start to end`);
    this.fillTable(graph);
    this.selected = this.place.get(graph.path[0] ?? 0);
    this.draw();
  }

  onResize() {
    const width = this.scroll.clientWidth; // 0 while the drawing is hidden
    if (this.graph && width && width !== this.drawnWidth) this.draw();
  }

  draw() {
    const { place, kept } = this;
    const links = this.graph.links.filter((link) => place.has(link.source) && place.has(link.target));
    const span = (link) => place.get(link.target) - place.get(link.source);
    const longest = Math.max(1, ...links.map(span));
    this.drawnWidth = this.scroll.clientWidth;
    this.isNarrow = this.drawnWidth < NARROW;
    const gaps = Math.max(kept.length - 1, 1);
    const room = (this.drawnWidth - 2 * MARGIN - 60) / gaps;
    this.spread = this.isNarrow ? STEP : Math.max(STEP, room);
    this.rise = (link) => (this.isNarrow ? 10 : 14) + (this.isNarrow ? 0.75 : 1) * RISE * (span(link) / longest) ** 0.6;
    this.base = (this.isNarrow ? 10 + 0.75 * RISE : 14 + RISE) * 0.75 + 16;
    const length = 2 * MARGIN + gaps * this.spread;
    const [width, height] = this.isNarrow ? [this.drawnWidth, length] : [length + 60, this.base + LABEL_HEIGHT];
    this.svg.replaceChildren();
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const ordered = [...links].sort((a, b) => a.chosen - b.chosen);
    for (const link of ordered) this.svg.append(this.arc(link));
    this.groups = kept.map((vertex) => this.dot(vertex, this.onPath.has(vertex.index)));
    this.svg.append(...this.groups);
    this.hint.hidden = this.scroll.scrollWidth <= this.scroll.clientWidth + 1
      && this.scroll.scrollHeight <= this.scroll.clientHeight + 1;
    this.select(this.selected, false);
  }

  // Where a dot stands, and a point beside it, away from the words.
  point(index, rise = 0) {
    const along = MARGIN + this.place.get(index) * this.spread;
    return this.isNarrow ? [this.base - rise, along] : [along, this.base - rise];
  }

  nameOf(vertex) {
    if (vertex.index === 0) return "start";
    if (vertex.index === this.last) return "end";
    if (vertex.chosen) return shown(vertex.chosen, vertex.index === this.graph.path[0]);
    return shown(vertex.words[0]?.text ?? "");
  }

  arc(link) {
    const rise = this.rise(link);
    const points = [this.point(link.source), this.point(link.source, rise), this.point(link.target, rise),
      this.point(link.target)].map((xy) => xy.map((value) => value.toFixed(1)).join(" "));
    const path = make("path", {
      d: `M ${points[0]} C ${points[1]}, ${points[2]}, ${points[3]}`,
      class: link.chosen ? "link chosen" : "link",
      "aria-hidden": "true",
    });
    if (!link.chosen) {
      path.setAttribute("stroke-width", (0.6 + 2 * link.prob).toFixed(2));
      path.setAttribute("opacity", (0.12 + 0.6 * Math.sqrt(link.prob)).toFixed(2));
    }
    return path;
  }

  dot(vertex, isChosen) {
    const [x, y] = this.point(vertex.index);
    const name = this.nameOf(vertex);
    const group = make("g", {
      class: isChosen ? "vertex-group chosen" : "vertex-group",
      tabindex: "-1",
      role: "button",
      "aria-label": `Dot ${vertex.index}: ${name}${isChosen ? ", on the path" : ""}`,
    });
    const target = this.isNarrow ? { x: x - 12, y: y - 13, width: this.drawnWidth - x, height: 26 }
      : { x: x - 12, y: y - 14, width: 24, height: 40 };
    group.append(make("rect", { ...target, fill: "transparent" }));
    group.append(make("circle", { cx: x, cy: y, r: isChosen ? 6.5 : (2.5 + 3 * Math.sqrt(vertex.reach)).toFixed(1), class: "dot" }));
    const label = make("text", this.isNarrow ? { x: x + 16, y: y + 5 }
      : { x: x + 2, y: y + 20, transform: `rotate(42 ${x} ${y + 14})` });
    label.textContent = short(name, this.isNarrow ? 24 : 13);
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
    const isFirst = vertex.index === this.graph.path[0];
    const words = vertex.words.map((word) => `“${shown(word.text, isFirst)}” ${percent(word.prob)}`).join(", ");
    const text = vertex.index === 0 ? "the start." : vertex.index === last ? "the end." : `may say ${words}.`;
    const next = this.graph.links.filter((link) => link.source === vertex.index)
      .sort((a, b) => b.prob - a.prob).slice(0, 4)
      .map((link) => `${link.target} (${this.nameOf(this.graph.vertices[link.target])}) ${percent(link.prob)}`);
    this.details.replaceChildren(head, `${text}${next.length ? ` Leads to ${next.join(", ")}.` : ""}`);
  }

  fillTable(graph) {
    const linkTo = new Map(graph.links.filter((link) => link.chosen).map((link) => [link.target, link.prob]));
    this.table.replaceChildren(...graph.path.map((index) => {
      const vertex = graph.vertices[index];
      const row = document.createElement("tr");
      const cells = [index, shown(vertex.chosen ?? "", index === graph.path[0]), vertex.chosen_prob === null ? "–" : percent(vertex.chosen_prob),
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
    const [next, before] = [this.selected + 1, this.selected - 1];
    const moves = { ArrowRight: next, ArrowDown: next, ArrowLeft: before, ArrowUp: before, Home: 0, End: end };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const at = Math.min(end, Math.max(0, moves[event.key]));
    this.select(at, true);
    this.groups[at].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

// Curves of recipes, drawn from the data that the page carries.

const {tasks, first} = JSON.parse(document.getElementById("data").textContent);
const choice = document.getElementById("task");
const colors = 7; // c0 to c6 of the style sheet
const margin = {left: 52, right: 12, top: 10, bottom: 36};

// colored has the color, a number, of each recipe that has one: it stays the same from task to task.
const colored = new Map();

// names are the recipes of a task, in the order of its charts.
const names = task => [...new Set(task.flatMap(chart => chart.curves.map(c => c.name)))];

// toggle gives a recipe the first free color, or takes its color away. If none is free, the one longest in color gives
// its own up.
function toggle(name) {
  if (colored.delete(name)) return;
  if (colored.size === colors) colored.delete(colored.keys().next().value);
  const used = new Set(colored.values());
  colored.set(name, [...Array(colors).keys()].find(c => !used.has(c)));
}

// scale maps values from low to high to pixels from start to end, by their logarithms where they are of very different
// size, and has marks about so many pixels apart.
function scale(low, high, start, end, apart) {
  const log = low > 0 && high / low > 20;
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const f = log ? Math.log : x => x, a = f(low), b = f(high), marks = [];
  const at = x => start + (f(x) - a) / (b - a) * (end - start);
  if (log) {
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
      for (const m of [1, 2, 5]) if (m * power >= low && m * power <= high) marks.push(Number((m * power).toPrecision(1)));
  } else {
    const gap = niceSpacing((high - low) / Math.max(Math.abs(end - start), 1) * apart);
    for (let i = Math.ceil(low / gap - 1e-9); i * gap <= high + gap * 1e-9; i++) marks.push(Number((i * gap).toPrecision(12)));
  }
  return {at, marks: spread(marks, at, apart / 2)};
}

// spread leaves out marks that would stand less than so many pixels behind the last one.
function spread(marks, at, apart) {
  let last = -Infinity;
  return marks.filter(m => {
    if (Math.abs(at(m) - last) < apart) return false;
    last = at(m);
    return true;
  });
}

// words are what a point of a curve says.
function words(curve, i, unit) {
  const spread = curve.low[i] < curve.high[i] ? ` (${number(curve.low[i])} to ${number(curve.high[i])})` : "";
  return `${curve.name}, update ${curve.x[i].toLocaleString("en")}: ${number(curve.mean[i])}${spread}${unit && " " + unit}`;
}

// Figure is one chart: its drawing and the line below it.
class Figure {
  constructor(chart) {
    this.chart = chart;
    this.curve = this.point = -1; // pointed at
    this.svg = shape("svg", {role: "img", tabindex: "0", "aria-label": `Curves: ${chart.title}. Arrow keys walk along them.`});
    this.said = element("p");
    this.said.setAttribute("aria-live", "polite");
    this.root = element("figure", {}, element("figcaption", {textContent: `${chart.title}, ${chart.unit}`}), this.svg, this.said);
    this.svg.addEventListener("pointermove", e => this.near(e));
    this.svg.addEventListener("pointerleave", () => this.show(-1, -1));
    this.svg.addEventListener("blur", () => this.show(-1, -1));
    this.svg.addEventListener("keydown", e => this.key(e));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  // draw draws all curves, those in color on top.
  draw() {
    const {svg, chart: {curves}} = this, width = svg.clientWidth, height = svg.clientHeight;
    if (width === 0) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const all = key => curves.flatMap(c => c[key]);
    const right = width - margin.right, bottom = height - margin.bottom;
    this.x = scale(0, Math.max(...all("x")), margin.left, right, 80);
    this.y = scale(Math.min(...all("low")), Math.max(...all("high")), bottom, margin.top, 40);
    const parts = [];
    const label = (x, y, anchor, text) => {
      const e = shape("text", {x, y, "text-anchor": anchor});
      e.textContent = text;
      parts.push(e);
    };
    const line = (x1, y1, x2, y2, kind) => parts.push(shape("line", {x1, y1, x2, y2, class: kind}));
    for (const m of this.y.marks) {
      const y = this.y.at(m);
      line(margin.left, y, right, y, "grid");
      label(margin.left - 6, y + 4, "end", number(m));
    }
    for (const m of this.x.marks) {
      line(this.x.at(m), bottom, this.x.at(m), bottom + 4, "axis");
      label(Math.min(this.x.at(m), right - 10), bottom + 17, "middle", number(m));
    }
    label((margin.left + right) / 2, height - 4, "middle", "update");
    line(margin.left, bottom, right, bottom, "axis");
    const order = [...curves.keys()].sort((a, b) => colored.has(curves[a].name) - colored.has(curves[b].name));
    this.paths = [];
    for (const i of order) {
      const c = curves[i], color = colored.get(c.name), points = key => c.x.map((x, k) => `${this.x.at(x)},${this.y.at(c[key][k])}`);
      if (color !== undefined) {
        parts.push(shape("polygon", {class: "band", fill: `var(--c${color})`, points: [...points("low"), ...points("high").reverse()].join(" ")}));
      }
      this.paths[i] = shape("polyline", {class: color === undefined ? "curve" : "curve colored", points: points("mean").join(" ")});
      this.paths[i].dataset.name = c.name;
      if (color !== undefined) this.paths[i].style.stroke = `var(--c${color})`;
      parts.push(this.paths[i]);
    }
    this.mark = shape("circle", {r: 4.5, visibility: "hidden"});
    svg.replaceChildren(...parts, this.mark);
    this.show(this.curve, this.point);
  }

  // near shows the point next to the pointer: of each curve the one nearest across, and of these the nearest. Curves in
  // color are easier to meet.
  near(e) {
    if (!this.x) return;
    const box = this.svg.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
    let best = [-1, -1], least = Infinity;
    this.chart.curves.forEach((c, i) => {
      let k = 0;
      c.x.forEach((x, j) => { if (Math.abs(this.x.at(x) - px) < Math.abs(this.x.at(c.x[k]) - px)) k = j; });
      const away = Math.hypot(this.x.at(c.x[k]) - px, this.y.at(c.mean[k]) - py) + (colored.has(c.name) ? 0 : 6);
      if (away < least) [best, least] = [[i, k], away];
    });
    this.show(...best);
  }

  key(e) {
    const {curves} = this.chart, from = this.curve < 0 ? [0, -1] : [this.curve, this.point];
    if (e.key === "Escape") return this.show(-1, -1);
    const last = i => curves[i].x.length - 1;
    const to = {
      ArrowLeft: [from[0], Math.max(from[1] - 1, 0)], ArrowRight: [from[0], from[1] + 1],
      Home: [from[0], 0], End: [from[0], Infinity],
      ArrowUp: [(from[0] + curves.length - 1) % curves.length, Math.max(from[1], 0)], ArrowDown: [(from[0] + 1) % curves.length, Math.max(from[1], 0)],
    }[e.key];
    if (!to) return;
    e.preventDefault();
    this.show(to[0], Math.min(to[1], last(to[0])));
  }

  // show says what a point of a curve is, or with -1 nothing.
  show(curve, point) {
    [this.curve, this.point] = [curve, point];
    this.paths.forEach((p, i) => p.classList.toggle("pointed", i === curve));
    const c = this.chart.curves[curve];
    this.said.textContent = c ? words(c, point, this.chart.unit) : "";
    this.mark.setAttribute("visibility", c ? "visible" : "hidden");
    if (!c) return;
    this.mark.setAttribute("cx", this.x.at(c.x[point]));
    this.mark.setAttribute("cy", this.y.at(c.mean[point]));
  }

  paths = [];
  mark = shape("circle", {});
}

let figures = [];

// legend has a button for each recipe of the task.
function legend(task) {
  document.getElementById("legend").replaceChildren(...names(task).map(name => {
    const swatch = element("span", {className: "swatch"});
    if (colored.has(name)) swatch.style.background = `var(--c${colored.get(name)})`;
    const button = element("button", {type: "button", ariaPressed: String(colored.has(name))}, swatch, name);
    button.addEventListener("click", () => {
      toggle(name);
      legend(task);
      [...document.querySelectorAll("#legend button")].find(b => b.textContent === name).focus();
      for (const f of figures) f.draw();
    });
    return button;
  }));
}

function show() {
  const task = tasks[choice.selectedIndex];
  legend(task);
  figures = task.map(chart => new Figure(chart));
  document.getElementById("charts").replaceChildren(...figures.map(f => f.root));
}

if (tasks.length > 0) {
  document.getElementById("picture").hidden = false;
  for (const name of new Set(first)) if (colored.size < colors) toggle(name);
  choice.addEventListener("change", show);
  show();
}

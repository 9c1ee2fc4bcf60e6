// Curves of all runs, one picture for each figure.

// kinds are the pictures. A line is of training or of a validation, and its figure; those that say alone are drawn
// where there is one run, in a color of their own. With several runs each has its color, and what isn't the first line
// is dashed.
const kinds = [
  {id: "loss", title: "Loss", unit: "nats", log: true, lines: [
    {of: "training", figure: "loss", name: "training"}, {of: "validation", figure: "loss", name: "validation"},
    {of: "training", figure: "ctc", name: "CTC", alone: true}, {of: "training", figure: "ce", name: "cross-entropy", alone: true}]},
  {id: "errors", title: "Errors on the validation set", unit: "%", times: 100, lines: [
    {of: "validation", figure: "wer", name: "WER"}, {of: "validation", figure: "cer", name: "CER"}]},
  {id: "rate", title: "Learning rate", unit: "", lines: [{of: "training", figure: "learning_rate", name: "learning rate"}]},
  {id: "norm", title: "Norm of the gradient", unit: "", log: true, lines: [{of: "training", figure: "grad_norm", name: "norm"}]},
  {id: "speed", title: "Speed", unit: "s of sound a second", lines: [{of: "training", figure: "real_time", name: "speed"}]},
  {id: "throughput", title: "Utterances a second", unit: "", lines: [{of: "training", figure: "utterances_per_second", name: "utterances"}]},
  {id: "wait", title: "Waiting for data", unit: "% of the time", times: 100, lines: [{of: "training", figure: "wait_share", name: "waiting"}]},
  {id: "held", title: "Memory", unit: "MB", times: 1e-6, lines: [
    {of: "training", figure: "memory", name: "allocated"}, {of: "training", figure: "memory_peak", name: "at the peak", alone: true}]},
];

const colors = 7; // c0 to c6 of the style sheet
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colorOf = n => `--c${n % colors}`;

const plotHeight = 220;
const axisStyle = () => ({
  stroke: css("--quiet"), grid: {stroke: css("--free"), width: 1}, ticks: {stroke: css("--line"), width: 1, size: 5}, font: "12px system-ui, sans-serif",
});

// view is what is shown of the runs.
const view = {axis: "update", log: true, from: null, to: null, hidden: new Set()};

// Picture is one figure of all runs.
class Picture {
  constructor(kind) {
    this.kind = kind;
    this.plot = null;
    this.key = "";
    this.list = element("ul", {className: "lines"});
    this.box = element("div", {className: "plot", tabIndex: 0});
    this.box.setAttribute("role", "img");
    this.said = element("p", {className: "said"});
    this.said.setAttribute("aria-live", "polite");
    this.root = element("figure", {id: "chart-" + kind.id},
      element("figcaption", {textContent: kind.title + (kind.unit && ", " + kind.unit)}), this.list, this.box, this.said);
    this.box.addEventListener("keydown", e => this.walk(e));
    this.box.addEventListener("blur", () => this.plot?.setCursor({left: -10, top: -10}));
    new ResizeObserver(() => this.fit()).observe(this.box);
  }

  // linesOf are the lines that there are, with their points.
  linesOf(runs) {
    const lines = [];
    runs.forEach((run, r) => {
      if (view.hidden.has(r)) return;
      this.kind.lines.forEach((line, l) => {
        const points = run[line.of], values = points[line.figure];
        if (!values || runs.length > 1 && line.alone) return;
        // The parts of a loss without a decoder are the loss itself.
        if (line.figure === "ctc" && !run.training.ce?.mean.some(v => v > 0) || line.figure === "ce" && !values.mean.some(v => v > 0)) return;
        lines.push({
          name: runs.length > 1 ? `${run.name} ${line.name}` : line.name, color: colorOf(runs.length > 1 ? r : l), dashed: runs.length > 1 && l > 0,
          dots: line.of === "validation", x: points[view.axis], mean: this.take(values.mean), low: values.low && this.take(values.low), high: values.high && this.take(values.high),
        });
      });
    });
    return lines;
  }

  // take writes values in the picture's unit; those that have no logarithm are left out.
  take(values) {
    const times = this.kind.times ?? 1, log = this.kind.log && view.log;
    return values.map(v => v === null || log && !(v > 0) ? null : v * times);
  }

  // draw draws the lines of the runs, in a new plot where these are others than before.
  draw(runs) {
    this.lines = this.linesOf(runs);
    this.root.hidden = this.lines.length === 0;
    if (this.root.hidden) return;
    const tables = this.lines.map(l => [l.x, l.mean, ...(l.low ? [l.low, l.high] : [])]);
    const data = uPlot.join(tables);
    const key = JSON.stringify([view.axis, view.log, this.lines.map(l => [l.name, l.color, !!l.low])]);
    this.box.setAttribute("aria-label", `${this.kind.title}: ${this.lines.map(l => `${l.name} ${this.value(l.mean.findLast(v => v !== null))}`).join(", ")}`);
    if (this.plot && key === this.key) {
      this.plot.setData(data, false);
      this.zoom();
      return;
    }
    this.key = key;
    this.plot?.destroy();
    this.list.replaceChildren(...(this.lines.length > 1 ? this.lines.map(l => {
      const swatch = element("span", {className: l.dashed ? "swatch dashed" : "swatch"});
      l.dashed ? swatch.style.setProperty("--line-color", `var(${l.color})`) : swatch.style.background = `var(${l.color})`;
      return element("li", {}, swatch, l.name);
    }) : []));
    this.plot = new uPlot(this.options(), data, this.box);
    this.zoom();
  }

  options() {
    const series = [{}], bands = [], log = this.kind.log && view.log;
    for (const l of this.lines) {
      const stroke = css(l.color);
      const few = l.mean.length < 60;
      series.push({label: l.name, stroke, width: 1.8, dash: l.dashed ? [6, 4] : undefined, points: {show: l.dots && few || l.mean.length < 2, size: 5, stroke, fill: stroke}});
      if (l.low) {
        const at = series.length;
        series.push({width: 0, points: {show: false}}, {width: 0, points: {show: false}});
        bands.push({series: [at + 1, at], fill: stroke + "28"});
      }
    }
    const axis = axisStyle();
    return {
      width: Math.max(this.box.clientWidth, 50), height: plotHeight, series, bands, legend: {show: false},
      scales: {x: {time: false}, y: log ? {distr: 3, range: logRange} : {range: (u, low, high) => evenRange(low, high)}},
      axes: [{...axis, size: 30, values: (u, marks) => marks.map(number), space: 70},
        {...axis, size: 62, values: (u, marks) => marks.map(m => m === null ? "" : number(m)), ...(log ? {filter: (u, marks) => marks, splits: logMarks} : {})}],
      cursor: {sync: {key: "runs", filters: {pub: type => type === "mousemove" || type === "mouseleave"}}, drag: {x: true, y: false, setScale: false}, points: {size: 7}, bind: {dblclick: () => () => (showPart(null, null), null)}},
      hooks: {setCursor: [u => this.say(u.cursor.idx)], setSelect: [u => this.select(u)]},
    };
  }

  // zoom shows the part that is asked for, or all.
  zoom() {
    const x = this.plot.data[0], first = x[0], last = x[x.length - 1];
    this.plot.batch(() => {
      this.plot.setScale("x", view.from === null ? {min: first, max: last > first ? last : first + 1} : {min: view.from, max: view.to});
    });
  }

  select(u) {
    if (u.select.width < 4) return;
    const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    showPart(from, to);
  }

  value(v) { return v === undefined || v === null ? "not known" : `${number(v)}${this.kind.unit === "%" ? " %" : ""}`; }

  // say says what the lines are at a point.
  say(i) {
    if (i === null || i === undefined) { this.said.textContent = ""; return; }
    const x = this.plot.data[0][i];
    const parts = this.lines.flatMap(l => {
      let k = l.x.findLastIndex(v => v <= x);
      while (k >= 0 && l.mean[k] === null) k--;
      if (k < 0) return [];
      const spread = l.low && l.low[k] < l.high[k] ? ` (${number(l.low[k])} to ${number(l.high[k])})` : "";
      return [`${l.name} ${this.value(l.mean[k])}${spread}`];
    });
    this.said.textContent = `${view.axis === "update" ? "update " + x.toLocaleString("en") : number(x) + " h"}: ${parts.join(", ")}`;
  }

  // walk moves the cursor by key.
  walk(e) {
    const u = this.plot, n = u?.data[0].length ?? 0, at = u?.cursor.idx ?? -1;
    if (!n) return;
    const to = {ArrowRight: Math.min(at + 1, n - 1), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: n - 1}[e.key];
    if (e.key === "Escape") u.setCursor({left: -10, top: -10});
    if (to === undefined) return;
    e.preventDefault();
    u.setCursor({left: u.valToPos(u.data[0][to], "x"), top: u.over.clientHeight / 2});
  }

  fit() {
    if (this.plot && this.box.clientWidth > 0) this.plot.setSize({width: this.box.clientWidth, height: plotHeight});
  }

  // renew has the next draw make a new plot: colors have changed.
  renew() { this.key = ""; }
}

// logRange leaves a little room around values on a logarithmic axis.
function logRange(u, low, high) {
  if (!(low > 0)) return [0.1, 1];
  const room = Math.max((high / low) ** 0.05, 1.05);
  return [low / room, high * room];
}

// logMarks are 1, 2 and 5 times powers of ten, or the powers alone where there are many; on an axis of less than two of
// them, even steps.
function logMarks(u, axis, low, high) {
  const marks = [], most = Math.max(u.height / 25, 3);
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
    for (const m of [1, 2, 5]) if (m * power >= low && m * power <= high) marks.push(Number((m * power).toPrecision(1)));
  if (marks.length < 2) {
    const gap = niceSpacing((high - low) / 4);
    marks.length = 0;
    for (let v = Math.ceil(low / gap) * gap; v <= high; v += gap) marks.push(Number(v.toPrecision(6)));
  }
  const powers = marks.filter(m => Math.abs(Math.log10(m) - Math.round(Math.log10(m))) < 1e-9);
  return marks.length > most && powers.length > 1 ? powers : marks;
}

// evenRange begins at 0 where values are not far from it.
function evenRange(low, high) {
  if (low === null || high === null) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, 2 * low), Math.max(0, 2 * high)];
  const room = 0.05 * (high - low);
  return [low >= 0 && low < 0.5 * high ? 0 : low - room, high + room];
}

const pictures = kinds.map(kind => new Picture(kind));

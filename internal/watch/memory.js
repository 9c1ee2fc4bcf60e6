// Who holds memory: now, if the run is in progress, and over a step of training.

const megabytes = bytes => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(0)} kB`;

// bars is a list of who holds what, the largest first, with bars that are shares of whole.
function bars(title, holders, whole) {
  const rows = holders.filter(h => h.bytes > 0).sort((a, b) => b.bytes - a.bytes).map(h => {
    const bar = element("span", {className: "bar"});
    bar.style.width = `${Math.max(100 * h.bytes / whole, 0.3)}%`;
    return element("div", {className: "holder"}, element("span", {textContent: h.name}), element("span", {textContent: megabytes(h.bytes)}), bar);
  });
  return [element("h3", {textContent: title}), ...rows];
}

function showHolders(now, step) {
  const root = document.getElementById("holders");
  if (!now) {
    root.replaceChildren(...(step ? bars("Planned, beside the step's memory", step.fixed ?? [], Math.max(1, ...(step.fixed ?? []).map(h => h.bytes))) : []));
    return;
  }
  const inUse = now.reserved + now.held, sum = list => list.reduce((s, h) => s + h.bytes, 0);
  const limit = now.limit ? ` of ${megabytes(now.limit)} that it may` : "";
  root.replaceChildren(
    element("p", {textContent: `The run holds ${megabytes(inUse)}${limit}; ${megabytes(now.peak_reserved)} at the peak. The system counts ${megabytes(now.rss)} for its process.`}),
    ...bars("Now", now.holders ?? [], Math.max(sum(now.holders ?? []), 1)),
    ...(now.card ? bars(`On this machine, beside ${now.card.title || now.card.device}`, now.card.host_holders ?? [], Math.max(sum(now.card.host_holders ?? []), 1)) : []));
}

// StepPicture is the memory of a step as areas on top of each other.
class StepPicture {
  constructor(root) {
    this.root = root;
    this.box = element("div", {className: "plot"});
    this.said = element("p", {className: "said"});
    this.list = element("ul", {className: "lines"});
    this.title = element("figcaption");
    this.about = element("p");
    root.replaceChildren(element("figure", {id: "chart-step"}, this.title, this.list, this.box, this.said), this.about);
    new ResizeObserver(() => this.plot && this.box.clientWidth > 0 && this.plot.setSize({width: this.box.clientWidth, height: stepHeight})).observe(this.box);
  }

  draw(step) {
    this.root.hidden = !step || !(step.parts?.length > 0);
    if (this.root.hidden) return;
    this.step = step;
    const parts = step.parts, n = parts[0].held.length, x = [...Array(n).keys()].map(i => i * step.kernels / n);
    // The highest sum is drawn first, and the next one over it.
    const sums = [], below = new Array(n).fill(0);
    for (const p of parts) sums.push(p.held.map((v, i) => (below[i] += v) / 1e6));
    this.sums = below;
    this.title.textContent = `The arena of each of ${step.workers} worker${step.workers === 1 ? "" : "s"} over the largest step, MB`;
    this.about.textContent = `${step.program}: ${step.kernels.toLocaleString("en")} kernel calls, ${megabytes(step.arena)} planned, ${megabytes(Math.max(...below))} at the peak.`;
    this.list.replaceChildren(...parts.map(p => {
      const swatch = element("span", {className: "swatch area"});
      swatch.style.background = `var(--k${p.kind})`;
      return element("li", {}, swatch, p.name);
    }).reverse());
    this.plot?.destroy();
    const axis = axisStyle();
    this.plot = new uPlot({
      width: Math.max(this.box.clientWidth, 50), height: stepHeight, legend: {show: false},
      series: [{}, ...sums.map((_, i) => {
        const color = css(`--k${parts[sums.length - 1 - i].kind}`);
        return {stroke: color, fill: color, width: 0, points: {show: false}, paths: uPlot.paths.stepped({align: 1})};
      })],
      scales: {x: {time: false}, y: {range: (u, low, high) => [0, (high || 1) * 1.05]}},
      axes: [{...axis, size: 30, values: (u, marks) => marks.map(number)}, {...axis, size: 62, values: (u, marks) => marks.map(number)}],
      cursor: {drag: {x: false, y: false}, points: {show: false}},
      hooks: {setCursor: [u => this.say(u.cursor.idx)]},
    }, [x, ...sums.reverse()], this.box);
  }

  say(i) {
    if (i === null || i === undefined) { this.said.textContent = ""; return; }
    const {step} = this, n = step.parts[0].held.length;
    const held = step.parts.filter(p => p.held[i] > 0).sort((a, b) => b.held[i] - a.held[i]).map(p => `${p.name} ${megabytes(p.held[i])}`);
    this.said.textContent = `kernel calls from ${Math.floor(i * step.kernels / n).toLocaleString("en")}: ${megabytes(this.sums[i])}: ${held.join(", ")}`;
  }
}

const stepHeight = 300;
const stepPicture = new StepPicture(document.getElementById("step"));
let stepText = "";

async function showMemory() {
  const got = await ask(`memory?run=${document.getElementById("memory-run").selectedIndex}`);
  if (!got) return;
  const {now, step} = got.value;
  document.getElementById("memory").hidden = !now && !step;
  showHolders(now, step);
  const text = JSON.stringify(step);
  if (text !== stepText) {
    stepText = text;
    stepPicture.draw(step);
  }
}

// Histograms, drawn from the data that the page carries. Of sounds only one plays at a time.

const sets = JSON.parse(document.getElementById("data").textContent);
const choice = document.getElementById("set");
const width = 300, height = 100; // of a drawing, in its own units

// range is what bar i of a chart counts, in words.
function range(chart, i) {
  const from = chart.from + i * chart.step, unit = chart.unit && " " + chart.unit;
  return `${number(from)} to ${number(from + chart.step)}${unit}: ${chart.counts[i].toLocaleString("en")}`;
}

// draw makes a figure of a histogram. What is pointed at, or chosen with the arrow keys, is said below it.
function draw(chart) {
  const counts = chart.counts, most = Math.max(...counts, 1), each = width / Math.max(counts.length, 1);
  const svg = shape("svg", {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", tabindex: "0",
    "aria-label": `Histogram: ${chart.title}. ${chart.facts}`});
  const bars = counts.map((n, i) => {
    const tall = n && Math.max(n / most * (height - 4), 1); // what is there can be seen
    const bar = shape("rect", {x: i * each + each * 0.05, y: height - tall, width: each * 0.9, height: tall});
    svg.append(bar);
    return bar;
  });
  svg.append(shape("line", {x1: 0, y1: height, x2: width, y2: height, "vector-effect": "non-scaling-stroke"}));
  const said = element("p", {textContent: chart.facts});
  said.setAttribute("aria-live", "polite");
  let pointed = -1;
  const point = i => {
    bars[pointed]?.classList.remove("pointed");
    pointed = i;
    bars[i]?.classList.add("pointed");
    said.textContent = i < 0 ? chart.facts : range(chart, i);
  };
  svg.addEventListener("pointermove", e => {
    const box = svg.getBoundingClientRect();
    point(Math.min(Math.max(Math.floor((e.clientX - box.left) / box.width * counts.length), 0), counts.length - 1));
  });
  svg.addEventListener("pointerleave", () => point(-1));
  svg.addEventListener("blur", () => point(-1));
  svg.addEventListener("keydown", e => {
    const to = {ArrowLeft: Math.max(pointed - 1, 0), ArrowRight: Math.min(pointed + 1, counts.length - 1),
      Home: 0, End: counts.length - 1, Escape: -1}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    point(to);
  });
  const left = element("span", {textContent: (chart.below ? `${chart.below} below ` : "") + number(chart.from)});
  const right = element("span", {textContent: `${number(chart.from + chart.step * counts.length)} ${chart.unit}` +
    (chart.above ? `, ${chart.above} above` : "")});
  return element("figure", {}, element("figcaption", {textContent: chart.title}), svg, element("div", {className: "ends"}, left, right), said);
}

function show() {
  document.getElementById("charts").replaceChildren(...sets[choice.selectedIndex].map(draw));
}

if (choice.options.length > 0) {
  document.getElementById("picture").hidden = false;
  choice.addEventListener("change", show);
  show();
}
document.addEventListener("play", e => {
  for (const other of document.querySelectorAll("audio")) if (other !== e.target) other.pause();
}, true);

// The picture: across are steps, upwards bytes of the arena. A step i takes the place from i to i+1.

const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("chart");
const pen = canvas.getContext("2d");

// margin is what axes and labels take around the two plots, in CSS pixels: the curve of bytes in use lies above the
// arena.
const margin = {left: 74, right: 14, top: 20, between: 14, bottom: 36, curve: 64};

// shown is all that the picture depends on: the program, the part of it that is in view (steps, bytes), the step that
// the table is about, a buffer with a frame around it (or -1), and the only kind that keeps its color (or -1).
const shown = {program: data.programs[0], left: 0, right: 1, bottom: 0, top: 1, step: 0, buffer: -1, kind: -1};

const steps = () => shown.program.ops.length;
const text = i => data.texts[i];
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// bytesText and shareText are those of summary.go.
function bytesText(bytes) {
  if (bytes < 1e3) return bytes + " B";
  if (bytes < 1e6) return oneDigit(bytes / 1e2) + " kB";
  if (bytes < 1e9) return oneDigit(bytes / 1e5) + " MB";
  return oneDigit(bytes / 1e8) + " GB";
}
const shareText = (part, whole) => oneDigit(1000 * part / whole) + " %";
const oneDigit = tenths => (Math.round(tenths) / 10).toFixed(1);

// plot is where the arena is drawn on the canvas, in CSS pixels. It is measured for each drawing, not for each point.
let plot = {left: 0, right: 1, top: 0, bottom: 1};

function measure() {
  plot = {
    left: margin.left, right: canvas.clientWidth - margin.right,
    top: margin.top + margin.curve + margin.between, bottom: canvas.clientHeight - margin.bottom,
  };
}

// toX and toY are where a step and a byte lie on the canvas; stepAt and byteAt are their inverses.
const toX = step => plot.left + (step - shown.left) / (shown.right - shown.left) * (plot.right - plot.left);
const toY = byte => plot.bottom - (byte - shown.bottom) / (shown.top - shown.bottom) * (plot.bottom - plot.top);
const stepAt = x => shown.left + (x - plot.left) / (plot.right - plot.left) * (shown.right - shown.left);
const byteAt = y => shown.bottom + (plot.bottom - y) / (plot.bottom - plot.top) * (shown.top - shown.bottom);

const livesAt = (buffer, step) => shown.program.first[buffer] <= step && step <= shown.program.last[buffer];

// bufferAt is the buffer that holds a byte of the arena during a step, or -1.
function bufferAt(step, byte) {
  const {offsets, sizes} = shown.program;
  return offsets.findIndex((offset, i) => offset <= byte && byte < offset + sizes[i] && livesAt(i, step));
}

// color is a variable of the style sheet, which has one set for light and one for dark.
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// frame draws a frame around a buffer, or around none for -1.
function frame(buffer) {
  if (shown.buffer === buffer) return;
  shown.buffer = buffer;
  draw();
}

let waiting = false;

// draw draws the picture before the screen is next painted.
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawNow(); });
}

function drawNow() {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const snap = x => Math.round(x * ratio) / ratio; // to whole pixels of the screen: sharp edges
  measure();
  pen.fillStyle = color("free");
  pen.fillRect(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top);
  inside(plot.left, plot.top, plot.right, plot.bottom, () => drawBuffers(snap, 1 / ratio));
  inside(plot.left, margin.top, plot.right, margin.top + margin.curve, drawCurve);
  drawAxes(snap);
  drawMarks(snap);
}

// inside draws with everything outside a rectangle cut off.
function inside(left, top, right, bottom, drawing) {
  pen.save();
  pen.beginPath();
  pen.rect(left, top, right - left, bottom - top);
  pen.clip();
  drawing();
  pen.restore();
}

// rectangle is where a buffer is drawn, its edges on whole pixels.
function rectangle(i, snap) {
  const {offsets, sizes, first, last} = shown.program;
  return {
    left: snap(toX(Math.max(first[i], 0))), right: snap(toX(Math.min(last[i] + 1, steps()))),
    top: snap(toY(offsets[i] + sizes[i])), bottom: snap(toY(offsets[i])),
  };
}

// drawBuffers draws the large ones first, so that a small one, which is never less than a pixel, stays on top. Where
// there is room, a buffer leaves a gap to its neighbors and has its name on it.
function drawBuffers(snap, pixel) {
  const {offsets, sizes, first, last, kind, names} = shown.program;
  const colors = data.kinds.map((_, k) => color(shown.kind < 0 || shown.kind === k ? "k" + k : "dimmed"));
  const inks = colors.map(inkOn);
  const visible = [...sizes.keys()].filter(i => sizes[i] > 0 && first[i] < shown.right && last[i] + 1 > shown.left &&
    offsets[i] < shown.top && offsets[i] + sizes[i] > shown.bottom);
  visible.sort((a, b) => sizes[b] - sizes[a]);
  for (const i of visible) {
    const {left, right, top, bottom} = rectangle(i, snap);
    const gapX = right - left > 6 ? pixel : 0, gapY = bottom - top > 4 ? pixel : 0;
    const width = Math.max(right - left - gapX, pixel), height = Math.max(bottom - top - gapY, pixel);
    pen.fillStyle = colors[kind[i]];
    pen.fillRect(left, top + gapY, width, height);
    if (height < 14 || width < 60) continue;
    pen.fillStyle = inks[kind[i]];
    drawName(text(names[i]), left, right, top, bottom);
  }
  if (shown.buffer >= 0) {
    const {left, right, top, bottom} = rectangle(shown.buffer, snap);
    pen.strokeStyle = color("ink");
    pen.lineWidth = 2;
    pen.strokeRect(left, top, Math.max(right - left, 2), Math.max(bottom - top, 2));
  }
}

// drawName writes a name on a rectangle, as much of its end as fits, if that is enough to say something.
function drawName(name, left, right, top, bottom) {
  left = Math.max(left, plot.left) + 4;
  const room = Math.min(right, plot.right) - 4 - left;
  const y = (Math.max(top, plot.top) + Math.min(bottom, plot.bottom)) / 2;
  let end = name;
  while (pen.measureText(end).width > room) {
    const part = end.replace("…", "");
    if (part.length < 10) return;
    end = "…" + part.slice(Math.ceil(part.length / 12));
  }
  pen.fillText(end, left, y);
}

// inkOn is black or white, whichever can be read on a color #rrggbb (relative luminance as in WCAG).
function inkOn(fill) {
  const [r, g, b] = [1, 3, 5].map(i => (parseInt(fill.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}

// drawCurve draws the bytes in use in each step, over the whole height of the arena.
function drawCurve() {
  const {live, size} = shown.program, base = margin.top + margin.curve;
  const y = bytes => base - bytes / size * (margin.curve - 2);
  pen.beginPath();
  const from = Math.max(Math.floor(shown.left), 0), to = Math.min(Math.ceil(shown.right), steps());
  pen.moveTo(toX(from), base);
  for (let i = from; i < to; i++) {
    pen.lineTo(toX(i), y(live[i]));
    pen.lineTo(toX(i + 1), y(live[i]));
  }
  pen.lineTo(toX(to), base);
  pen.fillStyle = color("free");
  pen.fill();
  pen.strokeStyle = color("ink");
  pen.lineWidth = 1.5;
  pen.stroke();
}

function drawAxes(snap) {
  pen.strokeStyle = color("line");
  pen.fillStyle = color("quiet");
  pen.lineWidth = 1;
  const half = x => snap(x) + 0.5;

  pen.textAlign = "center";
  const spacing = Math.max(niceSpacing((shown.right - shown.left) / (plot.right - plot.left) * 80), 1);
  for (let s = Math.ceil(shown.left / spacing) * spacing; s <= shown.right; s += spacing) {
    line(half(toX(s)), plot.bottom, half(toX(s)), plot.bottom + 5);
    pen.fillText(s, toX(s), plot.bottom + 14);
  }
  pen.fillText("step", (plot.left + plot.right) / 2, plot.bottom + 28);

  pen.textAlign = "right";
  const gap = niceSpacing((shown.top - shown.bottom) / (plot.bottom - plot.top) * 40);
  const [unit, name] = [[1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]].find(([u]) => u <= shown.top);
  const digits = clamp(Math.ceil(Math.log10(unit / gap) - 1e-9), 0, 9);
  for (let b = Math.ceil(shown.bottom / gap) * gap; b <= shown.top; b += gap) {
    line(plot.left - 5, half(toY(b)), plot.left, half(toY(b)));
    pen.fillText((b / unit).toFixed(digits) + name, plot.left - 8, toY(b));
  }
  line(plot.left, margin.top + margin.curve + 0.5, plot.right, margin.top + margin.curve + 0.5);
  pen.fillText("in use", plot.left - 8, margin.top + margin.curve / 2);
}

function line(x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

// drawMarks draws where the backward pass begins, the peak, and the step that the table is about.
function drawMarks(snap) {
  const {backward, peak, live} = shown.program;
  const hidden = step => step < shown.left || step > shown.right;

  pen.strokeStyle = pen.fillStyle = color("ink");
  pen.lineWidth = 1;
  pen.setLineDash([5, 4]);
  for (let i = 1; i < steps(); i++) {
    if (backward[i] === backward[i - 1] || hidden(i)) continue;
    const x = snap(toX(i)) + 0.5;
    line(x, margin.top, x, plot.bottom);
    pen.textAlign = "right";
    pen.fillText(backward[i] ? "forward" : "backward", toX(i) - 6, 9);
    pen.textAlign = "left";
    pen.fillText(backward[i] ? "backward" : "forward", toX(i) + 6, 9);
  }
  pen.setLineDash([]);
  for (const step of new Set([peak, shown.step])) {
    if (hidden(step + 0.5)) continue;
    const x = toX(step + 0.5), name = `${step === peak ? "peak, " : ""}step ${step}: ${bytesText(live[step])}`;
    pen.fillStyle = color(step === peak ? "peak" : "accent");
    pen.fillRect(snap(x) - snap(1), margin.top, 2 * snap(1), plot.bottom - margin.top);
    const width = pen.measureText(name).width + 8, left = clamp(x + 3, plot.left, plot.right - width);
    pen.fillRect(left, margin.top + 2, width, 16);
    pen.fillStyle = color("page");
    pen.textAlign = "left";
    pen.fillText(name, left + 4, margin.top + 10.5);
  }
}

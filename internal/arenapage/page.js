// What the reader does: pointer, wheel, keys, buttons.

const tooltip = document.getElementById("tooltip");
const leastSteps = 4, leastBytes = 256; // the most that can be zoomed in

// look shows a part of the arena: as much as asked for, moved to where there is something.
function look(left, right, bottom, top) {
  const fit = (low, high, least, most) => {
    const length = clamp(high - low, Math.min(least, most), most);
    const start = clamp((low + high - length) / 2, 0, most - length);
    return [start, start + length];
  };
  [shown.left, shown.right] = fit(left, right, leastSteps, steps());
  [shown.bottom, shown.top] = fit(bottom, top, leastBytes, shown.program.size);
  document.getElementById("range").textContent =
    `In view: steps ${Math.floor(shown.left)} to ${Math.ceil(shown.right) - 1} of ${steps()}, ` +
    `${bytesText(Math.round(shown.bottom))} to ${bytesText(Math.round(shown.top))} of ${bytesText(shown.program.size)}`;
  draw();
}

const lookAtAll = () => look(0, steps(), 0, shown.program.size);

// zoom shows factor times as much of the steps and bytes around a point of the canvas, which stays where it is.
function zoom(x, y, factorX, factorY) {
  const around = (low, high, at, factor, least, most) => {
    const length = clamp((high - low) * factor, Math.min(least, most), most), part = (at - low) / (high - low);
    return [at - part * length, at + (1 - part) * length];
  };
  look(...around(shown.left, shown.right, stepAt(x), factorX, leastSteps, steps()),
    ...around(shown.bottom, shown.top, byteAt(y), factorY, leastBytes, shown.program.size));
}

// zoomMiddle zooms around the step that is shown, if it is in view, and the middle of the bytes.
function zoomMiddle(factor) {
  const x = toX(shown.step + 0.5), inView = plot.left <= x && x <= plot.right;
  zoom(inView ? x : (plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2, factor, factor);
}

// move moves the view by parts of its width and height.
function move(right, up) {
  const width = (shown.right - shown.left) * right, height = (shown.top - shown.bottom) * up;
  look(shown.left + width, shown.right + width, shown.bottom + height, shown.top + height);
}

// pin makes the table and a mark speak of a step.
function pin(step) {
  shown.step = clamp(step, 0, steps() - 1);
  shown.buffer = -1;
  showTable();
  draw();
}

// showProgram starts over with one of the programs.
function showProgram(i) {
  shown.program = data.programs[i];
  tooltip.hidden = true;
  pin(shown.program.peak);
  lookAtAll();
}

// tell shows what is at a step and a byte beside a point of the canvas; without a byte, what the step does.
function tell(step, byte, x, y) {
  const {ops, live, sizes, first, offsets, names} = shown.program;
  const i = byte === undefined ? -1 : bufferAt(step, byte), lines = [];
  frame(i);
  if (i >= 0) {
    lines.push(element("strong", {textContent: text(names[i])}));
    lines.push(`${sizes[i].toLocaleString("en")} bytes (${bytesText(sizes[i])}) at ${offsets[i].toLocaleString("en")}`);
    lines.push(lifeText(i));
    lines.push(first[i] < 0 ? "given before the run" : `made by ${stepText(first[i])}`);
  } else if (byte !== undefined) {
    lines.push(element("strong", {textContent: "free"}));
  }
  lines.push(element("em", {textContent: `step ${step}: ${stepText(step)}, ${bytesText(live[step])} in use`}));
  tooltip.replaceChildren(...lines.map(l => element("div", {}, l)));
  tooltip.hidden = false;
  const width = tooltip.offsetWidth, height = tooltip.offsetHeight;
  tooltip.style.left = clamp(x + 14, 0, Math.max(canvas.clientWidth - width, 0)) + "px";
  tooltip.style.top = (y + 18 + height > canvas.clientHeight ? Math.max(y - height - 10, 0) : y + 18) + "px";
}

function hush() {
  tooltip.hidden = true;
  frame(-1);
}

// point says what lies under the pointer.
function point(event) {
  const x = event.offsetX, y = event.offsetY;
  if (x < plot.left || x >= plot.right || y < margin.top || y > plot.bottom) return hush();
  tell(clamp(Math.floor(stepAt(x)), 0, steps() - 1), y < plot.top ? undefined : byteAt(y), x, y);
}

let drag = null; // where the button went down, and what was in view

canvas.addEventListener("pointerdown", event => {
  if (event.button !== 0) return;
  canvas.setPointerCapture(event.pointerId);
  drag = {x: event.offsetX, y: event.offsetY, moved: false, view: {...shown}};
});
canvas.addEventListener("pointermove", event => {
  if (!drag) return point(event);
  const right = event.offsetX - drag.x, down = event.offsetY - drag.y;
  if (!drag.moved && Math.hypot(right, down) < 4) return;
  drag.moved = true;
  hush();
  canvas.classList.add("dragged");
  const v = drag.view;
  const byX = -right / (plot.right - plot.left) * (v.right - v.left);
  const byY = down / (plot.bottom - plot.top) * (v.top - v.bottom);
  look(v.left + byX, v.right + byX, v.bottom + byY, v.top + byY);
});
canvas.addEventListener("pointerup", event => {
  const x = event.offsetX;
  if (drag && !drag.moved && plot.left <= x && x < plot.right) pin(Math.floor(stepAt(x)));
  endDrag();
});
canvas.addEventListener("pointercancel", endDrag);
canvas.addEventListener("pointerleave", () => { if (!drag) hush(); });
canvas.addEventListener("dblclick", lookAtAll);

function endDrag() {
  drag = null;
  canvas.classList.remove("dragged");
}

canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const unit = [1, 16, 400][event.deltaMode]; // pixels, lines, pages
  const turned = (event.deltaY || event.deltaX) * unit; // Shift turns the wheel sideways in some browsers
  const factor = Math.exp(clamp(turned, -400, 400) / 400);
  zoom(event.offsetX, event.offsetY, event.altKey ? 1 : factor, event.shiftKey ? 1 : factor);
  point(event);
}, {passive: false});

// nextBuffer frames the next buffer above (by 1) or below (by -1) the framed one, of those that live in the shown step.
function nextBuffer(by) {
  const {offsets, sizes} = shown.program;
  const live = [...offsets.keys()].filter(i => livesAt(i, shown.step) && sizes[i] > 0);
  live.sort((a, b) => offsets[a] - offsets[b]);
  if (live.length === 0) return;
  const at = live.indexOf(shown.buffer);
  const i = live[at < 0 ? (by > 0 ? 0 : live.length - 1) : clamp(at + by, 0, live.length - 1)];
  const middle = offsets[i] + sizes[i] / 2;
  show(shown.step + 0.5, middle);
  tell(shown.step, offsets[i], toX(shown.step + 0.5), toY(middle));
}

// show moves what is not in view, a step or a byte, to the middle.
function show(step, byte) {
  const away = (x, low, high) => low <= x && x <= high ? 0 : (x - (low + high) / 2) / (high - low);
  move(away(step, shown.left, shown.right), away(byte, shown.bottom, shown.top));
}

// goTo pins a step and says what it does.
function goTo(step) {
  pin(step);
  show(shown.step + 0.5, shown.bottom);
  tell(shown.step, undefined, toX(shown.step + 0.5), margin.top + margin.curve);
}

const tenth = () => Math.max(1, Math.round((shown.right - shown.left) / 10));
const keys = {
  "ArrowLeft": () => goTo(shown.step - 1), "ArrowRight": () => goTo(shown.step + 1),
  "PageUp": () => goTo(shown.step - tenth()), "PageDown": () => goTo(shown.step + tenth()),
  "Home": () => goTo(0), "End": () => goTo(steps() - 1),
  "ArrowUp": () => nextBuffer(1), "ArrowDown": () => nextBuffer(-1),
  "Shift ArrowLeft": () => move(-0.1, 0), "Shift ArrowRight": () => move(0.1, 0),
  "Shift ArrowUp": () => move(0, 0.1), "Shift ArrowDown": () => move(0, -0.1),
  "+": () => zoomMiddle(0.5), "=": () => zoomMiddle(0.5), "-": () => zoomMiddle(2), "0": lookAtAll,
  "Escape": () => { hush(); pin(shown.program.peak); },
};
canvas.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[(event.shiftKey && event.key.startsWith("Arrow") ? "Shift " : "") + event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

document.getElementById("zoom-in").addEventListener("click", () => zoomMiddle(0.5));
document.getElementById("zoom-out").addEventListener("click", () => zoomMiddle(2));
document.getElementById("reset").addEventListener("click", lookAtAll);
document.getElementById("to-peak").addEventListener("click", () => pin(shown.program.peak));

const picker = document.getElementById("program");
picker.append(...data.programs.map(p => element("option", {textContent: `${p.name}: ${bytesText(p.size)}`})));
picker.addEventListener("change", () => showProgram(picker.selectedIndex));

document.getElementById("picture").hidden = false;
new ResizeObserver(draw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
showProgram(0);

// The table: who holds what during the step that is shown, by part of the network, each part's buffers on demand.

const opened = new Set(); // parts whose buffers are listed

const columns = ["place in the network", "bytes", "share of the arena", "by kind"];

// holders are the parts of the network that hold memory during a step, the largest first, equal ones in the order of
// the buffers.
function holders(step) {
  const {blocks, kind, sizes} = shown.program, parts = new Map();
  for (let i = 0; i < sizes.length; i++) {
    if (sizes[i] === 0 || !livesAt(i, step)) continue;
    const name = text(blocks[i]);
    if (!parts.has(name)) parts.set(name, {name, bytes: 0, kinds: data.kinds.map(() => 0), buffers: []});
    const part = parts.get(name);
    part.bytes += sizes[i];
    part.kinds[kind[i]] += sizes[i];
    part.buffers.push(i);
  }
  for (const part of parts.values()) part.buffers.sort((a, b) => sizes[b] - sizes[a]);
  return [...parts.values()].sort((a, b) => b.bytes - a.bytes);
}

// stepText says what runs in a step.
const stepText = step => text(shown.program.ops[step]) + " at " + text(shown.program.places[step]);

// lifeText says during which steps a buffer holds data.
function lifeText(i) {
  const first = shown.program.first[i], last = shown.program.last[i];
  const end = last >= steps() ? "the end of the run" : last;
  if (first < 0) return "from before the run to " + (last >= steps() ? end : "step " + end);
  return first === last ? "step " + first : `steps ${first} to ${end}`;
}

// showTable writes the table and the legend's numbers for the step that is shown.
function showTable() {
  const {size, live, peak, name} = shown.program, step = shown.step, parts = holders(step);
  const rows = element("tbody");
  for (const part of parts) rows.append(...partRows(part, parts[0].bytes));
  const sum = (name, bytes) => element("tr", {}, header(name), ...cells(bytes, size), element("td"));
  document.getElementById("holders").replaceChildren(
    element("h2", {textContent: "Who holds what at " + (step === peak ? "the peak" : "step " + step)}),
    element("p", {textContent: `${name}: step ${step}, ${stepText(step)}`}),
    element("table", {},
      element("thead", {}, element("tr", {}, ...columns.map(t => element("th", {scope: "col", textContent: t})))),
      rows,
      element("tfoot", {}, sum("in use", live[step]), sum("free", size - live[step]), sum("arena", size))));
  showLegend(parts);
}

const header = (...content) => element("th", {scope: "row"}, ...content);
const cells = (bytes, size) => [bytesText(bytes), shareText(bytes, size)].map(t => element("td", {textContent: t}));

// partRows are the row of a part, with a button that lists its buffers, and their rows. Bars are as long as the part's
// share of the largest.
function partRows(part, largest) {
  const {size, sizes, kind} = shown.program;
  const bar = element("div", {className: "bar"});
  part.kinds.forEach((bytes, k) => {
    if (bytes > 0) bar.append(patch(k, 100 * bytes / largest));
  });
  const button = element("button", {type: "button", textContent: part.name});
  const rows = part.buffers.map(i => element("tr", {className: "buffer"},
    header(text(shown.program.names[i])), ...cells(sizes[i], size),
    element("td", {}, swatch(kind[i]), lifeText(i))));
  rows.forEach((row, n) => {
    row.addEventListener("pointerenter", () => frame(part.buffers[n]));
    row.addEventListener("pointerleave", () => frame(-1));
  });
  const open = isOpen => {
    button.ariaExpanded = String(isOpen);
    rows.forEach(row => { row.hidden = !isOpen; });
    if (isOpen) opened.add(part.name); else opened.delete(part.name);
  };
  open(opened.has(part.name));
  button.addEventListener("click", () => open(button.ariaExpanded !== "true"));
  const whole = element("tr", {className: "part"}, header(button), ...cells(part.bytes, size), element("td", {}, bar));
  return [whole, ...rows];
}

function patch(kind, percent) {
  const e = element("span", {title: data.kinds[kind]});
  e.style.background = `var(--k${kind})`;
  e.style.width = percent + "%";
  return e;
}

function swatch(kind) {
  const e = element("span", {className: "swatch", title: data.kinds[kind]});
  e.style.background = `var(--k${kind})`;
  return e;
}

// showLegend lists the kinds that the program has, with what they hold in the step that is shown. Pressing one takes
// the color from all others.
function showLegend(parts) {
  const present = new Set(shown.program.kind);
  const focused = document.activeElement && document.activeElement.dataset.kind;
  document.getElementById("legend").replaceChildren(...data.kinds.flatMap((name, k) => {
    if (!present.has(k)) return [];
    const bytes = parts.reduce((sum, part) => sum + part.kinds[k], 0);
    const button = element("button", {type: "button", ariaPressed: String(shown.kind === k)},
      swatch(k), name + " ", element("small", {textContent: bytesText(bytes)}));
    button.dataset.kind = k;
    button.addEventListener("click", () => {
      shown.kind = shown.kind === k ? -1 : k;
      showLegend(parts);
      draw();
    });
    return [button];
  }));
  if (focused !== undefined) document.querySelector(`#legend [data-kind="${focused}"]`)?.focus();
}

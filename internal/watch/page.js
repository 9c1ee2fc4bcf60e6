// What the server is asked, and when.

const every = 2000, slow = 6000; // milliseconds between questions, and where there was no answer

let said = "", runs = [];
let ahead = 0; // milliseconds that the server's clock is ahead of the viewer's

// ask asks the server, and says where it doesn't answer. null is no answer.
async function ask(what) {
  const line = document.getElementById("connection");
  try {
    const answer = await fetch(what, {signal: AbortSignal.timeout(10000)});
    const text = await answer.text(), sent = Date.parse(answer.headers.get("Date"));
    if (sent > 0) ahead = sent - Date.now();
    if (!answer.ok) throw new Error(text);
    line.textContent = "";
    line.className = "";
    return {text, value: JSON.parse(text)};
  } catch (e) {
    line.className = "bad";
    line.textContent = e instanceof TypeError || e.name === "TimeoutError"
      ? "No answer: the program that shows this has ended, or the connection is gone. What is below is what was known last."
      : `The page can't be kept up: ${e.message}`;
    return null;
  }
}

const clock = s => {
  s = Math.max(0, Math.round(s));
  const two = n => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
};
const percent = x => x === null || x === undefined ? null : `${(100 * x).toFixed(2)} %`;
const newest = (curves, figure) => curves[figure]?.mean.findLast(v => v !== null);
const whole = n => n.toLocaleString("en");

// standing says where a run stands.
function standing(run) {
  if (run.live) return run.ended ? "finishing" : "in progress";
  return run.ended ? "finished" : "not in progress";
}

// facts are what is known of a run, by name.
function facts(run) {
  const t = run.training, scored = s => s && `${percent(s.wer)} WER, ${percent(s.cer)} CER after ${whole(s.update)}`;
  const list = {
    "update": run.total > 0 ? `${whole(run.update)} of ${whole(run.total)}` : whole(run.update),
    "epoch": run.epochs > 0 ? `${run.epoch} of ${run.epochs}` : `${run.epoch}`,
    "time left": run.left === null ? null : clock(run.left - (Date.now() + ahead - Date.parse(run.time)) / 1000),
    "trained for": clock(3600 * run.hours),
    "loss": newest(t, "loss") === undefined ? null : number(newest(t, "loss")),
    "learning rate": newest(t, "learning_rate") === undefined ? null : newest(t, "learning_rate").toExponential(2),
    "speed": newest(t, "real_time") === undefined ? null : `${number(newest(t, "real_time"))} x real time`,
    "utterances a second": newest(t, "utterances_per_second") === undefined ? null : number(newest(t, "utterances_per_second")),
    "memory": newest(t, "memory") === undefined ? null : megabytes(newest(t, "memory")),
    "last validation": scored(run.last),
    "best validation": scored(run.best),
    "test set": run.test && `${percent(run.test.wer)} WER, ${percent(run.test.cer)} CER`,
    "windows without an update": run.skipped > 0 ? whole(run.skipped) : null,
    "parameters": run.parameters > 0 ? whole(run.parameters) : null,
  };
  return Object.entries(list).filter(([, v]) => v !== null && v !== undefined);
}

// card is what is known of a run. With several, a press takes its curves away and brings them back.
function card(run, r) {
  const title = element("h2");
  if (runs.length > 1) {
    const swatch = element("span", {className: "swatch"});
    swatch.style.background = `var(${colorOf(r)})`;
    const button = element("button", {type: "button", ariaPressed: String(!view.hidden.has(r))}, swatch, run.name);
    button.addEventListener("click", () => {
      if (!view.hidden.delete(r)) view.hidden.add(r);
      show();
    });
    title.append(button);
  } else {
    title.append(run.name);
  }
  const when = new Date(run.time), bar = element("progress", {max: Math.max(run.total, 1), value: run.total > 0 ? run.update : 0});
  bar.setAttribute("aria-label", "updates made");
  return element("article", {className: "run"}, title,
    element("p", {className: "standing", textContent: standing(run) + (when > 0 ? `, last record ${when.toLocaleString()}` : "")}),
    ...(run.total > 0 ? [bar] : []), ...(run.wrong ? [element("p", {className: "wrong", textContent: run.wrong})] : []),
    element("dl", {}, ...facts(run).map(([name, value]) => element("div", {}, element("dt", {textContent: name}), element("dd", {textContent: value})))));
}

// showCards shows what is known of each run. A button that has the focus keeps it.
function showCards() {
  const root = document.getElementById("runs"), focused = [...root.querySelectorAll("button")].indexOf(document.activeElement);
  root.replaceChildren(...runs.map(card));
  root.querySelectorAll("button")[focused]?.focus();
}

// show shows all that is known of the runs.
function show() {
  const names = runs.map(r => r.name).join(", ");
  document.title = runs.length === 1 && runs[0].total > 0 ? `${Math.floor(100 * runs[0].update / runs[0].total)} % ${names}` : names;
  document.getElementById("title").textContent = runs.length === 1 ? "konkanitrain" : `konkanitrain: ${runs.length} runs`;
  showCards();
  document.getElementById("curves").hidden = !runs.some(r => r.training.update.length > 0 || r.validation.update.length > 0);
  for (const p of pictures) p.draw(runs);
}

// showPart shows the curves from an update, or an hour, to another; null is all. More is asked for where it is updates.
function showPart(from, to) {
  [view.from, view.to] = [from, to];
  document.getElementById("all").hidden = from === null;
  for (const p of pictures) if (p.plot && !p.root.hidden) p.zoom();
  refresh();
}

// question is what is asked for: points for half the pixels of a picture, in steps, so that many viewers ask for the same.
function question() {
  const width = document.getElementById("charts").firstChild?.clientWidth || 800;
  const points = Math.min(Math.max(Math.ceil(width / 200) * 100, 100), 1000);
  const part = view.from !== null && view.axis === "update" ? `&from=${Math.max(0, Math.floor(view.from))}&to=${Math.max(0, Math.ceil(view.to))}` : "";
  return `state?points=${points}${part}`;
}

async function refresh() {
  const what = question(), got = await ask(what);
  if (!got || what !== question()) return got !== null;
  if (got.text !== said) {
    said = got.text;
    runs = got.value.runs;
    fillRuns();
    show();
  }
  return true;
}

// fillRuns lets a person choose a run where there are several.
function fillRuns() {
  for (const id of ["memory-run", "worst-run"]) {
    const choice = document.getElementById(id);
    if (choice.options.length !== runs.length) choice.replaceChildren(...runs.map(r => element("option", {textContent: r.name})));
    choice.parentElement.hidden = runs.length < 2;
  }
}

// tick asks for what is new, if somebody looks.
async function tick() {
  let answered = true;
  if (!document.hidden) {
    answered = await refresh();
    if (answered && runs.length > 0) {
      await showMemory();
      await showWorst();
    }
    if (runs.some(r => r.left !== null)) showCards(); // time passes
  }
  setTimeout(tick, answered ? every : slow);
}

const charts = document.getElementById("charts");
charts.replaceChildren(...pictures.map(p => p.root));
document.getElementById("axis").addEventListener("change", e => {
  view.axis = e.target.value;
  showPart(null, null);
  show();
});
document.getElementById("log").addEventListener("change", e => { view.log = e.target.checked; show(); });
document.getElementById("all").addEventListener("click", () => showPart(null, null));
document.getElementById("memory-run").addEventListener("change", showMemory);
document.getElementById("worst-run").addEventListener("change", () => { document.getElementById("worst-update").selectedIndex = -1; showWorst(); });
document.getElementById("worst-update").addEventListener("change", showWorst);
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const p of pictures) p.renew();
  show();
  if (stepPicture.step) stepPicture.draw(stepPicture.step);
});
tick();

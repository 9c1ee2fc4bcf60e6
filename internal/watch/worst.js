// The worst utterances of a validation, to hear and to read.

// columns are the columns of an alignment.
function columns(pairs) {
  const root = element("div", {className: "together", dir: "auto"});
  root.setAttribute("role", "img");
  const text = key => pairs.map(p => p[key]).join("");
  root.setAttribute("aria-label", `said: ${text("ref")}; recognized: ${text("hyp")}`);
  const space = s => s === " " ? "␣" : s;
  for (const {ref: r, hyp: h} of pairs) {
    if (r === h && r.trim() === "") { root.append(" "); continue; }
    const kind = r === h ? "" : h === "" ? "del" : r === "" ? "ins" : "sub";
    root.append(element("span", {className: `cell ${kind}`}, element("span", {textContent: space(r)}), element("span", {textContent: space(h)})));
  }
  return root;
}

const soundSeconds = 30; // what the server sends

const errorsOf = (e, what) => `${e.sub + e.del + e.ins} of ${e.ref} ${what}`;

function utterance(u, url) {
  const sound = element("audio", {controls: true, preload: "none", src: url});
  sound.setAttribute("aria-label", u.name);
  const silent = element("p", {hidden: true});
  sound.addEventListener("error", async () => {
    const answer = await fetch(url).catch(() => null);
    silent.textContent = answer && !answer.ok ? `It can't be heard: ${await answer.text()}` : "It can't be heard.";
    silent.hidden = false;
  });
  const facts = [`${number(u.seconds)} s${u.seconds > soundSeconds ? `, of which the first ${soundSeconds} s can be heard` : ""}`, errorsOf(u.words, "words"), errorsOf(u.chars, "characters")];
  if (u.loss !== null) facts.push(`loss ${number(u.loss)}`);
  if (u.speaker) facts.push(u.speaker);
  return element("li", {}, element("p", {}, element("b", {textContent: u.name}), ` ${u.where}`), columns(u.together), element("p", {textContent: facts.join(" · ")}), sound, silent);
}

let worstText = "", worstRun = -1;

async function showWorst() {
  const run = document.getElementById("worst-run").selectedIndex, choice = document.getElementById("worst-update");
  const wanted = choice.selectedIndex > 0 ? choice.value : "";
  const got = await ask(`worst?run=${run}${wanted && "&update=" + wanted}`);
  if (!got) return;
  const w = got.value, text = `${run} ${got.text}`;
  document.getElementById("worst").hidden = w.updates.length === 0;
  const heard = [...document.querySelectorAll("audio")].some(a => !a.paused);
  if (text === worstText || heard && text.startsWith(`${worstRun} `)) return; // nobody is interrupted by a new validation
  [worstText, worstRun] = [text, run];
  const newest = w.updates.length > 0 ? `the last: ${w.updates.at(-1).toLocaleString("en")}` : "";
  choice.replaceChildren(element("option", {value: "", textContent: newest}),
    ...w.updates.toReversed().slice(1).map(u => element("option", {value: u, textContent: u.toLocaleString("en")})));
  choice.value = w.updates.includes(Number(wanted)) && wanted ? wanted : "";
  if (choice.selectedIndex < 0) choice.selectedIndex = 0;
  const failed = w.failed > 0 ? `; ${w.failed} files could not be read` : "";
  document.getElementById("worst-facts").textContent = `${w.wrong} of ${w.utterances} utterances have errors${failed}. ` +
    (w.worst.length > 0 ? "These have the most:" : "");
  document.getElementById("utterances").replaceChildren(...w.worst.map((u, i) => utterance(u, `sound?run=${run}&update=${w.update}&utterance=${i}`)));
}

document.addEventListener("play", e => {
  for (const other of document.querySelectorAll("audio")) if (other !== e.target) other.pause();
}, true);

// The cells of the page: what of them is run and when, what a reader has changed, and what is said beside each.

const places = document.querySelectorAll("div.cell");
const python = makePython();
const cells = livePython.cells.map((cell, index) => makeCell(cell, index));
let turn = Promise.resolve(); // one run after the other

function makeCell({ source, at, raises }, index) {
  const place = places[at], bar = livePython.bars[at];
  const cell = {
    source, raises, place, bar,
    name: `<cell ${index}>`,
    ran: undefined, // the code that it was run with in this Python
    own: undefined, // the reader's code, if it is another
    editor: undefined,
    output: place?.querySelector(".cell_output") ?? element("div", { className: "cell_output docutils container" }),
    now: () => cell.own ?? source,
    changed: () => cell.own !== undefined && cell.own !== source,
  };
  cell.stored = [...cell.output.childNodes];
  return cell;
}

const atPlace = (at) => cells[livePython.cells.findIndex((cell) => cell.at === at)];

// Whether this Python has run code that is not the book's.
function anyChanged() {
  return cells.some((cell) => cell.ran !== undefined && cell.ran !== cell.source);
}

// ---- running

// What has not been run with its present code comes first, each cell in its turn, those that the page does not show too.
function due(last) {
  return cells.filter((cell, at) => at <= last && (at === last || cell.ran !== cell.now()));
}

function run(cell, all = false) {
  const last = all ? cells.length - 1 : cells.indexOf(cell);
  say(cell, python.started ? "Waiting" : "Starting Python");
  offer(cell, "Stop");
  turn = turn.then(() => runInTurn(cell, last, all)).catch((error) => failed(cell, error)).finally(() => offer(cell, "Run"));
  return turn;
}

async function runInTurn(cell, last, all) {
  const todo = all ? cells : due(last);
  for (const [at, one] of todo.entries()) {
    await python.prepare(one.now(), (words, share) => say(cell, words, share));
    say(cell, todo.length > 1 ? `Running cell ${at + 1} of ${todo.length}` : "Running");
    const began = performance.now();
    const good = await runOne(one);
    const seconds = (performance.now() - began) / 1000;
    if (one.bar && (one === cell || all)) say(one, said(one, seconds));
    if (!good && !one.raises && one !== todo.at(-1)) {
      one.place?.scrollIntoView({ block: "center" });
      say(cell, all || one === cell ? `Stopped at cell ${at + 1} of ${todo.length}, which raised an error` :
        "Not run: a cell before it raised an error, see there");
      return;
    }
  }
  if (all) say(cell, `All ${todo.length} cells have run`);
}

async function runOne(cell) {
  const outputs = [], source = cell.now();
  let soon; // a cell that is quick is drawn once, at its end
  const drawNow = () => { soon = clearTimeout(soon); draw(cell, outputs); };
  try {
    const good = await python.run(source, cell.name, (output) => { outputs.push(output); soon ??= setTimeout(drawNow, 500); });
    cell.ran = source;
    return good;
  } finally {
    drawNow();
  }
}

// Stored widgets and quick checks stay as the reader has left them, if the code is the book's and says the same.
function draw(cell, outputs) {
  if (!cell.place) return; // a cell that the page does not show
  const made = merged(outputs).map((output) => drawn(output, cell));
  const pictures = made.some((node) => node.matches("figure")); // whose marks nobody compares
  cell.same = words(made) === words(cell.stored) && !(pictures && anyChanged());
  const keep = cell.same && !cell.changed() && cell.stored.some((node) => node.matches?.(".widget") || node.querySelector?.(".widget"));
  show(cell, keep ? cell.stored : made, true);
}

function show(cell, nodes, own) {
  cell.output.replaceChildren(...nodes);
  cell.output.classList.toggle("python-own", own);
  if (nodes.length && !cell.output.isConnected) (cell.place.querySelector(":scope > details") ?? cell.place).append(cell.output);
  if (!nodes.length) cell.output.remove();
}

function said(cell, seconds) {
  const time = seconds < 1 ? "" : ` in ${seconds.toFixed(0)} s`;
  return `Run here${time}${cell.changed() ? ": your code" : cell.same ? ": as in the book" : ""}`;
}

function stop() {
  python.stop();
  for (const cell of cells) cell.ran = undefined;
}

function failed(cell, error) {
  if (error instanceof Stopped) return say(cell, "Stopped. The variables are gone: the next run begins with the first cell");
  stop();
  say(cell, `Python did not run: ${error.message}. Press Run to try again.`);
}

// ---- what stands beside a cell

function say(cell, words, share) {
  if (!cell.bar) return;
  cell.bar.classList.add("python-used");
  const status = cell.bar.querySelector(".python-status");
  if (status.firstChild?.textContent !== words) status.replaceChildren(words);
  if (share === undefined || share >= 1) return;
  const bar = status.querySelector("progress") ?? element("progress", { max: 1 });
  bar.value = share;
  bar.setAttribute("aria-label", "Loaded");
  status.append(bar);
}

function buttonOf(cell, ...names) {
  return [...cell.bar.querySelectorAll("button")].find((one) => names.includes(one.textContent));
}

// Run and Stop are one button, so that a press of a key after another stays where the keyboard is.
function offer(cell, name) {
  buttonOf(cell, "Run", "Stop").textContent = name;
  buttonOf(cell, "Run", "Stop").onclick = name === "Stop" ? stop : () => run(cell);
  offerRestore(cell);
}

function offerRestore(cell) {
  const there = buttonOf(cell, "Restore"), wanted = cell.editor || cell.changed() || cell.output.classList.contains("python-own");
  if (there && !wanted) {
    if (document.activeElement === there) buttonOf(cell, "Run", "Stop").focus();
    there.remove();
  }
  if (!there && wanted) buttonOf(cell, "Run all").before(element("button", { type: "button", textContent: "Restore", onclick: () => restore(cell) }));
}

// ---- editing

function edit(cell, focused = true) {
  if (!cell.editor) {
    const code = cell.place.querySelector(".cell_input > div");
    const label = "Code of this cell. Control and Enter runs it, Escape leaves it.";
    cell.editor = makeEditor(cell.now(), {
      label,
      run: () => run(cell),
      leave: () => buttonOf(cell, "Run", "Stop").focus(),
      changed: (source) => { cell.own = source; keep(); },
    });
    code.hidden = true;
    code.after(cell.editor.node);
    cell.bar.classList.add("python-used");
    offerRestore(cell);
  }
  if (focused) cell.editor.area.focus();
}

function restore(cell) {
  cell.editor?.node.remove();
  if (cell.editor) cell.place.querySelector(".cell_input > div").hidden = false;
  cell.editor = cell.own = undefined;
  show(cell, cell.stored, false);
  say(cell, "As in the book");
  offerRestore(cell);
  keep();
}

// ---- what is kept on this device: the code of the cells that a reader has changed, by the code that the book had there

function keep() {
  const edits = Object.fromEntries(cells.filter((cell) => cell.changed()).map((cell) => [cell.source, cell.own]));
  note(Object.keys(edits).length);
  try {
    if (Object.keys(edits).length) localStorage.setItem(livePython.saved, JSON.stringify(edits));
    else localStorage.removeItem(livePython.saved);
  } catch {
    note(Object.keys(edits).length, "This browser keeps nothing: your edits are gone with the page.");
  }
}

function bringBack() {
  let edits = {};
  try { edits = JSON.parse(localStorage.getItem(livePython.saved)) ?? {}; } catch { /* nothing is kept */ }
  for (const cell of cells.filter(({ bar, source }) => bar && edits[source] !== undefined)) {
    cell.own = edits[cell.source];
    edit(cell, false);
  }
  note(cells.filter((cell) => cell.changed()).length);
}

const title = document.querySelector("article h1"); // the page has another, for print

function forget() {
  for (const cell of cells.filter((one) => one.changed())) restore(cell);
  title.focus();
}

function note(count, words = "They are kept on this device alone.") {
  const there = document.querySelector(".python-note");
  if (!count) return there?.remove();
  const text = `You have changed ${count} cell${count > 1 ? "s" : ""} of this page. ${words} `;
  if (there) return void (there.firstChild.textContent = text);
  const button = element("button", { type: "button", textContent: "Forget my edits", onclick: forget });
  const made = element("p", { className: "python-note" }, text, button);
  title.tabIndex = -1;
  title.after(made);
}

// ---- what the buttons call

Object.assign(livePython, {
  run: (at) => run(atPlace(at)),
  runAll: (at) => run(atPlace(at), true),
  edit: (at) => edit(atPlace(at)),
  open() {
    document.head.append(element("link", { rel: "stylesheet", href: `${livePython.base}parts/live_python.css${livePython.stamp}` }));
    bringBack();
  },
});

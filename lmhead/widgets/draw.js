// What all views draw with. Every number on the screen is put there by `put` or `bar` under its name, such as p.0: the
// tests read the names and compare the texts with lmhead.

// Runs a view: `build` makes its parts once and returns a function that shows the state; that runs at every change.
// `build` is given the root, the state, `set` to change it, and `say` to announce a change. An entry of the state is
// asked of the model when it is read, not before: the static page fetches large ones only then.
function live({ model, el }, build) {
  const state = new Proxy({}, { get: (_, key) => model.get(key) });
  const status = node("p", { class: "lmhead-said", role: "status" });
  const root = node("div", { class: "lmhead", "data-view": state.view });
  el.append(root, status);
  const set = (changes) => {
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
  };
  let timer, shown = false;
  const say = (text) => {
    clearTimeout(timer);
    if (shown) timer = setTimeout(() => { status.textContent = text; }, 400); // silent while a slider moves
  };
  const show = build(root, state, set, say);
  show();
  shown = true;
  model.on("change", show);
  return () => model.off("change", show);
}

// Four decimals; one digit and a power of ten for what four decimals would show as 0.
function decimals(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  const size = Math.abs(x);
  return size > 0 && (size < 5e-5 || size >= 1e6) ? x.toExponential(1) : x.toFixed(4);
}

// At most four decimals, for a number that a slider sets.
function short(x) {
  return String(Number(x.toFixed(4)));
}

function grouped(n) {
  return String(n).replace(/\B(?<!\.\d*)(?=(\d{3})+(\.|$))/g, ",");
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < 4) { n /= 1024; unit += 1; }
  return `${grouped(Number(n.toPrecision(4)))} ${units[unit]}`;
}

function put(place, name, value, format = decimals) {
  place.dataset.number = name;
  place.textContent = format(value);
}

// A table: a row for each name, a cell for each further heading; returns it with its cells as cells[row][column].
function grid(caption, headings, names) {
  const cells = names.map(() => headings.slice(1).map(() => node("td")));
  const head = node("tr", {}, ...headings.map((text) => node("th", { scope: "col" }, text)));
  const rows = names.map((name, j) => node("tr", {}, node("th", { scope: "row" }, name), ...cells[j]));
  const table = node("table", {}, node("caption", {}, caption), node("thead", {}, head), node("tbody", {}, ...rows));
  return { table, rows, cells };
}

// A cell with a bar, `fraction` of its width long, and the number beside it.
function bar(cell, name, value, fraction = value, format = decimals) {
  if (!cell.firstChild) {
    cell.classList.add("lmhead-bar");
    cell.append(node("div", {}, node("i")), node("span"));
  }
  cell.firstChild.firstChild.style.width = `${100 * Math.min(Math.max(fraction || 0, 0), 1)}%`; // no bar for a NaN
  put(cell.lastChild, name, value, format);
}

// A cell with a slider for one logit, and the number beside it; returns a function that shows a value. A slider counts
// its steps from `min`, so that is set where the first value lies on a step.
function logitSlider(cell, name, label, first, reach, onInput) {
  const step = 0.1, min = (first - Math.ceil((first + reach) / step) * step).toFixed(10);
  const input = node("input", { type: "range", min, max: reach, step, "aria-label": label });
  const shown = node("span");
  input.addEventListener("input", () => onInput(Number(input.value)));
  cell.classList.add("lmhead-slider");
  cell.append(input, shown);
  return (value) => {
    input.value = value;
    input.setAttribute("aria-valuetext", short(value));
    put(shown, name, value, short);
  };
}

// How far the sliders of a row of logits go to both sides.
function reachOf(logits) {
  return Math.max(10, ...logits.map((z) => Math.ceil(Math.abs(z))));
}

// The same row with one entry replaced: a changed array must be a new one, or the model sees no change.
function replaced(row, at, value) {
  return row.map((old, j) => (j === at ? value : old));
}

function button(text, onClick) {
  const made = node("button", { type: "button" }, text);
  made.addEventListener("click", onClick);
  return made;
}

// Counts of drawn tokens: a button, the last draw as a sentence, and a count in each row of the table's last column.
function drawing(words, labels, { table, cells }, say) {
  const counts = labels.map(() => 0), last = node("span", { class: "lmhead-drawn" });
  let p = [];
  const draw = () => {
    const token = drawToken(p, Math.random());
    if (token < counts.length) counts[token] += 1;
    last.textContent = fill(words.drawn, { token: labels[token] ?? words.rest });
    last.dataset.token = token;
    say(last.textContent);
    show();
  };
  const show = () => {
    table.classList.toggle("lmhead-undrawn", !last.textContent);
    counts.forEach((count, j) => { cells[j].at(-1).textContent = count || ""; });
  };
  return {
    row: node("p", { class: "lmhead-buttons" }, button(words.draw, draw), last),
    from(newP) { p = newP; },
    forget() { counts.fill(0); last.textContent = ""; show(); },
  };
}

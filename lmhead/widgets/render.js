// Draws a scene, which is all that a view shows, as plain values:
//   name   what the view is called        said   what is announced once a change is over
//   waiting   whether numbers are still on their way: the first whole scene is not announced
//   parts  what stands one below the other; each is one of the kinds in DRAW
// Every control has `set`: what it is set to -> the entries of the state that change. A view's own file says what is
// in its scene; this file says how it looks, and nothing in it knows a view.

const DRAW = {
  // { caption, headings, rows: [{ name, note, best, cut, cells }] }: see `cell`
  table: ({ caption, headings, rows }, set) => element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, headings.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, rows.map(({ name, note, best, cut, cells }) => element("tr", { class: classes({ best, cut }) },
      element("th", { scope: "row" }, name, note && " ", note && element("small", {}, note)),
      cells.map((one) => cell(one, set)))))),
  // [[term, text], ...]
  terms: (pairs) => element("dl", {}, pairs.map(([term, text]) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, text)))),
  note: (text) => element("p", { class: "lmhead-note" }, text),
  // { name, box: [left, top, width, height], marks }: see MARKS
  picture: ({ name, box, marks }) => element("svg", { viewBox: box.join(" "), role: "img", "aria-label": name },
    marks.map((mark) => Object.keys(MARKS).filter((kind) => kind in mark).map((kind) => MARKS[kind](mark)))),
  // { all: [{ name, width, height, dashed }], note }, sides in pixels; the table beside them says the same in numbers
  arrays: ({ all, note }) => [
    element("div", { class: "lmhead-arrays", "aria-hidden": "true" }, all.map(({ name, width, height, dashed }) =>
      element("div", {}, element("i", { class: classes({ dashed }), style: `width: ${width}px; height: ${height}px` }),
        element("span", {}, name)))),
    element("p", { class: "lmhead-small" }, note),
  ],
  // { all: [{ name, set }], text }: buttons, each set to a number drawn from [0, 1), and a text behind them
  buttons: ({ all, text }, set) => element("p", { class: "lmhead-buttons" }, all.map((one) =>
    element("button", { type: "button", onclick: () => set(one.set(Math.random())) }, one.name)), element("span", {}, text)),
  // [{ broken, parts }, ...] side by side
  cards: (all, set) => element("div", { class: "lmhead-cards" }, all.map(({ broken, parts }) =>
    element("div", { class: classes({ broken }) }, drawn(parts, set)))),
  // [parts, parts] side by side where there is room
  beside: (both, set) => element("div", { class: "lmhead-beside" }, both.map((parts) => element("div", {}, drawn(parts, set)))),
};

const MARKS = {
  line: ({ line, look }) => element("polyline", { class: `lmhead-${look}`, points: line.join(" ") }),
  point: ({ point: [cx, cy] }) => element("circle", { class: "lmhead-point", cx, cy, r: 6 }),
  // from the origin to a place
  arrow: ({ arrow: [x, y], look }) => {
    const length = Math.hypot(x, y), head = Math.min(13, length), turn = (Math.atan2(y, x) * 180) / Math.PI;
    return element("g", { class: `lmhead-arrow lmhead-${look}`, transform: `rotate(${turn})` },
      element("line", { x2: length - 0.8 * head }),
      element("path", { d: `M${length} 0l${-head} ${head * 0.46}v${head * -0.92}Z` }));
  },
  // a text beside a place, its middle at that height
  label: ({ label, at: [x, y], anchor = "middle", bold }) =>
    element("text", { x, y, dy: "0.35em", "text-anchor": anchor, class: classes({ bold }) }, String(label)),
};

// A cell is a text; with `bar`, a fraction of the cell (null leaves the place empty), and on it an `arrow` from one
// fraction to another; or with a `slider`. A `marked` one is the best of its column.
function cell(one, set) {
  const { text = one, bar, arrow, slider, marked } = one;
  if (slider) {
    const { name, value, min, max, step } = slider;
    const oninput = (event) => set(slider.set(Number(event.target.value)));
    return element("td", { class: "lmhead-slider" },
      element("input", { type: "range", min, max, step, value, "aria-label": name, "aria-valuetext": text, oninput }),
      element("span", {}, text));
  }
  if (bar === undefined) return element("td", { class: classes({ mark: marked }) }, text);
  if (bar === null) return element("td", { class: "lmhead-bar" }, element("div", { class: "lmhead-none" }), element("span", {}, text));
  const [from, to] = arrow ?? [0, 0];
  const push = `left: ${100 * Math.min(from, to)}%; width: ${100 * Math.abs(to - from)}%`;
  return element("td", { class: "lmhead-bar" },
    element("div", {}, element("i", { style: `width: ${100 * bar}%` }),
      arrow && element("b", { class: to > from ? "lmhead-up" : "lmhead-down", style: push })),
    element("span", {}, text));
}

function classes(flags) {
  return Object.keys(flags).filter((name) => flags[name]).map((name) => `lmhead-${name}`).join(" ") || undefined;
}

function drawn(parts, set) {
  return parts.flatMap((part) => Object.entries(part).map(([kind, what]) => DRAW[kind](what, set)));
}

// An entry of the state is asked of the model when it is read, not before: the static page fetches large ones then.
function render({ model, el }) {
  const state = new Proxy({}, { get: (_, key) => model.get(key) });
  const set = (changes) => {
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
  };
  let timer, announced = "";
  const show = () => {
    const { name, said, parts, waiting } = scene(state);
    patch(el, [
      element("div", { class: "lmhead", "data-view": state.view, role: "group", "aria-label": name }, drawn(parts, set)),
      element("p", { class: "lmhead-said", role: "status" }, announced),
    ]);
    return { said, waiting };
  };
  let { waiting: silent } = show();
  const changed = () => {
    const { said, waiting } = show();
    clearTimeout(timer);
    if (!silent) timer = setTimeout(() => { announced = said; show(); }, 400); // not while a slider moves
    silent &&= waiting;
  };
  model.on("change", changed);
  return () => { clearTimeout(timer); model.off("change", changed); };
}

export default { render };

function numbers({ W_U, angle, length }) {
  const radians = (angle * Math.PI) / 180;
  const h = [length * Math.cos(radians), length * Math.sin(radians)];
  const logit = W_U[0].map((x, j) => h[0] * x + h[1] * W_U[1][j]);
  const cosine = logit.map((z, j) => z / (length * Math.hypot(W_U[0][j], W_U[1][j])));
  return { h, logit, cosine, best_logit: argmax(logit), best_cosine: argmax(cosine) };
}

const HALF = 160; // the picture is 320 units wide, the origin in its middle
const AXES = [[[-HALF, 0], [HALF, 0]], [[0, -HALF], [0, HALF]]];

// Whether a line comes nearer to a box than `gap`; the box is given by its middle and half its sides.
function meets([[x0, y0], [x1, y1]], { x, y, w, h }, gap) {
  let from = 0, to = 1;
  for (const [start, way, low, high] of [[x0, x1 - x0, x - w - gap, x + w + gap], [y0, y1 - y0, y - h - gap, y + h + gap]]) {
    if (way === 0 && (start <= low || start >= high)) return false;
    if (way === 0) continue;
    const ends = [(low - start) / way, (high - start) / way];
    from = Math.max(from, Math.min(...ends));
    to = Math.min(to, Math.max(...ends));
  }
  return from < to;
}

const overlap = (a, b) => Math.abs(a.x - b.x) < a.w + b.w + 2 && Math.abs(a.y - b.y) < a.h + b.h + 1;

// Half the room that a text takes, a little more than it needs: letters are 14 units high, and bold ones wide.
function room(text) {
  const width = [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 16 : /[mwMW@%—]/.test(letter) ? 14 : 9.5), 0);
  return { w: width / 2, h: 9 };
}

// Each name as near to its arrow's head as it lies on no line, no other name and inside the picture.
function places(tips, names) {
  const lines = [...AXES, ...tips.map((tip) => [[0, 0], tip])], placed = [];
  names.forEach((name, j) => {
    const [x, y] = tips[j], { w, h } = room(name), turn = Math.atan2(y, x);
    const near = [4, 10, 18, 28, 40, 54, 70, 90, 120, 160].flatMap((gap) => [0, 20, -20, 40, -40, 65, -65, 90, -90, 120, -120, 150, -150, 180]
      .map((degrees) => turn + (degrees * Math.PI) / 180)
      .map((to) => [Math.cos(to), Math.sin(to)])
      .map(([dx, dy]) => ({ x: x + dx * (gap + w), y: y + dy * (gap + h), w, h })));
    const inside = (box) => Math.abs(box.x) + w <= HALF && Math.abs(box.y) + h <= HALF;
    const free = (box) => !lines.some((line) => meets(line, box, 6)) && !placed.some((other) => overlap(box, other));
    placed.push(near.find((box) => inside(box) && free(box)) ?? near.find(free) ?? near[0]);
  });
  return placed.map(({ x, y }) => [x, y]);
}

function scene(state) {
  const { W_U, labels, words } = state, { h, logit, cosine, best_logit, best_cosine } = numbers(state);
  const lengths = labels.map((_, j) => Math.hypot(W_U[0][j], W_U[1][j]));
  const scale = (HALF - 40) / Math.max(3, ...lengths); // h is at most 3 long
  const tips = [...labels.map((_, j) => [W_U[0][j], W_U[1][j]]), h].map(([x, y]) => [x * scale, -y * scale]);
  const names = [...labels.map(brief), words.h], at = places(tips, names);
  const looks = [...labels.map((_, j) => (j === best_logit ? "best" : "column")), "h"];
  const marks = [
    ...AXES.map((line) => ({ line, look: "axis" })),
    ...tips.map((arrow, j) => ({ arrow, look: looks[j] })),
    ...names.map((label, j) => ({ label, at: at[j], bold: looks[j] !== "column" })),
  ];
  const rows = labels.map((name, j) => ({ name, best: j === best_logit, cells: [
    decimals(lengths[j]),
    { text: decimals(cosine[j]), marked: j === best_cosine }, { text: decimals(logit[j]), marked: j === best_logit },
  ] }));
  const best = [[words.best_logit, best_logit], [words.best_cosine, best_cosine]];
  const said = `${best.map(([text, j]) => fill(text, { token: labels[j] })).join("; ")}. ${
    best_logit === best_cosine ? words.agree : words.disagree}`;
  const headings = [words.token, words.column_length, words.cosine, words.logit];
  return {
    name: words.caption, said,
    parts: [{ beside: [
      [{ picture: { name: words.picture, box: [-HALF, -HALF, 2 * HALF, 2 * HALF], marks } }],
      [{ table: { caption: words.caption, headings, rows } }, { note: said }],
    ] }],
  };
}

// The table has every name whole; in the picture a long one would not fit.
function brief(name) {
  return [...name].length > 12 ? `${[...name].slice(0, 11).join("")}…` : name;
}

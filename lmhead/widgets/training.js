const STEPS = 500, SHOWN = 8; // as in _training.py

function written(p, draws) {
  const wrote = [];
  for (const u of draws) {
    const token = drawToken(p[wrote.at(-1) ?? 0], u);
    if (token === 0) break;
    wrote.push(token);
  }
  return wrote;
}

function numbers({ counts, rate, step, letter, seed, draws }) {
  const n = counts.map((row) => row.reduce((sum, count) => sum + count, 0)), total = n.reduce((sum, x) => sum + x, 0);
  let W_U = counts.map((row) => row.map(() => 0)), p, floor = 0;
  const losses = [];
  for (let done = 0; done <= step; done++) {
    if (done) W_U = W_U.map((row, i) => row.map((w, j) => w - (rate / total) * (n[i] * p[i][j] - counts[i][j])));
    p = W_U.map(softmax);
    let loss = 0;
    W_U.forEach((row, i) => {
      const { winner, rest } = weigh(row), lse = row[winner] + Math.log1p(rest);
      row.forEach((w, j) => { loss += counts[i][j] * (lse - w); });
    });
    losses.push(loss / total);
  }
  counts.forEach((row, i) => row.forEach((count) => { if (count) floor -= (count * Math.log(count / n[i])) / total; }));
  const ids = byRank(counts[letter]).slice(0, SHOWN);
  return {
    losses, floor, ids, p: ids.map((j) => p[letter][j]), counted: ids.map((j) => counts[letter][j] / n[letter]),
    wrote: written(p, draws[seed]),
  };
}

const WIDE = 320, HIGH = 200, LEFT = 64, BOTTOM = 170, TOP = 14, RIGHT = WIDE - 14; // the plot's size and axes

function plot({ losses, floor }) {
  const highest = losses[0], lowest = floor - 0.1 * (highest - floor);
  const at = (step, loss) => [
    LEFT + (step / STEPS) * (RIGHT - LEFT),
    BOTTOM - ((Math.max(Math.min(loss, highest), lowest) - lowest) / (highest - lowest)) * (BOTTOM - TOP),
  ];
  return [
    { line: [[LEFT, TOP - 8], [LEFT, BOTTOM], [RIGHT, BOTTOM]], look: "axis" },
    { label: decimals(highest), at: [LEFT - 9, TOP], anchor: "end" },
    { label: decimals(floor), at: [LEFT - 9, at(0, floor)[1]], anchor: "end" },
    { label: 0, at: [LEFT, BOTTOM + 16] },
    { label: STEPS, at: [RIGHT - 8, BOTTOM + 16] },
    { line: [at(0, floor), at(STEPS, floor)], look: "drop" },
    { line: losses.map((loss, step) => at(step, loss)), look: "curve" },
    { point: at(losses.length - 1, losses.at(-1)) },
  ];
}

function scene(state) {
  const { labels, step, words } = state, shown = numbers(state);
  const rows = shown.ids.map((id, at) => ({
    name: labels[id],
    cells: [shown.p[at], shown.counted[at]].map((x) => bar(decimals(x), x)),
  }));
  const loss = decimals(shown.losses.at(-1)), wrote = shown.wrote.map((id) => labels[id]).join("") || labels[0];
  return {
    name: words.caption,
    said: fill(words.said, { step, loss, wrote }),
    parts: [{ beside: [
      [{ picture: { name: words.picture, box: [0, 0, WIDE, HIGH], marks: plot(shown) } }],
      [
        { table: { caption: words.caption, headings: [words.token, words.p, words.counted], rows } },
        { terms: [[words.loss, loss], [words.floor, decimals(shown.floor)], [words.wrote, wrote]] },
      ],
    ] }],
  };
}

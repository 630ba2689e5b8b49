function numbers({ logits, target }) {
  const loss = crossEntropy(logits, target);
  return { p: [...softmax(logits)], loss, bits: loss / Math.LN2, perplexity: Math.exp(loss) };
}

const WIDE = 320, HIGH = 240, LEFT = 32, FLOOR = 190, MOST = 5; // the plot's size, its axes, the highest loss drawn
const at = (p, loss) => [LEFT + p * (WIDE - LEFT - 12), FLOOR - (Math.min(loss, MOST) / MOST) * (FLOOR - 12)];

function plot({ p, loss }, words) {
  const point = at(p, loss), floor = at(p, 0);
  const curve = Array.from({ length: 200 }, (_, i) => (MOST * i) / 199).map((nats) => at(Math.exp(-nats), nats));
  return [
    { line: [[LEFT, 6], [LEFT, FLOOR], [WIDE - 6, FLOOR]], look: "axis" },
    ...[0, 0.25, 0.5, 0.75, 1].map((tick) => ({ label: tick, at: [at(tick, 0)[0], FLOOR + 19] })),
    ...[0, 1, 2, 3, 4, 5].map((tick) => ({ label: tick, at: [LEFT - 10, at(0, tick)[1]], anchor: "end" })),
    { label: words.x_axis, at: [at(0.5, 0)[0], FLOOR + 39] },
    { label: words.y_axis, at: [LEFT + 40, 18], anchor: "start" },
    { line: curve, look: "curve" },
    { line: [floor, point, [LEFT, point[1]]], look: "drop" },
    { point },
  ];
}

function scene(state) {
  const { logits, labels, target, words } = state, shown = numbers(state), p = shown.p[target];
  const rows = labels.map((name, j) => ({
    name, note: j === target ? words.target : "", best: j === target,
    cells: [logitSlider(state, j), bar(decimals(shown.p[j]), shown.p[j])],
  }));
  const table = { caption: words.caption, headings: [words.token, words.logit, words.p], rows };
  const terms = [[words.nats, shown.loss], [words.bits, shown.bits], [words.perplexity, shown.perplexity]];
  return {
    name: words.caption,
    said: fill(words.said, { token: labels[target], p: decimals(p), loss: decimals(shown.loss) }),
    parts: [{ beside: [
      [{ picture: { name: words.picture, box: [0, 0, WIDE, HIGH], marks: plot({ p, loss: shown.loss }, words) } }],
      [{ table }, { terms: terms.map(([term, x]) => [term, decimals(x)]) }],
    ] }],
  };
}

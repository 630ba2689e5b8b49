// The picture of _overflow.py.

const ROUNDING = { float16: roundHalf, float32: Math.fround, float64: (x) => x };

// p by exp(z) / sum in one format: every result is rounded to it.
function roundedSoftmax(stored, round) {
  const weights = stored.map((z) => round(Math.exp(z)));
  const sum = weights.reduce((total, weight) => round(total + weight));
  return { sum, p: weights.map((weight) => round(weight / sum)) };
}

function numbers({ logits, offset }) {
  const shown = { exact: [...softmax(logits)] };
  for (const [name, round] of Object.entries(ROUNDING)) {
    const stored = logits.map((z) => round(z + offset));
    const naive = roundedSoftmax(stored, round);
    const largest = Math.max(...stored);
    shown[`stored_${name}`] = stored;
    shown[`sum_${name}`] = naive.sum;
    shown[`naive_${name}`] = naive.p;
    shown[`shifted_${name}`] = roundedSoftmax(stored.map((z) => round(z - largest)), round).p;
  }
  return shown;
}

const ENOUGH = 1e-3; // a probability that is off by less is called right: float16 has three decimal digits
const farthest = (p, exact) => Math.max(...p.map((x, j) => Math.abs(x - exact[j]))); // NaN if any p is

function verdict(words, sum, naiveError, shiftedError) {
  const digits = shiftedError > ENOUGH ? " " + fill(words.inexact, { error: decimals(shiftedError) }) : "";
  if (sum === Infinity) return words.overflow + digits;
  if (sum === 0) return words.underflow + digits;
  if (digits) return digits.trim();
  return naiveError <= ENOUGH ? words.works : words.shift_only;
}

function build(root, state, set, say) {
  const { labels, words } = state;
  const caption = node("p", { class: "lmhead-caption" });
  const cards = Object.keys(ROUNDING).map((name) => {
    const { table, cells } = grid(name, [words.token, words.stored, words.naive, words.shifted], labels);
    const sum = node("span"), said = node("p", { class: "lmhead-note" });
    return { name, cells, sum, said, card: node("div", {}, table, node("p", {}, `${words.sum}: `, sum), said) };
  });
  root.append(caption, node("div", { class: "lmhead-cards" }, ...cards.map(({ card }) => card)));

  return () => {
    const shown = numbers(state), broken = [];
    caption.textContent = fill(words.caption, { offset: state.offset });
    for (const { name, cells, sum, said, card } of cards) {
      const [stored, naive, shifted] = ["stored", "naive", "shifted"].map((form) => shown[`${form}_${name}`]);
      labels.forEach((_, j) => {
        put(cells[j][0], `stored_${name}.${j}`, stored[j], short);
        bar(cells[j][1], `naive_${name}.${j}`, naive[j]);
        bar(cells[j][2], `shifted_${name}.${j}`, shifted[j]);
      });
      const off = farthest(naive, shown.exact), fails = !(off <= ENOUGH);
      put(sum, `sum_${name}`, shown[`sum_${name}`]);
      said.textContent = verdict(words, shown[`sum_${name}`], off, farthest(shifted, shown.exact));
      card.classList.toggle("lmhead-broken", fails);
      if (fails) broken.push(name);
    }
    const names = broken.length ? fill(words.broken, { formats: broken.join(", ") }) : words.none_broken;
    say(fill(words.said, { offset: state.offset, broken: names }));
  };
}

export default { render: (context) => live(context, build) };

// A float64 rounded to the nearest float16, ties to even: the spacing is 2^(exponent - 10), and 2^-24 below 2^-14.
function roundHalf(x) {
  const size = Math.abs(x);
  if (!(size < 65520)) return size >= 65520 ? Math.sign(x) * Infinity : NaN;
  const spacing = 2 ** Math.max(Math.floor(Math.log2(size)) - 10, -24);
  const steps = size / spacing + 2 ** 52 - 2 ** 52; // adding 2^52 rounds to a whole number
  return x < 0 || Object.is(x, -0) ? -steps * spacing : steps * spacing;
}

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
  const cause = sum === Infinity ? words.overflow : sum === 0 ? words.underflow : "";
  const inexact = shiftedError > ENOUGH ? fill(words.inexact, { error: decimals(shiftedError) }) : "";
  return [cause, inexact].filter(Boolean).join(" ") || (naiveError <= ENOUGH ? words.works : words.shift_only);
}

function scene(state) {
  const { labels, offset, words } = state, shown = numbers(state), caption = fill(words.caption, { offset });
  const headings = [words.token, words.stored, words.naive, words.shifted], broken = [];
  const cards = Object.keys(ROUNDING).map((format) => {
    const [stored, sum, naive, shifted] = ["stored", "sum", "naive", "shifted"].map((what) => shown[`${what}_${format}`]);
    const rows = labels.map((name, j) => ({
      name, cells: [short(stored[j]), bar(decimals(naive[j]), naive[j]), bar(decimals(shifted[j]), shifted[j])],
    }));
    const off = farthest(naive, shown.exact), fails = !(off <= ENOUGH);
    if (fails) broken.push(format);
    const said = verdict(words, sum, off, farthest(shifted, shown.exact));
    return { broken: fails, parts: [
      { table: { caption: format, headings, rows } }, { terms: [[words.sum, decimals(sum)]] }, { note: said },
    ] };
  });
  return {
    name: caption,
    said: broken.length ? fill(words.broken, { formats: broken.join(", ") }) : words.none_broken,
    parts: [{ note: caption }, { cards }],
  };
}

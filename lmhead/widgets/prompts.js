// The value of a float16 given as its 16 bits.
function fromHalfBits(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

// The logits come sorted: the named ones as numbers, the others as float16 bytes.
const read = new WeakMap(); // bytes -> all logits: to read them takes longer than all that follows
function allLogits(named, tail) {
  if (!read.has(tail)) {
    const all = new Float64Array(named.length + tail.byteLength / 2);
    all.set(named);
    for (let j = named.length, at = 0; j < all.length; j++, at += 2) all[j] = fromHalfBits(tail.getUint16(at, true));
    read.set(tail, all);
  }
  return read.get(tail);
}

// Null while the bytes of this prompt are on their way.
function numbers(state) {
  const { prompt, top, temperature, top_k, top_p } = state, tail = state[`tail_${prompt}`];
  if (!tail) return null;
  const named = top[prompt].length, logits = allLogits(top[prompt], tail);
  const topK = Math.min(Math.floor(top_k + 0.5), logits.length);
  const { p, kept } = cutSorted(tempered(logits, temperature), { topK, topP: top_p });
  let rest = 0;
  for (let j = named; j < p.length; j++) rest += p[j];
  return { p: [...p.subarray(0, named)], rest, kept };
}

function scene(state) {
  const { prompt, prompts, top, largest, temperature, top_k, top_p, vocab, words } = state, shown = numbers(state);
  const p = shown ? [...shown.p, shown.rest] : [], labels = [...state.labels[prompt], words.rest], named = top[prompt].length;
  const { counts, last, buttons } = draws(state, [prompt, temperature, top_k, top_p], p, labels);
  const caption = fill(words.caption, { prompt: prompts[prompt], vocab: grouped(vocab) });
  const rows = labels.map((name, j) => {
    const text = shown ? decimals(p[j]) : "", rest = j === named; // bars are drawn against the leader; the rest has none
    const cells = [rest ? "" : decimals(largest[prompt] + top[prompt][j]), rest ? { text, bar: null } : bar(text, p[j] / p[0])];
    const row = { name, note: j ? "" : words.greedy, best: !j, cut: shown && !rest && j >= shown.kept, cells };
    return { ...row, cells: counts ? [...cells, String(counts[j])] : cells };
  });
  const headings = [words.token, words.logit, words.p, ...(counts ? [words.draws] : [])];
  const kept = shown && grouped(shown.kept);
  return {
    name: caption, waiting: !shown,
    said: last || (shown ? fill(words.said, { token: labels[0], p: decimals(p[0]), kept }) : words.loading),
    parts: [
      { table: { caption, headings, rows } },
      { note: shown ? fill(words.kept, { kept, vocab: grouped(vocab) }) : words.loading },
      { buttons },
    ],
  };
}

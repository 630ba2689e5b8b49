function numbers({ logits, temperature, top_k, top_p }) {
  const soft = tempered(logits, temperature), ranked = byRank(soft);
  const cut = cutSorted(ranked.map((j) => soft[j]), { topK: top_k, topP: top_p });
  const p = new Array(logits.length).fill(0);
  ranked.forEach((j, rank) => { p[j] = cut.p[rank]; });
  const kept = ranked.slice(0, cut.kept).sort((a, b) => a - b);
  return { before: [...softmax(soft)], p, kept, greedy: argmax(logits) };
}

function scene(state) {
  const { logits, labels, temperature, top_k, top_p, words } = state, { before, p, kept, greedy } = numbers(state);
  const { counts, last, buttons } = draws(state, [logits, temperature, top_k, top_p], p, labels);
  const rows = labels.map((name, j) => {
    const cut = !kept.includes(j), cells = [logitSlider(state, j), bar(decimals(p[j]), cut ? before[j] : p[j])];
    const note = cut ? words.cut : j === greedy ? words.greedy : "";
    return { name, note, cut, best: j === greedy, cells: counts ? [...cells, String(counts[j])] : cells };
  });
  const headings = [words.token, words.logit, words.p, ...(counts ? [words.draws] : [])];
  return {
    name: words.caption,
    said: last || fill(words.said, { token: labels[greedy], p: decimals(p[greedy]), kept: kept.length }),
    parts: [{ table: { caption: words.caption, headings, rows } }, { buttons }],
  };
}

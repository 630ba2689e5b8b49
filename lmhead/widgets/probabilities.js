// The picture of _probabilities.py.

function numbers({ logits, temperature, top_k, top_p }) {
  const soft = tempered(logits, temperature), ranked = byRank(soft);
  const cut = cutSorted(ranked.map((j) => soft[j]), { topK: top_k, topP: top_p });
  const p = new Array(logits.length).fill(0);
  ranked.forEach((j, rank) => { p[j] = cut.p[rank]; });
  const kept = ranked.slice(0, cut.kept).sort((a, b) => a - b);
  return { before: [...softmax(soft)], p, kept, greedy: argmax(logits) };
}

function build(root, state, set, say) {
  const { labels, words } = state;
  const made = grid(words.caption, [words.token, words.logit, words.p, words.draws], labels);
  const { table, rows, cells } = made;
  const reach = reachOf(state.logits);
  const setLogit = labels.map((label, j) =>
    logitSlider(cells[j][0], `logit.${j}`, `${words.logit}: ${label}`, state.logits[j], reach, (value) =>
      set({ logits: replaced(state.logits, j, value) })));
  const marks = rows.map((row) => row.firstChild.appendChild(node("small")));
  const draws = drawing(words, labels, made, say);
  root.append(table, draws.row);

  return () => {
    const { before, p, kept, greedy } = numbers(state);
    labels.forEach((_, j) => {
      const cut = !kept.includes(j);
      setLogit[j](state.logits[j]);
      bar(cells[j][1], `p.${j}`, p[j], cut ? before[j] : p[j]);
      rows[j].classList.toggle("lmhead-cut", cut);
      rows[j].classList.toggle("lmhead-best", j === greedy);
      marks[j].textContent = cut ? words.cut : j === greedy ? words.greedy : "";
    });
    draws.from(p);
    draws.forget();
    say(fill(words.said, { token: labels[greedy], p: decimals(p[greedy]), kept: kept.length }));
  };
}

export default { render: (context) => live(context, build) };

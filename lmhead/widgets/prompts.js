// The picture of _prompts.py. The logits come sorted, the named ones as numbers, the others as float16 bytes.

function allLogits(named, tail) {
  const all = new Float64Array(named.length + tail.byteLength / 2);
  all.set(named);
  for (let j = named.length, at = 0; j < all.length; j++, at += 2) all[j] = fromHalfBits(tail.getUint16(at, true));
  return all;
}

function numbers({ logits, named, temperature, top_k, top_p }) {
  const topK = Math.min(Math.floor(top_k + 0.5), logits.length);
  const { p, kept } = cutSorted(tempered(logits, temperature), { topK, topP: top_p });
  let rest = 0;
  for (let j = named; j < p.length; j++) rest += p[j];
  return { p: [...p.subarray(0, named)], rest, kept };
}

function build(root, state, set, say) {
  const { labels, words, vocab, top } = state;
  const named = top[0].length, logits = {};
  const headings = [words.token, words.logit, words.p, words.draws];
  const made = grid("", headings, [...labels[0], words.rest]);
  const { table, rows, cells } = made;
  const draws = drawing(words, [...labels[0], words.rest], made, say);
  const kept = node("p", { class: "lmhead-note" });
  root.append(table, kept, draws.row);

  return () => {
    const at = state.prompt, tail = state[`tail_${at}`];
    table.caption.textContent = fill(words.caption, { prompt: state.prompts[at], vocab: grouped(vocab) });
    if (!tail) {
      kept.textContent = words.loading;
      return;
    }
    logits[at] ||= allLogits(top[at], tail);
    const shown = numbers({ logits: logits[at], named, temperature: state.temperature, top_k: state.top_k, top_p: state.top_p });
    shown.p.forEach((p, j) => {
      rows[j].firstChild.textContent = labels[at][j];
      put(cells[j][0], `logit.${j}`, state.largest[at] + top[at][j]);
      bar(cells[j][1], `p.${j}`, p, p / shown.p[0]); // bars against the leader
      rows[j].classList.toggle("lmhead-cut", j >= shown.kept);
    });
    rows[0].classList.add("lmhead-best");
    rows[0].firstChild.append(node("small", {}, words.greedy));
    bar(cells[named][1], "rest", shown.rest, 0);
    cells[named][1].classList.add("lmhead-nobar");
    put(kept, "kept", shown.kept, (n) => fill(words.kept, { kept: grouped(n), vocab: grouped(vocab) }));
    draws.from([...shown.p, shown.rest]);
    draws.forget();
    say(fill(words.said, { token: labels[at][0], p: decimals(shown.p[0]), kept: grouped(shown.kept) }));
  };
}

export default { render: (context) => live(context, build) };

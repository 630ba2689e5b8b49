// The picture of _head_cost.py.

function numbers({ positions, d_model, vocab_size, chunk, devices, bytes_per_number }) {
  const share = Math.ceil(vocab_size / devices);
  return {
    logits_bytes: positions * vocab_size * bytes_per_number,
    buffer_bytes: positions * Math.min(chunk, vocab_size) * bytes_per_number,
    head_bytes: d_model * vocab_size * bytes_per_number,
    share_bytes: d_model * share * bytes_per_number,
    share_logits: positions * share * bytes_per_number,
    merged_bytes: 3 * positions * devices * 8,
    multiply_adds: positions * d_model * vocab_size,
  };
}

function build(root, state, set, say) {
  const { words, formulas } = state;
  const names = Object.keys(numbers(state));
  const { table, cells } = grid(words.caption, [words.what, words.formula, words.amount], names.map((name) => words[name]));
  names.forEach((name, i) => { cells[i][0].textContent = formulas[name]; });
  root.append(table);

  return () => {
    const shown = numbers(state), largest = Math.max(shown.logits_bytes, shown.head_bytes);
    names.forEach((name, i) => {
      if (name === "multiply_adds") put(cells[i][1], name, shown[name], grouped);
      else bar(cells[i][1], name, shown[name], shown[name] / largest, bytes);
    });
    say(fill(words.said, { logits: bytes(shown.logits_bytes), buffer: bytes(shown.buffer_bytes) }));
  };
}

export default { render: (context) => live(context, build) };

function numbers({ positions, d_model, vocab_size, chunk, devices, bytes_per_number }) {
  const share = Math.ceil(vocab_size / devices);
  return {
    logits_bytes: positions * vocab_size * bytes_per_number,
    buffer_bytes: positions * Math.min(chunk, vocab_size) * bytes_per_number,
    head_bytes: d_model * vocab_size * bytes_per_number,
    share_bytes: d_model * share * bytes_per_number,
    share_logits: positions * share * bytes_per_number,
    merged_bytes: 3 * positions * devices * 8,
    dh_bytes: positions * d_model * devices * bytes_per_number,
    multiply_adds: positions * d_model * vocab_size,
  };
}

function scene(state) {
  const { words, formulas } = state, shown = numbers(state);
  const largest = Math.max(shown.logits_bytes, shown.head_bytes);
  const rows = Object.entries(shown).map(([key, n]) => ({
    name: words[key],
    cells: [formulas[key], key === "multiply_adds" ? grouped(n) : bar(bytes(n), n / largest)],
  }));
  return {
    name: words.caption,
    said: fill(words.said, { logits: bytes(shown.logits_bytes), buffer: bytes(shown.buffer_bytes) }),
    parts: [{ table: { caption: words.caption, headings: [words.what, words.formula, words.amount], rows } }],
  };
}

function numbers({ d_model, vocab_size, positions, tied }) {
  const matrix = d_model * vocab_size;
  return {
    E: matrix, h: positions * d_model, W_U: matrix, logits: positions * vocab_size,
    parameters: tied ? matrix : 2 * matrix,
  };
}

const LONGEST = 150; // pixels of the longest side

// Sides in pixels: areas are as count to count, and of the ratio of the sides its fourth root is drawn.
function drawnSides([rows, columns]) {
  const ratio = (columns / rows) ** 0.25, area = rows * columns;
  return [Math.sqrt(area / ratio), Math.sqrt(area * ratio)];
}

function scene(state) {
  const { d_model, vocab_size, positions, tied, bytes_per_number, words } = state, shown = numbers(state);
  const names = ["E", "h", "W_U", "logits"];
  const shapes = [[vocab_size, d_model], [positions, d_model], [d_model, vocab_size], [positions, vocab_size]];
  const sides = shapes.map(drawnSides), scale = LONGEST / Math.max(...sides.flat());
  const memory = (n) => bytes(n * bytes_per_number), view = (name) => tied && name === "W_U";
  const rows = names.map((name, i) => ({
    name: words[name],
    cells: [shapes[i].map(grouped).join(" × "), grouped(shown[name]), view(name) ? words.view : memory(shown[name])],
  }));
  const total = { name: words.parameters, best: true, cells: ["", grouped(shown.parameters), memory(shown.parameters)] };
  const all = names.map((name, i) =>
    ({ name: words[name], height: sides[i][0] * scale, width: sides[i][1] * scale, dashed: view(name) }));
  return {
    name: words.caption,
    said: fill(words.said, { W_U: grouped(shown.W_U), bytes: memory(shown.W_U), logits: grouped(shown.logits) }),
    parts: [
      { arrays: { all, note: words.picture } },
      { table: { caption: words.caption, headings: [words.array, words.shape, words.count, words.bytes], rows: [...rows, total] } },
    ],
  };
}

// The picture of _shapes.py.

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

function build(root, state, set, say) {
  const { words } = state;
  const names = ["E", "h", "W_U", "logits"];
  const boxes = names.map(() => node("div", { class: "lmhead-array" }));
  const figures = boxes.map((box, i) => node("div", {}, box, node("span", {}, words[names[i]])));
  const picture = node("div", { class: "lmhead-arrays", "aria-hidden": true }, ...figures);
  const headings = [words.array, words.shape, words.count, words.bytes];
  const { table, rows, cells } = grid(words.caption, headings, [...names.map((name) => words[name]), words.parameters]);
  root.append(picture, node("p", { class: "lmhead-note" }, words.picture), table);

  return () => {
    const { d_model, vocab_size, positions, tied, bytes_per_number } = state;
    const shown = numbers(state);
    const shapes = [[vocab_size, d_model], [positions, d_model], [d_model, vocab_size], [positions, vocab_size]];
    const sides = shapes.map(drawnSides), scale = LONGEST / Math.max(...sides.flat());
    names.forEach((name, i) => {
      boxes[i].style.height = `${sides[i][0] * scale}px`;
      boxes[i].style.width = `${sides[i][1] * scale}px`;
      cells[i][0].textContent = shapes[i].map(grouped).join(" × ");
    });
    boxes[2].classList.toggle("lmhead-view", tied);
    [...names, "parameters"].forEach((name, i) => {
      put(cells[i][1], name, shown[name], grouped);
      cells[i][2].textContent = bytes(shown[name] * bytes_per_number);
    });
    if (tied) cells[2][2].textContent = words.view;
    rows[4].classList.add("lmhead-best");
    say(fill(words.said, {
      W_U: grouped(shown.W_U), bytes: bytes(shown.W_U * bytes_per_number), logits: grouped(shown.logits),
    }));
  };
}

export default { render: (context) => live(context, build) };

// The picture of _gradient_step.py.

function numbers({ logits, target, learning_rate }) {
  const gradient = [...crossEntropyGrad(logits, target)];
  const next_logits = logits.map((z, j) => z - learning_rate * gradient[j]);
  return {
    p: [...softmax(logits)], gradient, loss: crossEntropy(logits, target),
    next_logits, next_loss: crossEntropy(next_logits, target),
  };
}

// On a token's bar an arrow from p to its goal, which is 1 for the target and 0 for the others: as long as |p - onehot|.
function push(cell, p, goal) {
  const place = cell.firstChild, arrow = place.querySelector("b") ?? place.appendChild(node("b"));
  arrow.className = goal > p ? "lmhead-up" : "lmhead-down";
  arrow.style.left = `${100 * Math.min(p, goal)}%`;
  arrow.style.width = `${100 * Math.abs(goal - p)}%`;
}

function build(root, state, set, say) {
  const { labels, words } = state;
  const { table, rows, cells } = grid(words.caption, [words.token, words.logit, words.p, words.gradient], labels);
  const loss = node("dd"), next = node("dd"), steps = node("dd");
  const pair = (name, value) => node("div", {}, node("dt", {}, name), value);
  const list = node("dl", {}, pair(words.loss, loss), pair(words.next_loss, next), pair(words.steps, steps));
  const step = button(words.step, () => set({ logits: numbers(state).next_logits, steps: state.steps + 1 }));
  const reset = button(words.reset, () => set({ logits: state.start, steps: 0 }));
  root.append(table, list, node("p", { class: "lmhead-buttons" }, step, reset));

  return () => {
    const shown = numbers(state);
    labels.forEach((_, j) => {
      put(cells[j][0], `logit.${j}`, state.logits[j]);
      bar(cells[j][1], `p.${j}`, shown.p[j]);
      push(cells[j][1], shown.p[j], j === state.target ? 1 : 0);
      put(cells[j][2], `gradient.${j}`, shown.gradient[j]);
      rows[j].classList.toggle("lmhead-best", j === state.target);
    });
    put(loss, "loss", shown.loss);
    put(next, "next_loss", shown.next_loss);
    put(steps, "steps", state.steps, String);
    say(fill(words.said, { steps: state.steps, loss: decimals(shown.loss) }));
  };
}

export default { render: (context) => live(context, build) };

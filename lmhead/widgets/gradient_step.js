function numbers({ logits, target, learning_rate }) {
  const gradient = [...crossEntropyGrad(logits, target)];
  const next_logits = logits.map((z, j) => z - learning_rate * gradient[j]);
  return {
    p: [...softmax(logits)], gradient, loss: crossEntropy(logits, target),
    next_logits, next_loss: crossEntropy(next_logits, target),
  };
}

function scene(state) {
  const { logits, labels, target, steps, start, words } = state, shown = numbers(state);
  const loss = decimals(shown.loss);
  const rows = labels.map((name, j) => {
    const p = shown.p[j], goal = j === target ? 1 : 0; // an arrow from one to the other is as long as |p - onehot|
    const cells = [decimals(logits[j]), { ...bar(decimals(p), p), arrow: [p, goal] }, decimals(shown.gradient[j])];
    return { name, note: goal ? words.target : "", best: Boolean(goal), cells };
  });
  const step = { name: words.step, set: () => ({ logits: shown.next_logits, steps: steps + 1 }) };
  const reset = { name: words.reset, set: () => ({ logits: start, steps: 0 }) };
  return {
    name: words.caption,
    said: fill(words.said, { steps, loss }),
    parts: [
      { table: { caption: words.caption, headings: [words.token, words.logit, words.p, words.gradient], rows } },
      { terms: [[words.loss, loss], [words.next_loss, decimals(shown.next_loss)], [words.steps, String(steps)]] },
      { buttons: { all: [step, reset] } },
    ],
  };
}

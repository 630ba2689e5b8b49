// What several views' scenes are made of.

// The length of a bar: none for a NaN, and never longer than its cell.
function bar(text, fraction) {
  return { text, bar: Math.min(Math.max(fraction || 0, 0), 1) };
}

// A slider for one logit. It counts its steps from `min`, so that is where the first value lies on a step.
function logitSlider({ logits, start, labels, words }, j) {
  const step = 0.1, reach = Math.max(10, ...start.map((z) => Math.ceil(Math.abs(z))));
  const min = Number((start[j] - Math.ceil((start[j] + reach) / step) * step).toFixed(10));
  const set = (value) => ({ logits: logits.map((z, i) => (i === j ? value : z)) });
  return { text: short(logits[j]), slider: { name: `${words.logit}: ${labels[j]}`, value: logits[j], min, max: reach, step, set } };
}

// Drawn tokens: a button that draws one with a number u from [0, 1), the count of each, and the last one in words.
// They belong to the settings under which they were drawn.
function draws({ drawn, words }, settings, p, labels) {
  const under = JSON.stringify(settings), tokens = drawn?.under === under ? drawn.tokens : [];
  const counts = labels.map((_, j) => tokens.filter((token) => token === j).length);
  const last = tokens.length && fill(words.drawn, { count: tokens.length, token: labels[tokens.at(-1)] });
  const set = (u) => ({ drawn: { under, tokens: [...tokens, drawToken(p, u)] } });
  return { counts: last ? counts : null, last, buttons: { all: [{ name: words.draw, set }], text: last || "" } };
}

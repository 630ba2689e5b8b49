// The head's arithmetic in float64, as lmhead does it: see lmhead/softmax.py, loss.py and decoding.py for the formulas.
// The tests run this file in V8 without a browser and compare it with lmhead.

// The id of the largest entry, the lowest among equals.
function argmax(row) {
  let best = 0;
  for (let j = 1; j < row.length; j++) if (row[j] > row[best]) best = j;
  return best;
}

// (z - max z) / τ: the shift changes no probability and keeps a small τ from overflowing.
function tempered(logits, temperature) {
  const largest = logits[argmax(logits)];
  return logits.map((z) => (z - largest) / temperature);
}

// Each token's weight against the largest logit's 1, and `rest`, the sum of all weights but that 1: it keeps digits
// that 1 + rest has lost. The logits are shifted by the largest, so exp never overflows.
function weigh(logits) {
  const winner = argmax(logits);
  const weight = new Float64Array(logits.length);
  let rest = 0;
  for (let j = 0; j < weight.length; j++) { // `from` would be slow over a whole vocabulary
    weight[j] = Math.exp(logits[j] - logits[winner]);
    if (j !== winner) rest += weight[j];
  }
  return { winner, weight, rest };
}

function softmax(logits) {
  const { weight, rest } = weigh(logits);
  return weight.map((w) => w / (1 + rest));
}

// -log p[target] in nats.
function crossEntropy(logits, target) {
  const { winner, rest } = weigh(logits);
  return logits[winner] - logits[target] + Math.log1p(rest);
}

// p - onehot; at a target that leads, minus the sum of the others' p.
function crossEntropyGrad(logits, target) {
  const { winner, weight, rest } = weigh(logits);
  const grad = weight.map((w) => w / (1 + rest));
  grad[target] = target === winner ? -rest / (1 + rest) : grad[target] - 1;
  return grad;
}

// Ids from the largest logit to the smallest, equal ones in the order of their ids.
function byRank(logits) {
  return Array.from(logits, (_, j) => j).sort((a, b) => logits[b] - logits[a] || a - b);
}

// How many of the ranked tokens top-p keeps: those before which less than topP of the mass lies.
function keptByTopP(rankedP, topP) {
  if (topP === 1) return rankedP.length;
  let before = 0, kept = 0;
  while (kept < rankedP.length && before < topP) before += rankedP[kept++];
  return kept;
}

// p over logits that are sorted from the largest, after top-k and then top-p. Cut tokens get 0.
function cutSorted(sorted, { topK, topP }) {
  const kept = keptByTopP(softmax(sorted.slice(0, topK)), topP);
  const p = new Float64Array(sorted.length);
  p.set(softmax(sorted.slice(0, kept)));
  return { p, kept };
}

// The token at which the running sum of p passes u, which lies in [0, 1).
function drawToken(p, u) {
  let total = 0, token = 0, running = 0;
  for (const x of p) total += x;
  while (token < p.length - 1 && (running += p[token]) <= u * total) token++;
  return token;
}

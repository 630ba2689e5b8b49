// The picture of _loss.py.

function numbers({ logits, target }) {
  const loss = crossEntropy(logits, target);
  return { p: [...softmax(logits)], loss, bits: loss / Math.LN2, perplexity: Math.exp(loss) };
}

const WIDE = 320, HIGH = 230, LEFT = 32, BOTTOM = 40, MOST = 5; // the plot's size, its margins, the highest loss drawn
const atX = (p) => LEFT + p * (WIDE - LEFT - 12);
const atY = (loss) => 12 + (1 - Math.min(loss, MOST) / MOST) * (HIGH - BOTTOM - 12);

function axes(words) {
  const frame = svgNode("path", { class: "lmhead-axis", d: `M${LEFT} 8V${atY(0)}H${WIDE - 8}` });
  const text = (x, y, anchor, content) => svgNode("text", { x, y, "text-anchor": anchor }, String(content));
  const below = [0, 0.25, 0.5, 0.75, 1].map((p) => text(atX(p), atY(0) + 17, "middle", p));
  const beside = [0, 1, 2, 3, 4, 5].map((loss) => text(LEFT - 8, atY(loss) + 4, "end", loss));
  return [frame, ...below, ...beside, text(atX(0.5), HIGH - 5, "middle", words.x_axis), text(LEFT + 8, 18, "start", words.y_axis)];
}

function curve() {
  const points = Array.from({ length: 200 }, (_, i) => Math.exp((-MOST * i) / 199));
  return svgNode("polyline", { class: "lmhead-curve", points: points.map((p) => `${atX(p)},${atY(-Math.log(p))}`).join(" ") });
}

function build(root, state, set, say) {
  const { labels, words } = state;
  const drop = svgNode("path", { class: "lmhead-drop" }), point = svgNode("circle", { class: "lmhead-point", r: 6 });
  const picture = svgNode("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": words.picture });
  picture.append(...axes(words), curve(), drop, point);

  const { table, rows, cells } = grid(words.caption, [words.token, words.logit, words.p], labels);
  const reach = reachOf(state.logits);
  const setLogit = labels.map((label, j) =>
    logitSlider(cells[j][0], `logit.${j}`, `${words.logit}: ${label}`, state.logits[j], reach, (value) =>
      set({ logits: replaced(state.logits, j, value) })));
  const figures = ["loss", "bits", "perplexity"].map((name) => [name, node("dd")]);
  const unit = { loss: words.nats, bits: words.bits, perplexity: words.perplexity };
  const list = node("dl", {}, ...figures.flatMap(([name, value]) => [node("div", {}, node("dt", {}, unit[name]), value)]));
  root.append(node("div", { class: "lmhead-beside" }, picture, node("div", {}, table, list)));

  return () => {
    const shown = numbers(state), p = shown.p[state.target];
    labels.forEach((_, j) => {
      setLogit[j](state.logits[j]);
      bar(cells[j][1], `p.${j}`, shown.p[j]);
      rows[j].classList.toggle("lmhead-best", j === state.target);
    });
    for (const [name, value] of figures) put(value, name, shown[name]);
    dress(point, { cx: atX(p), cy: atY(shown.loss) }, []);
    drop.setAttribute("d", `M${atX(p)} ${atY(0)}V${atY(shown.loss)}H${LEFT}`);
    say(fill(words.said, { token: labels[state.target], p: decimals(p), loss: decimals(shown.loss) }));
  };
}

export default { render: (context) => live(context, build) };

// The picture of _directions.py.

function numbers({ W_U, angle, length }) {
  const radians = (angle * Math.PI) / 180;
  const h = [length * Math.cos(radians), length * Math.sin(radians)];
  const logit = W_U[0].map((x, j) => h[0] * x + h[1] * W_U[1][j]);
  const cosine = logit.map((z, j) => z / (length * Math.hypot(W_U[0][j], W_U[1][j])));
  return { h, logit, cosine, best_logit: argmax(logit), best_cosine: argmax(cosine) };
}

const HALF = 160; // the picture is 320 units wide, the origin in its middle

function arrow(className) {
  const line = svgNode("line", { x1: 0, y1: 0 }), head = svgNode("path", { d: "M0 0L-13 6L-13 -6Z" });
  const text = svgNode("text", { "text-anchor": "middle", dy: "0.35em" });
  const group = svgNode("g", { class: className }, line, head, text);
  const point = (x, y, name) => {
    const length = Math.hypot(x, y), short = Math.max(length - 10, 0) / length;
    dress(line, { x2: x * short, y2: -y * short }, []);
    head.setAttribute("transform", `translate(${x} ${-y}) rotate(${(-Math.atan2(y, x) * 180) / Math.PI})`);
    dress(text, { x: x + (20 * x) / length, y: -y - (16 * y) / length }, []);
    text.textContent = name;
  };
  return { group, point };
}

function build(root, state, set, say) {
  const { W_U, labels, words } = state;
  const lengths = labels.map((_, j) => Math.hypot(W_U[0][j], W_U[1][j]));
  const scale = (HALF - 40) / Math.max(3, ...lengths);
  const axes = svgNode("path", { class: "lmhead-axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` });
  const columns = labels.map(() => arrow("lmhead-arrow")), hidden = arrow("lmhead-arrow lmhead-h");
  const picture = svgNode("svg", { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "img" }, axes);
  picture.setAttribute("aria-label", words.picture);
  picture.append(...columns.map((column) => column.group), hidden.group);

  const headings = [words.token, words.column_length, words.cosine, words.logit];
  const { table, rows, cells } = grid(words.caption, headings, labels);
  const winners = node("p", { class: "lmhead-note" });
  root.append(node("div", { class: "lmhead-beside" }, picture, node("div", {}, table, winners)));
  labels.forEach((label, j) => {
    columns[j].point(W_U[0][j] * scale, W_U[1][j] * scale, label);
    put(cells[j][0], `column_length.${j}`, lengths[j]);
  });

  return () => {
    const { h, logit, cosine, best_logit, best_cosine } = numbers(state);
    hidden.point(h[0] * scale, h[1] * scale, words.h);
    labels.forEach((_, j) => {
      put(cells[j][1], `cosine.${j}`, cosine[j]);
      put(cells[j][2], `logit.${j}`, logit[j]);
      cells[j][1].classList.toggle("lmhead-mark", j === best_cosine);
      cells[j][2].classList.toggle("lmhead-mark", j === best_logit);
      rows[j].classList.toggle("lmhead-best", j === best_logit);
      columns[j].group.classList.toggle("lmhead-best", j === best_logit);
    });
    const text = [
      fill(words.best_logit, { token: labels[best_logit] }),
      fill(words.best_cosine, { token: labels[best_cosine] }),
    ].join("; ");
    winners.textContent = `${text}. ${best_logit === best_cosine ? words.agree : words.disagree}`;
    say(winners.textContent);
  };
}

export default { render: (context) => live(context, build) };

// Of every mark that a view draws: what it is, and points on it, in pixels from the corner of the widget's place.
(place) => {
  const corner = place.getBoundingClientRect(), marks = [];
  const all = (selector, get) => {
    for (const one of place.querySelectorAll(`.widget-view ${selector}`)) {
      const { left, top, width, height } = one.getBoundingClientRect();
      const drawn = one.closest("svg") ? width > 3 || height > 3 : width > 3 && height > 1; // a bar of nothing is none
      const points = get(one, left, top, width, height).map(([x, y]) => [x - corner.left, y - corner.top]);
      if (drawn) marks.push({ what: one.getAttribute("class") ?? one.localName, points });
    }
  };
  const across = (left, width, y) => [0.2, 0.35, 0.5, 0.65, 0.8].map((at) => [left + at * width, y]);
  all(".lmhead-bar i", (one, left, top, width) => [[left + width / 2, top + 1]]);
  all(".lmhead-bar b", (one, left, top, width, height) => [[left + width / 2, top + height / 2]]);
  all(".lmhead-arrays i", (one, left, top, width) => across(left, width, top + 1));
  all("svg text", (one, left, top, width, height) =>
    [0.4, 0.5, 0.6].flatMap((at) => across(left, width, top + at * height)));
  all("circle", (one, left, top, width, height) => [[left + width / 2, top + height / 2]]);
  all("polyline, svg line", (one) => [0.4, 0.5, 0.6].map((fraction) => {
    const { x, y } = one.getPointAtLength(fraction * one.getTotalLength());
    const at = new DOMPoint(x, y).matrixTransform(one.getScreenCTM());
    return [at.x, at.y];
  }));
  return marks;
}

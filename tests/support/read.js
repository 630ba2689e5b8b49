// What the page shows of a widget: texts as they stand in the document, marks as they are painted. A bar is a fraction of
// its cell, an arrow on it goes from one fraction to another, a mark of a picture is at a place in the picture's own units.
(place) => {
  const view = place.querySelector(".widget-view");
  const all = (selector, get, from = view) => [...from.querySelectorAll(selector)].map(get);
  const text = (one) => one.textContent, box = (one) => one.getBoundingClientRect();
  const within = (one, part) => ["left", "right"].map((side) => (box(part)[side] - box(one).left) / box(one).width);
  const table = (one) => ({
    caption: text(one.caption), headings: all("thead th", text, one),
    rows: all("tbody tr", (row) => [...row.children].map(text), one),
  });
  const inPicture = (one, x, y) => {
    const { x: left, y: top } = new DOMPoint(x, y).matrixTransform(one.getScreenCTM());
    const back = one.ownerSVGElement.getScreenCTM().inverse(), at = new DOMPoint(left, top).matrixTransform(back);
    return [at.x, at.y];
  };
  const alongIt = (one, fraction) => {
    const { x, y } = one.getPointAtLength(fraction * one.getTotalLength());
    return inPicture(one, x, y);
  };
  const look = (...properties) => (one) => properties.map((property) => getComputedStyle(one)[property]).join();
  const painted = (one) => one.data.trim() && one.parentNode.checkVisibility({ visibilityProperty: true });
  const words = (group) => {
    const walker = document.createTreeWalker(group, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) if (painted(walker.currentNode)) found.push(walker.currentNode.data);
    return found;
  };
  return {
    fields: all(".widget-row :is(input, select)", ({ value, max, checked, selectedIndex }) =>
      ({ value, max, checked, selectedIndex }), place),
    controls: all(".widget-row", (row) => ({
      label: row.querySelector("label").textContent,
      readout: row.querySelector(".widget-readout")?.textContent,
      spoken: row.querySelector("input")?.getAttribute("aria-valuetext"),
      options: all("option", (option) => option.textContent, row),
    }), place),
    names: all("[aria-label]", (one) => [one.getAttribute("role") ?? one.localName, one.getAttribute("aria-label")]),
    words: words(view.querySelector("[role=group]")),
    said: all("table, dl, .lmhead-note", (one) =>
      one.matches("table") ? table(one) : one.matches("dl") ? { terms: all("div", (pair) => [...pair.children].map(text), one) }
      : { note: text(one) }),
    sliders: all("input[type=range]", (one) => ({
      name: one.getAttribute("aria-label"), spoken: one.getAttribute("aria-valuetext"),
      value: Number(one.value), min: Number(one.min), max: Number(one.max), step: Number(one.step),
    })),
    bars: all(".lmhead-bar i", (one) => within(one.parentNode, one)),
    pushes: all(".lmhead-bar b", (one) =>
      getComputedStyle(one, "::after").right === "-1px" ? within(one.parentNode, one) : within(one.parentNode, one).reverse()),
    arrays: all(".lmhead-arrays i", (one) => [box(one).width, box(one).height]),
    lines: all("polyline", (one) => [0, 0.3, 0.7, 1].map((fraction) => alongIt(one, fraction))),
    arrows: all(".lmhead-arrow", (one) => [alongIt(one.querySelector("path"), 0), alongIt(one.querySelector("line"), 0)]),
    points: all("circle", (one) => inPicture(one, one.cx.baseVal.value, one.cy.baseVal.value)),
    labels: all("svg text", (one) => {
      const { x, y, width, height } = one.getBBox();
      return { label: one.textContent, box: [x, y, x + width, y + height] };
    }),
    looks: {
      row: all("tbody th", look("color", "fontWeight")),
      bar: all(".lmhead-bar i", look("backgroundColor", "opacity")),
      cell: all("tbody td:not(.lmhead-bar, .lmhead-slider)", look("fontWeight", "textDecorationLine")),
      array: all(".lmhead-arrays i", look("backgroundColor", "outlineStyle")),
      card: all(".lmhead-cards > div", look("borderLeftStyle", "borderLeftColor")),
      line: all("polyline", look("stroke", "strokeDasharray")),
      arrow: all(".lmhead-arrow", (one) => [...one.children].map(look("stroke", "fill")).join()),
      label: all("svg text", look("fontWeight")),
    },
  };
}

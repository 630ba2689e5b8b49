// Elements and texts.

const SVG = "http://www.w3.org/2000/svg";

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  return dress(made, attributes, children);
}

function svgNode(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A text with its {gaps} filled.
function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);
}

// Elements, as plain values until they are drawn.

function element(tag, attributes = {}, ...children) {
  return { tag, attributes, children: children.flat(Infinity).filter((child) => child != null && child !== "") };
}

// Makes a place hold the wanted children. What is there stays, so that a slider keeps its focus and a bar glides.
function patch(place, wanted) {
  wanted.forEach((one, at) => {
    const old = place.childNodes[at];
    const here = old?.nodeName.toLowerCase() === (one.tag ?? "#text") ? old : make(one, place);
    if (!old) place.append(here);
    else if (here !== old) old.replaceWith(here);
    if (one.tag) dress(here, one.attributes);
    if (one.tag) patch(here, one.children);
    else if (here.data !== one) here.data = one;
  });
  while (place.childNodes.length > wanted.length) place.lastChild.remove();
}

function make({ tag }, place) {
  if (!tag) return document.createTextNode("");
  const svg = tag === "svg" || place.namespaceURI.endsWith("/svg");
  return svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
}

// Attributes, but what a person sets in a field, and handlers, are properties. Undefined ones are left out.
function dress(here, attributes) {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  for (const { name } of [...here.attributes]) if (attributes[name] === undefined) here.removeAttribute(name);
  for (const [name, value] of given) {
    if (name === "value" || name.startsWith("on")) here[name] = value;
    else if (here.getAttribute(name) !== String(value)) here.setAttribute(name, value);
  }
}

// A text with its {gaps} filled.
function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);
}

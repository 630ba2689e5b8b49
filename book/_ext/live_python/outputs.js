// What a cell shows, as the book shows it.

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Neighbouring texts of one stream as one.
function merged(outputs) {
  const all = [];
  for (const one of outputs) {
    const last = all.at(-1);
    if (one.output_type === "stream" && last?.name === one.name) last.text += one.text;
    else all.push({ ...one });
  }
  return all;
}

function text(kind, ...words) { // classes as MyST-NB gives them
  const pre = element("pre", {}, ...words);
  return element("div", { className: `output ${kind} notranslate` }, element("div", { className: "highlight" }, pre));
}

function drawn(output, cell) {
  if (output.output_type === "stream") return text(`${output.name === "stderr" ? "stderr" : "stream"} highlight-myst-ansi`, output.text);
  if (output.output_type === "error") return error(output, cell);
  const { data, state } = output;
  if (state) return widget(output);
  if (data["image/svg+xml"] || data["image/png"]) return figure(output, cell);
  if (data["text/html"]) return element("div", { className: "output text_html", innerHTML: data["text/html"] });
  return text("text_plain highlight-myst-ansi", `${data["text/plain"]}\n`);
}

// Name and message; in code of the reader's own the line too.
function error({ ename, evalue, line, name }, cell) {
  const message = ename + (evalue ? `: ${evalue}` : "");
  const where = line && cell.changed() ? ` (line ${line}${name === cell.name ? "" : " of another cell"})` : "";
  const said = text("traceback highlight-ipythontb", element("span", { className: "ne", textContent: ename }), `${message.slice(ename.length)}${where}\n`);
  said.setAttribute("role", "alert");
  return said;
}

// With the book's words where all code is the book's, else with the words in the figure itself.
function figure({ data, alt }, cell) {
  const svg = data["image/svg+xml"], stored = cell.output.querySelector("figure") ?? cell.stored.find((node) => node.matches?.("figure"));
  const src = svg ? `data:image/svg+xml,${encodeURIComponent(svg)}` : `data:image/png;base64,${data["image/png"]}`;
  const own = `A figure drawn by this cell's code on this page${alt ? `: ${alt}` : ""}`;
  if (!stored || cell.changed() || anyChanged()) return element("figure", {}, element("img", { src, alt: own }));
  const made = stored.cloneNode(true);
  Object.assign(made.querySelector("img"), { src, alt: stored.querySelector("img").alt });
  return made;
}

const VIEW = "application/vnd.jupyter.widget-view+json";

function widget({ data, state }) {
  const view = element("script", { type: VIEW, textContent: JSON.stringify(data[VIEW]) });
  const place = element("div", { className: "widget" }, view, element("noscript", { textContent: data["text/html"] ?? "" }));
  place.dataset.failed = "This figure could not be drawn; here is its first state.";
  widgetHost().then(() => window.drawWidgets(structuredClone(state), [place]));
  return place;
}

let host;
function widgetHost() { // a page whose notebook stores no widget has neither its script nor its style
  if (window.drawWidgets) return Promise.resolve();
  return (host ??= (() => {
    document.head.append(element("link", { rel: "stylesheet", href: `${livePython.base}../widget_host.css` }));
    return livePython.script("../widget_host.js");
  })());
}

// What a place says in words: two outputs that say the same need no new drawing.
function words(nodes) {
  const all = element("div", {}, ...nodes.map((node) => node.cloneNode(true)));
  const said = [...all.querySelectorAll("noscript, pre, .text_html")].map((one) => (one.matches("noscript") ? plain(one) : one.textContent));
  return said.map((one) => one.trim()).join("\n");
}

function plain(noscript) { // where scripts run, what stands in it is no more than text
  return new DOMParser().parseFromString(noscript.textContent, "text/html").body.textContent;
}

// An editor of code: a text area, whose own letters are unseen, over the same text in colours. The browser brings undo,
// selection, search, spoken text and the keyboards of phones; Tab, Enter and Backspace do what they do in code.

const INDENT = "    ";

function makeEditor(source, { label, run, leave, changed }) {
  const node = Object.assign(document.createElement("div"), { className: "highlight" }); // in which code has its colours
  const layers = Object.assign(document.createElement("div"), { className: "python-editor" });
  const shown = Object.assign(document.createElement("pre"), { ariaHidden: "true" });
  const area = Object.assign(document.createElement("textarea"), { value: source, rows: 1, spellcheck: false });
  for (const [name, value] of Object.entries({ "aria-label": label, autocapitalize: "off", autocomplete: "off", autocorrect: "off", wrap: "off" }))
    area.setAttribute(name, value);
  layers.append(shown, area);
  node.append(layers);

  const draw = () => { shown.innerHTML = `${highlighted(area.value)}\n`; };
  area.addEventListener("input", () => { draw(); changed(area.value); });
  area.addEventListener("scroll", () => { shown.scrollLeft = area.scrollLeft; });
  area.addEventListener("keydown", (event) => {
    const act = (event.ctrlKey || event.metaKey || event.shiftKey) && event.key === "Enter" ? run : keys[event.key];
    if (event.isComposing || event.altKey || !act || act(area, event, leave) === false) return;
    event.preventDefault();
  });
  draw();
  return { node, area, get value() { return area.value; } };
}

// Each answers false where the browser's own way is right.
const keys = {
  Tab(area, { shiftKey }) {
    const { selectionStart: start, selectionEnd: end, value } = area;
    if (start === end && !shiftKey) return write(area, INDENT.slice((start - lineStart(value, start)) % INDENT.length));
    const from = lineStart(value, start);
    const lines = value.slice(from, end).split("\n");
    const moved = lines.map((line) => (shiftKey ? line.replace(/^ {1,4}/, "") : line && INDENT + line));
    area.setSelectionRange(from, end);
    write(area, moved.join("\n"));
    if (start !== end) area.setSelectionRange(from, area.selectionEnd);
    else area.setSelectionRange(...Array(2).fill(Math.max(from, start - (lines[0].length - moved[0].length))));
  },
  Enter(area) {
    const before = area.value.slice(lineStart(area.value, area.selectionStart), area.selectionStart);
    const deeper = /:\s*(#.*)?$/.test(before) ? INDENT : "";
    write(area, `\n${/^\s*/.exec(before)[0]}${deeper}`);
  },
  Backspace(area, { ctrlKey, metaKey }) {
    const { selectionStart: start, selectionEnd: end, value } = area;
    const before = value.slice(lineStart(value, start), start);
    if (start !== end || ctrlKey || metaKey || !/^( {4})+$/.test(before)) return false;
    area.setSelectionRange(start - INDENT.length, start);
    write(area, "");
  },
  Escape(area, event, leave) { leave(); },
};

function lineStart(text, at) {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function write(area, text) { // by this command, since it alone leaves the browser's undo whole
  if (!document.execCommand(text ? "insertText" : "delete", false, text)) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  }
}

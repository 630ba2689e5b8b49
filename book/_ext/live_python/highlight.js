// Python as HTML in the classes of Pygments, in which the book's own code is coloured.

const KEYWORDS = "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
const CONSTANTS = "False None True";
const BUILTINS = "abs all any bool bytes dict dir divmod enumerate filter float format frozenset getattr hasattr hash help hex id input int isinstance iter len list map max min next object open ord pow print property range repr reversed round set setattr slice sorted str sum super tuple type vars zip";
const CLASSES = new Map([["k", KEYWORDS], ["kc", CONSTANTS], ["nb", BUILTINS]].flatMap(
  ([look, words]) => words.split(" ").map((word) => [word, look])));
const TOKEN = /(#.*)|([rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(\b\d[\w.]*(?:(?<=[eE])[-+]\d+)?)|([A-Za-z_]\w*)|([-+*/%@&|^~<>=!:]+)/g;
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function highlighted(source) {
  const escape = (text) => text.replace(/[&<>]/g, (character) => ESCAPES[character]);
  const span = (look, text) => (look ? `<span class="${look}">${escape(text)}</span>` : escape(text));
  let html = "", at = 0;
  for (const found of source.matchAll(TOKEN)) {
    const [text, comment, string, number, word, operator] = found;
    const look = comment ? "c1" : string ? "s2" : number ? "mi" : word ? CLASSES.get(word) : operator ? "o" : "";
    html += escape(source.slice(at, found.index)) + span(look, text);
    at = found.index + text.length;
  }
  return html + escape(source.slice(at));
}

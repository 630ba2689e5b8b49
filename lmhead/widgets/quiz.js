// The questions of quiz.py.

const SPACE = /[ \t\u00a0\u2000-\u200a\u202f\u3000]+/g, MINUS = /[\u2010-\u2015\u2212\ufe63]/g;
const PARTS = /^([+-]?) ?(.*?)(?: ?(?:[eE]|[*xX\u00d7\u00b7] ?10 ?(?:\^|\*\*)) ?([+-]?[0-9]{1,3}))?$/;
const PLAIN = /^(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)$/;
const IN_GROUPS = /^([1-9][0-9]{0,2})([ ',._])([0-9]{3}(?:\2[0-9]{3})*)(?:(?!\2)[.,]([0-9]*))?$/;

// What a typed number may mean; none if it is not understood. The rule is told in quiz.py, at `readings`.
function readings(text, unit) {
  text = text.replace(SPACE, " ").replace(/^ | $/g, "");
  if (unit && text.endsWith(unit)) text = text.slice(0, -unit.length);
  text = text.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => digit.charCodeAt(0) % 16)
    .replace(/[\u3002\u066b]/g, ".").replace(/[\u2018\u2019\u066c]/g, "'").replace(MINUS, "-").replace(/^ | $/g, "");
  const [, sign, digits, power = "0"] = PARTS.exec(text) ?? [null, "", ""], grouped = IN_GROUPS.exec(digits), found = [];
  if (PLAIN.test(digits)) found.push(digits.replace(",", "."));
  if (grouped && !(found.length && grouped[2] === ".")) {
    found.push(`${grouped[1]}${grouped[3].replaceAll(grouped[2], "")}.${grouped[4] ?? ""}`);
  }
  return found.map((number) => Number(`${sign}${number}e${power}`)).filter(Number.isFinite);
}

// What a reply gets: whether it is right, and the message. Null if it is not understood: see `judge` in quiz.py.
function judge(question, reply) {
  if (question.kind === "choice") {
    return { right: reply === question.right, message: question.messages[reply] };
  }
  const read = readings(reply, question.unit);
  const near = (value) => read.some((number) => Math.abs(number - value) <= question.tolerance);
  const right = near(question.answer), slip = question.wrong.find(({ value }) => near(value));
  if (!read.length || (right && slip)) return null;
  return { right, message: right ? "" : slip ? slip.message : question.otherwise };
}

// A text in which `backticks` make code, *one star* emphasis and **two** stress, as elements.
function markedUp(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^\s*][^*]*\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return element("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return element("strong", {}, part.slice(2, -2));
    if (/^\*\S.*\*$/.test(part)) return element("em", {}, part.slice(1, -1));
    return part;
  });
}

// A question as it stands on the page, drawn again after each reply.
function ask(place, question, words) {
  // No other question has this name, though in JupyterLab each cell with questions runs a copy of this script.
  const name = `lmhead-${Math.random().toString(36).slice(2)}`;
  let reply = null; // the place of the chosen answer, or the text in the field
  const change = (given) => { reply = given; show(); };
  const fields = (unread) => question.kind === "choice"
    ? question.answers.map((answer, i) => element("label", {},
      element("input", { type: "radio", name, onchange: () => change(i) }), element("span", {}, markedUp(answer))))
    : [element("label", {}, `${words.answer} `,
      element("input", {
        type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false",
        "aria-invalid": unread ? "true" : undefined, "aria-describedby": unread ? name : undefined,
        oninput: (event) => change(event.target.value.trim() || null),
      }), question.unit && ` ${question.unit}`)];
  const show = (said = [], look = "", unread = false) => patch(place, [
    element("fieldset", {},
      element("legend", {}, `${words.question}. `, markedUp(question.question)),
      fields(unread),
      element("button", { type: "submit" }, words.check),
      element("p", { class: `lmhead-answer ${look}`.trim(), id: name, "aria-live": "polite" }, said)),
  ]);
  place.onsubmit = (event) => {
    event.preventDefault();
    if (reply === null) return show([words.empty]);
    const verdict = judge(question, reply);
    if (!verdict) return show([fill(words.unread, { reply })], "", true);
    const { right, message } = verdict;
    const why = right ? question.because : message;
    show([element("strong", {}, right ? words.right + (why ? ":" : ".") : words.wrong), " ", markedUp(why)],
      right ? "lmhead-right" : "lmhead-wrong");
  };
  show();
}

export default {
  render({ model, el }) {
    const questions = model.get("questions");
    patch(el, [element("div", { class: "lmhead lmhead-quiz", "data-view": model.get("view") }, questions.map(() => element("form")))]);
    questions.forEach((question, i) => ask(el.firstChild.children[i], question, model.get("words")));
  },
};

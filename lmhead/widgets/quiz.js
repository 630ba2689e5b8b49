// The questions of lmhead/quiz.py.

// What a reply gets: whether it is right, and the message.
function judge(question, reply) {
  if (question.kind === "choice") {
    return { right: reply === question.right, message: question.messages[reply] };
  }
  const near = (value) => Math.abs(reply - value) <= question.tolerance;
  if (near(question.answer)) return { right: true, message: "" };
  const slip = question.wrong.find(({ value }) => near(value));
  return { right: false, message: slip ? slip.message : question.otherwise };
}

// A text in which `backticks` make code, *one star* emphasis and **two** stress, as nodes.
function markedUp(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^\s*][^*]*\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return node("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return node("strong", {}, part.slice(2, -2));
    if (/^\*\S.*\*$/.test(part)) return node("em", {}, part.slice(1, -1));
    return part;
  });
}

let asked = 0; // radio buttons of one question share a name that no other question has

function choices(question) {
  const name = `lmhead-${++asked}`;
  const inputs = question.answers.map((_, i) => node("input", { type: "radio", name, value: i }));
  const labels = inputs.map((input, i) => node("label", {}, input, node("span", {}, ...markedUp(question.answers[i]))));
  const reply = () => {
    const at = inputs.findIndex((input) => input.checked);
    return at < 0 ? null : at;
  };
  return { parts: labels, reply };
}

function field(question, words) {
  const input = node("input", { type: "number", step: "any", autocomplete: "off" });
  const label = node("label", {}, `${words.answer} `, input, question.unit ? ` ${question.unit}` : "");
  return { parts: [label], reply: () => (Number.isNaN(input.valueAsNumber) ? null : input.valueAsNumber) };
}

function ask(question, words) {
  const { parts, reply } = question.kind === "choice" ? choices(question) : field(question, words);
  const answer = node("p", { class: "lmhead-answer", "aria-live": "polite" });
  const title = node("legend", {}, `${words.question}. `, ...markedUp(question.question));
  const check = node("button", { type: "submit" }, words.check);
  const form = node("form", {}, node("fieldset", {}, title, ...parts, check, answer));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = reply();
    if (given === null) return answer.replaceChildren(words.empty);
    const { right, message } = judge(question, given);
    answer.className = `lmhead-answer ${right ? "lmhead-right" : "lmhead-wrong"}`;
    const opening = node("strong", {}, right ? words.right : words.wrong);
    answer.replaceChildren(opening, " ", ...markedUp(right ? question.because : message));
  });
  form.addEventListener("input", () => { answer.className = "lmhead-answer"; answer.replaceChildren(); });
  return form;
}

export default {
  render({ model, el }) {
    const words = model.get("words");
    const root = node("div", { class: "lmhead lmhead-quiz", "data-view": model.get("view") });
    root.append(...model.get("questions").map((question) => ask(question, words)));
    el.append(root);
  },
};

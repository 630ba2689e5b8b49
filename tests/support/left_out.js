// What the whole style sheets have and the page's own style has not, of rules that match an element of the page now, or
// would if it were hovered, focused, chosen, open ... Gives their selectors.
() => {
  const STATES = "(hover|active|focus(-within|-visible)?|visited|target|checked|disabled|enabled|invalid|modal|fullscreen|placeholder-shown)";
  const STATE = new RegExp(`:not\\(:${STATES}\\)|:${STATES}(?![\\w-])`, "g"), ANY = ":not(x-none)"; // of any element it is true
  const ELEMENTS = /::?(before|after|first-line|first-letter)(?![\w-])|::[\w-]+(\([^()]*\))?/g;

  // A list of selectors, split at the commas that stand in no bracket.
  const apart = (list) => list.split(/,(?![^()]*\))/).map((one) => one.trim());

  function* rulesOf(rules, under = "") {
    for (const rule of rules) {
      if (rule.styleSheet) yield* rulesOf(rule.styleSheet.cssRules, under);
      else if (rule.selectorText) {
        if ([...rule.style].every((name) => name.startsWith("--"))) continue; // seen where the properties are used
        for (const one of apart(rule.selectorText)) yield [under, one];
      }
      else if (rule.cssRules && !rule.name) yield* rulesOf(rule.cssRules, `${under}@${rule.conditionText} `);
    }
  }
  const key = ([under, selector]) => under + selector;
  const whole = [...document.styleSheets].filter((one) => one.ownerNode?.matches("[data-whole]")); // not what a script fetches
  const own = document.getElementById("cut").sheet;
  const kept = new Set([...rulesOf(own.cssRules)].map(key));
  const left = whole.flatMap((one) => [...rulesOf(one.cssRules)]).filter((one) => !kept.has(key(one)));
  const matched = left.filter(([, selector]) => {
    return document.querySelector(selector.replace(STATE, ANY).replace(ELEMENTS, ANY));
  });
  return { left: left.length, kept: kept.size, matched: matched.map(key) };
}

// A formula that is wider than its column scrolls. Give it a tab stop, so that the keyboard can scroll it too.
(() => {
  const mark = () => {
    for (const formula of document.querySelectorAll(".katex-display")) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("resize", mark);
  document.fonts.ready.then(mark);
})();

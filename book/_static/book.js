// A formula or figure that is wider than its column scrolls. Give it a tab stop, so that the keyboard can scroll it too.
(() => {
  const mark = () => {
    for (const wide of document.querySelectorAll(".katex-display, .cell_output figure")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
      else wide.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("load", mark);
  addEventListener("resize", mark);
  document.fonts.ready.then(mark);
})();

// What is folded is printed unfolded, and is folded again afterwards.
{
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}

// On a narrow page the contents, of the book and of the page, open as dialogs. A choice closes one, and shows where it led;
// else the focus goes back to the button, from which the theme takes it lest its tooltip stays. So its title is left to the
// browser: the script that makes tooltips of titles runs after this one.
for (const side of ["primary", "secondary"]) {
  const button = document.querySelector(`.${side}-toggle`), dialog = document.getElementById(`pst-${side}-sidebar-modal`);
  button?.removeAttribute("data-bs-toggle");
  dialog?.addEventListener("click", (event) => {
    if (event.target.closest("a")) dialog.close("chosen");
  });
  dialog?.addEventListener("close", () => {
    if (dialog.returnValue !== "chosen") button.focus();
    dialog.returnValue = "";
  });
}

// From a file:// address no page may read another: there the search lists what it found without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

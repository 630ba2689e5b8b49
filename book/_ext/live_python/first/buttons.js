// Run and Edit at every code cell whose code is shown. What they do is loaded at the first click.
(() => {
  const { src, dataset } = document.currentScript;
  const base = src.replace(/buttons\.js.*$/, "python/");
  const page = location.pathname.split("/").pop();
  const saved = `edits of ${page}`; // a reader's edits, kept on this device
  const live = (window.livePython = { base, stamp: dataset.stamp, parts: {}, saved, bars: [] });

  // One after the other, as they are asked for. Works from file:// too, where fetch does not.
  live.script = (address) => new Promise((resolve, reject) => {
    const onerror = () => reject(new Error(`${address.replace(/\?.*/, "")} could not be loaded`));
    document.head.append(Object.assign(document.createElement("script"), { src: base + address, async: false, onload: resolve, onerror }));
  });

  let loaded;
  const load = () => (loaded ??= live.script(`cells/${dataset.cells}`).then(() => live.script(`parts/live_python.js${live.stamp}`))
    .then(() => live.open(), (error) => { loaded = undefined; throw error; }));

  function button(text, act) {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.onclick = () => act();
    return made;
  }

  document.querySelectorAll("div.cell").forEach((cell, at) => {
    const input = cell.querySelector(".cell_input");
    if (!input) return; // as a quick check, whose code nobody sees
    const bar = Object.assign(document.createElement("div"), { className: "python-bar" });
    const status = Object.assign(document.createElement("span"), { className: "python-status" });
    status.setAttribute("role", "status");
    const act = (what) => async () => {
      if (!live.run) status.textContent = "Loading";
      bar.classList.add("python-used");
      try {
        await load();
      } catch (error) {
        status.textContent = `${error.message}. Is there a network? Press again.`;
        return;
      }
      status.textContent = "";
      live[what](at);
    };
    if (cell.classList.contains("needs-model")) {
      const archive = Object.assign(document.createElement("a"), { href: `${base}../../course.zip`, textContent: "course.zip" });
      const why = document.createElement("span");
      why.append("The real model is too large for a page: run this cell with make lab, or from ", archive);
      bar.append(why);
    } else bar.append(button("Run", act("run")), button("Edit", act("edit")), button("Run all", act("runAll")), status);
    input.after(bar);
    live.bars[at] = bar;
    cell.addEventListener("pointerdown", () => {
      document.querySelector(".python-touched")?.classList.remove("python-touched");
      cell.classList.add("python-touched");
    });
  });

  let edits;
  try { edits = localStorage.getItem(saved); } catch { /* a browser that keeps nothing */ }
  if (edits) load();
})();

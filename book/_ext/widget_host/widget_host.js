// Draws the widgets of a notebook on a page without a kernel: sliders, menus, check boxes, boxes, links, anywidgets.
(() => {
  const MIME = "application/vnd.jupyter.widget-";

  // ---- models: what an anywidget may ask of its model, less the kernel
  class Model {
    constructor({ model_name, state, buffers = [] }, shared) {
      this.name = model_name;
      this.state = state;
      this.handlers = [];
      this.far = {}; // trait -> key of the file that holds its bytes
      for (const key of ["_esm", "_css"]) if (state[key]) state[key] = shared[state[key].shared];
      for (const { path, data, file } of buffers) {
        if (file) this.far[path[0]] = file;
        else path.slice(0, -1).reduce((at, key) => at[key], state)[path.at(-1)] = bytes(data);
      }
      this.near = new Promise((resolve) => { this.comeNear = resolve; });
    }
    get(key) {
      if (this.far[key]) this.fetch(key);
      return this.state[key];
    }
    set(changes, value) {
      if (typeof changes === "string") changes = { [changes]: value };
      const changed = Object.keys(changes).filter((key) => this.state[key] !== changes[key]);
      Object.assign(this.state, changes);
      for (const key of changed) this.emit(`change:${key}`, changes[key]);
      if (changed.length) this.emit("change");
    }
    on(names, handler) {
      for (const name of names.split(/\s+/)) this.handlers.push({ name, handler });
    }
    off(name, handler) {
      this.handlers = this.handlers.filter((one) => (name && one.name !== name) || (handler && one.handler !== handler));
    }
    emit(name, value) {
      for (const one of this.handlers) if (one.name === name) one.handler(this, value);
    }
    save_changes() {}
    send() {}
    async fetch(key) {
      const file = this.far[key];
      delete this.far[key];
      await this.near;
      await loadScript(`${document.documentElement.dataset.content_root}_static/widget_data/${file}.js`)
        .then(() => this.set(key, bytes(window.widgetData[file])), (error) => this.emit("lost", error));
    }
  }

  function bytes(base64) {
    return new DataView(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer);
  }

  function loadScript(src) { // works from file:// too, where fetch does not
    return new Promise((resolve, reject) => {
      const onerror = () => reject(new Error(`${src} could not be loaded`));
      document.head.append(Object.assign(document.createElement("script"), { src, onload: resolve, onerror }));
    });
  }

  // ---- what is drawn for each kind of model
  function node(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  let controls = 0;
  function row(model, control, ...more) {
    control.id = `widget-${++controls}`;
    control.disabled = Boolean(model.get("disabled"));
    const label = node("label", { htmlFor: control.id }, model.get("description"));
    return node("div", { className: "widget-row" }, label, control, ...more);
  }

  function readout(value, format = "d") {
    const digits = /\.(\d)f/.exec(format)?.[1] ?? 0;
    const [whole, part] = value.toFixed(digits).split(".");
    const grouped = format.startsWith(",") ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
    return part ? `${grouped}.${part}` : grouped;
  }

  // What a slider's position means: its value, or for a logarithmic one a count of equal steps of the exponent.
  function scaleOf(model) {
    const [min, max, step] = ["min", "max", "step"].map((key) => model.get(key));
    if (model.name !== "FloatLogSliderModel") return { min, max, step, toValue: Number, toPosition: (value) => value };
    const base = model.get("base"), count = Math.round((max - min) / step), width = (max - min) / count;
    const toPosition = (value) => Math.round((Math.log(value) / Math.log(base) - min) / width);
    return { min: 0, max: count, step: 1, toValue: (position) => base ** (min + position * width), toPosition };
  }

  function slider(model) {
    const { min, max, step, toValue, toPosition } = scaleOf(model);
    const input = node("input", { type: "range", min, max, step });
    const shown = node("span", { className: "widget-readout", ariaHidden: "true" }); // the slider itself says its value
    const show = () => {
      const value = model.get("value");
      input.value = toPosition(value);
      shown.textContent = readout(value, model.get("readout_format"));
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    input.addEventListener("input", () => model.set("value", toValue(input.value)));
    model.on("change:value", show);
    show();
    return row(model, input, shown);
  }

  function menu(model) {
    const select = node("select", {}, ...model.get("_options_labels").map((text) => node("option", {}, text)));
    const show = () => { select.selectedIndex = model.get("index") ?? -1; };
    select.addEventListener("change", () => model.set("index", select.selectedIndex));
    model.on("change:index", show);
    show();
    return row(model, select);
  }

  function checkBox(model) {
    const input = node("input", { type: "checkbox" });
    const show = () => { input.checked = model.get("value"); };
    input.addEventListener("change", () => model.set("value", input.checked));
    model.on("change:value", show);
    show();
    return row(model, input);
  }

  async function box(model, page) {
    const children = model.get("children").map((child) => draw(page.model(child), page));
    return node("div", { className: model.name === "HBoxModel" ? "widget-hbox" : "widget-vbox" }, ...(await Promise.all(children)));
  }

  const modules = {}, styles = new Set();
  async function anywidget(model, page) {
    const code = model.get("_esm"), css = model.get("_css");
    if (css && !styles.has(css)) document.head.append(node("style", {}, css));
    styles.add(css);
    modules[code] ??= import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    let widget = (await modules[code]).default;
    if (typeof widget === "function") widget = await widget();
    const el = node("div", { className: "widget-view" });
    const late = Object.keys(model.far);
    await widget.initialize?.({ model });
    await widget.render?.({ model, el });
    if (!late.length) return el;
    // Bytes that come late: until they are here the first state stands in.
    const standIn = node("div", { innerHTML: page.standIn });
    const swap = () => { standIn.remove(); el.hidden = false; };
    el.hidden = true;
    for (const key of late) model.on(`change:${key}`, swap);
    model.on("lost", (_, error) => page.fail(error));
    new IntersectionObserver((seen, observer) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      model.comeNear();
    }, { rootMargin: "600px 0px" }).observe(standIn);
    return node("div", {}, standIn, el);
  }

  const DRAW = {
    FloatSliderModel: slider, IntSliderModel: slider, FloatLogSliderModel: slider, DropdownModel: menu,
    CheckboxModel: checkBox, VBoxModel: box, HBoxModel: box, AnyModel: anywidget,
  };
  async function draw(model, page) {
    return DRAW[model.name](model, page);
  }

  // ---- the page
  function join(link, find) {
    const [from, key] = link.get("source"), [to, toKey] = link.get("target");
    const source = find(from), target = find(to);
    source.on(`change:${key}`, () => target.set(toKey, source.get(key)));
    if (link.name === "LinkModel") target.on(`change:${toKey}`, () => source.set(key, target.get(toKey)));
    target.set(toKey, source.get(key));
  }

  async function show(place, find) {
    const view = place.querySelector(`script[type="${MIME}view+json"]`);
    const standIn = place.querySelector("noscript").textContent;
    const fail = (error) => {
      console.error(error);
      const said = node("p", { className: "widget-failed" }, `${place.dataset.failed} (${error.message})`);
      said.setAttribute("role", "alert");
      place.replaceChildren(said, node("div", { innerHTML: standIn }));
    };
    try {
      place.append(await draw(find(JSON.parse(view.textContent).model_id), { model: find, standIn, fail }));
    } catch (error) {
      fail(error);
    }
  }

  // Draws the widgets of a state in their places; a cell that a reader runs on the page calls it too (`live_python`).
  function drawWidgets(stored, places) {
    const models = {};
    for (const [id, spec] of Object.entries(stored.state)) models[id] = new Model(spec, stored.shared);
    const find = (id) => models[id.replace("IPY_MODEL_", "")];
    for (const model of Object.values(models)) if (/LinkModel$/.test(model.name)) join(model, find);
    return Promise.all([...places].map((place) => show(place, find)));
  }
  window.drawWidgets = drawWidgets;

  const stored = document.querySelector(`script[type="${MIME}state+json"]`);
  if (stored) drawWidgets(JSON.parse(stored.textContent), document.querySelectorAll("div.widget"));
})();

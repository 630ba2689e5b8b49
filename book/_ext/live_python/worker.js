// Python, off the page's own thread. The page gives it bytes and cells; it asks for nothing itself.
const given = {}; // file of Pyodide -> its bytes
const TYPES = { wasm: "application/wasm", zip: "application/zip" };
const NOWHERE = "https://python.invalid/"; // Pyodide wants an address; every file that it asks for there is given

// From a file:// address Chromium starts no module worker; this is how Pyodide tells one from a classic worker.
self.importScripts = () => { throw new TypeError("a module worker has no importScripts"); };

self.fetch = async (request) => {
  const name = String(request.url ?? request).replace(NOWHERE, "");
  if (!given[name]) throw new TypeError("Python on a page has no network");
  return new Response(given[name], { headers: { "content-type": TYPES[name.split(".").pop()] ?? "text/plain" } });
};

let python, packages, runCell;

async function module(name) {
  return import(URL.createObjectURL(new Blob([given[name]], { type: "text/javascript" })));
}

// Python's memory just after its start, 30 MB, kept on this device under the build and the browser that made it: the next
// page goes on from there. Where a browser keeps nothing, as from a folder, every page starts Python anew.
const KEPT = "memory of Python";

async function keptMemory(address) {
  const found = await (await caches.open(KEPT)).match(address);
  return found && new Uint8Array(await found.arrayBuffer());
}

async function keepMemory(address, memory) {
  await caches.delete(KEPT); // that of another build
  await (await caches.open(KEPT)).put(address, new Response(memory));
}

async function startPython(load, address) {
  try {
    const memory = await keptMemory(address);
    if (memory) {
      const again = await load({ _loadSnapshot: memory });
      again.runPython("import random; random.seed()"); // else all pages would draw the same numbers
      return again;
    }
  } catch { /* nothing is kept, or it is damaged */ }
  const anew = await load({ _makeSnapshot: true });
  keepMemory(address, anew.makeMemorySnapshot()).catch(() => {}); // a full or private device
  return anew;
}

const actions = {
  async start({ core, version, stamp }) {
    Object.assign(given, core);
    const { loadPyodide } = await module("pyodide.mjs");
    const createPyodideModule = (await module("pyodide.asm.mjs")).default;
    const lockFileContents = { info: { ...version, arch: "wasm32" }, packages: {} }; // we bring the packages ourselves
    const where = { indexURL: NOWHERE, packageBaseUrl: NOWHERE, stdLibURL: `${NOWHERE}python_stdlib.zip` };
    const load = (memory) => loadPyodide({ ...where, createPyodideModule, lockFileContents, ...memory });
    python = await startPython(load, `${NOWHERE}${stamp}?${navigator.userAgent}`);
    packages = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
    for (const name of Object.keys(core)) delete given[name];
  },
  add({ name, bytes }) {
    python.unpackArchive(bytes, "zip", { extractDir: packages });
    if (name === "widgets") python.runPython("import page_runner; page_runner.use_own_display()");
  },
  run({ source, name }) {
    runCell ??= python.runPython("import page_runner; page_runner.run");
    return runCell(source, name, (output) => postMessage({ output: JSON.parse(output) }));
  },
};

let turn = Promise.resolve();
self.onmessage = ({ data }) => {
  turn = turn.then(() => actions[data.do](data)).then(
    (value) => postMessage({ done: data.do, value }),
    (error) => postMessage({ failed: error?.message ?? String(error) }),
  );
};

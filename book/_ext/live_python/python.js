// One Python, in a worker of its own. Stopping it ends the worker: what had no end ends, and every variable is gone.

const ALWAYS = ["numpy", "lmhead"];
const IMPORT = /^[ \t]*(?:from|import)\b[^\n(]*(?:\([^)]*\))?.*|\blmhead\.\w+/gm;

// The parts that a code needs: Python's own way to ask for a module cannot wait for a download.
function partsFor(source) {
  const imports = (source.match(IMPORT) ?? []).join("\n");
  return ALWAYS.concat(Object.keys(WORDS).filter((name) => new RegExp(`\\b(${WORDS[name].join("|")})\\b`).test(imports)));
}

function makePython() {
  let worker, answer, heard;
  const here = new Set();

  function begin() {
    worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => {
      if (data.output) heard(data.output);
      else if (data.failed) answer.reject(new Error(data.failed));
      else answer.resolve(data.value);
    };
    worker.onerror = (event) => answer?.reject(new Error(event.message || "Python could not be started"));
  }

  function ask(message, bytes = []) {
    return new Promise((resolve, reject) => {
      answer = { resolve, reject };
      worker.postMessage(message, bytes.map((one) => one.buffer));
    });
  }

  // Starts Python if it is not there, and brings what the code imports. `say` hears of it: words, and a share from 0 to 1.
  async function prepare(source, say) {
    const missing = partsFor(source).filter((name) => !here.has(name));
    if (worker && !missing.length) return;
    const started = Boolean(worker);
    if (!started) begin();
    const mine = worker;
    const what = started ? `Loading ${missing.join(", ")}` : "Starting Python";
    const names = started ? missing : [...CORE, ...missing];
    const loaded = await allParts(names, (bytes, all) => {
      const size = `${(all / 1e6).toFixed(all < 1e7 ? 1 : 0)} MB, once`;
      say(bytes < all ? `${what}: ${(bytes / 1e6).toFixed(1)} of ${size}` : what, bytes / all);
    });
    if (worker !== mine) throw new Stopped();
    if (!started) {
      const core = Object.fromEntries(CORE.map((name) => [name, loaded[name]]));
      await ask({ do: "start", core, version: VERSION, stamp: STAMP }, Object.values(core));
    }
    for (const name of missing) {
      await ask({ do: "add", name, bytes: loaded[name] }, [loaded[name]]);
      here.add(name);
    }
  }

  function run(source, name, onOutput) {
    heard = onOutput;
    return ask({ do: "run", source, name });
  }

  function stop() {
    worker?.terminate();
    worker = undefined;
    here.clear();
    answer?.reject(new Stopped());
  }

  return { prepare, run, stop, get started() { return Boolean(worker); } };
}

class Stopped extends Error {}

// The parts of Python as bytes: over the network, or from a file:// address as a script.

async function part(name, got) {
  const address = `parts/${name}.data`, stamp = `?v=${PARTS[name].sha256.slice(0, 8)}`;
  let bytes = location.protocol === "file:" ? await fromScript(name, address) : await fetched(address + stamp, got);
  got(PARTS[name].bytes, true);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unzipped(bytes);
  return bytes;
}

async function fromScript(name, address) {
  await livePython.script(`${address}.js`);
  const text = livePython.parts[name];
  delete livePython.parts[name];
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

async function fetched(address, got) {
  const response = await fetch(livePython.base + address);
  if (!response.ok) throw new Error(`${address} could not be loaded (${response.status})`);
  const chunks = [];
  let length = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    got(length);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

async function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// All of these parts, while `progress` hears how many of how many bytes are here.
async function allParts(names, progress) {
  const here = {};
  const total = names.reduce((sum, name) => sum + PARTS[name].bytes, 0);
  let failed = false; // then what the others bring is of no interest any more
  const load = (name) => part(name, (bytes) => {
    if (failed) return;
    here[name] = Math.min(bytes, PARTS[name].bytes);
    progress(Object.values(here).reduce((sum, size) => sum + size, 0), total);
  });
  progress(0, total);
  const loaded = await Promise.all(names.map(load)).catch((error) => { failed = true; throw error; });
  return Object.fromEntries(names.map((name, at) => [name, loaded[at]]));
}

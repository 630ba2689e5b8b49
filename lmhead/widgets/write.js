// How numbers are written, here and in _write.py alike.

// Four decimals; one digit and a power of ten for what they would show as 0, and from a million on.
function decimals(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  const size = Math.abs(x);
  return size > 0 && (size < 5e-5 || size >= 1e6) ? x.toExponential(1) : x.toFixed(4);
}

// The same without zeros at the end, for a number that a slider sets.
function short(x) {
  return decimals(x).replace(/\.(\d*?)0+$/, (_, digits) => digits && `.${digits}`);
}

// A number with its thousands apart.
function grouped(n) {
  return String(n).replace(/\B(?<!\.\d*)(?=(\d{3})+(\.|$))/g, ",");
}

// Bytes in the unit that reads best, with four digits.
function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < 4) { n /= 1024; unit += 1; }
  return `${grouped(Number(n.toPrecision(4)))} ${units[unit]}`;
}

// ---- numbers for people

function digits(value, most = 3) {
  if (!Number.isFinite(value)) return '?';
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(6, most - 1 - size)));
}

// The unit follows the number: 4.12 µs, 12.3 ms, 1.50 s.
function timeText(us) {
  const size = Math.abs(us);
  if (size < 0.005) return '0 µs';
  if (size < 1000) return digits(us) + ' µs';
  if (size < 1e6) return digits(us / 1000) + ' ms';
  return digits(us / 1e6) + ' s';
}

// In one unit, that of the first: for several numbers in a row.
function timesText(...us) {
  const [unit, size] = us[0] < 1000 ? ['µs', 1] : us[0] < 1e6 ? ['ms', 1000] : ['s', 1e6];
  return us.map((value) => digits(value / size)).concat(unit);
}

function intervalText(prediction) {
  const [latency, low, high, unit] = timesText(prediction.latency_us, prediction.low_us, prediction.high_us);
  return prediction.extrapolating ? `a guess: ${low} to ${high} ${unit}` : `${latency} ${unit} (${low} to ${high})`;
}

function countText(n) {
  for (const [size, unit] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (n >= size) return digits(n / size) + ' ' + unit;
  }
  return String(Math.round(n));
}

function bytesText(n) {
  for (const [power, unit] of [[40, 'TiB'], [30, 'GiB'], [20, 'MiB'], [10, 'KiB']]) {
    if (n >= 2 ** power) return digits(n / 2 ** power) + ' ' + unit;
  }
  return n + ' B';
}

function percentText(share) {
  const percent = 100 * share;
  if (Math.abs(percent) < 0.05) return percent > 0 ? '< 0.1 %' : '0 %';
  return percent.toFixed(Math.abs(percent) < 10 ? 1 : 0) + ' %';
}

function counted(n, noun) {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
}

// At most so many characters; of a path the end says most.
function shortened(text, most, keepEnd = false) {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  return keepEnd ? '…' + letters.slice(1 - most).join('') : letters.slice(0, most - 1).join('') + '…';
}

// The step of the colour scale for a share of the time: 0 below half a per cent, doubling to 7 above 32 %.
const HEAT_FROM = [0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];
function heat(share) {
  let step = 0;
  while (step + 1 < HEAT_FROM.length && share >= HEAT_FROM[step + 1]) ++step;
  return step;
}

function heatLegend() {
  return el('div', {class: 'legend', role: 'img', 'aria-label': 'colours: share of the time, from below 0.5 % to above 32 %'},
    el('span', {}, 'share of the time'),
    HEAT_FROM.map((from, i) => el('span', {class: 'swatch h' + i}, i === 0 ? '< ½' : String(100 * from))),
    el('span', {}, '% and more'));
}

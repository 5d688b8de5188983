// ---- targets beside each other, and what was uncertain

function targetsSection(view) {
  const all = view.targets.map((target) => target.raw);
  const low = Math.min(...all.map((t) => t.low_us)), high = Math.max(...all.map((t) => t.high_us));
  const wide = high / Math.max(low, 1e-9) > 30;
  const unit = high < 1000 ? ['µs', 1] : high < 1e6 ? ['ms', 1000] : ['s', 1e6];
  const scale = wide ? logScale(low / unit[1] / 1.3, high / unit[1] * 1.3, 0, 100) : linearScale(0, high / unit[1] * 1.06, 0, 100);
  const row = (t) => whisker(t, scale, unit);
  const ticks = scale.ticks(5).map((tick) => {
    const label = el('span', {class: 'tick'}, tickText(tick));
    label.style.left = scale.at(tick) + '%';
    return label;
  });
  return section('targets', 'Latency on each target',
    'Dot: expected time of one forward pass. Line: interval. A hollow dot on a dashed line is a guess: the model extrapolates. '
    + 'The fastest come first, guesses last.',
    el('div', {class: 'whiskers'}, all.map(row),
      el('div', {class: 'whisker axis-row', 'aria-hidden': 'true'}, el('div', {}), el('div', {class: 'track'}, ticks),
        el('div', {class: 'value soft'}, `${unit[0]} per pass${wide ? ', logarithmic' : ''}`))));
}

// ---- ranked as `cobra-client predict` ranks: the fastest first, guesses behind, and last what a device has no memory for

function isGuess(t) {
  return t.extrapolating || !(t.coverage > 0);
}

// "needs 30.1 GB of 24 GB"; empty if it fits, or if the memory is not known.
function lackOfMemory(t) {
  const gb = t.spec && t.spec.memory_gb, bytes = t.peak_memory_bytes;
  return gb > 0 && bytes > 1e9 * gb ? `needs ${digits(bytes / 1e9, 4)} GB of ${Number(gb.toPrecision(4))} GB` : '';
}

function byRank(a, b) {
  const key = (target) => [lackOfMemory(target.raw) ? 1 : 0, isGuess(target.raw) ? 1 : 0, target.raw.latency_us];
  const [x, y] = [key(a), key(b)];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
}

function tickText(tick) {
  return tick >= 1e5 || (tick && tick < 1e-3) ? tick.toExponential(0) : String(Number(tick.toPrecision(3)));
}

function whisker(t, scale, unit) {
  const at = (us) => scale.at(us / unit[1]);
  const line = el('span', {class: 'line'}), dot = el('span', {class: 'dot'});
  line.style.left = at(t.low_us) + '%';
  line.style.width = Math.max(0, at(t.high_us) - at(t.low_us)) + '%';
  dot.style.left = at(t.latency_us) + '%';
  const grid = scale.ticks(5).map((tick) => {
    const mark = el('span', {class: 'mark'});
    mark.style.left = scale.at(tick) + '%';
    return mark;
  });
  const guess = isGuess(t), lack = lackOfMemory(t);
  return el('div', {class: 'whisker' + (guess ? ' guess' : '')},
    el('div', {class: 'name'}, el('b', {}, t.target), t.spec && el('span', {class: 'soft'}, t.spec.device)),
    el('div', {class: 'track', role: 'img', 'aria-label': `${t.target}: ${intervalText(t)}`}, grid, line, dot),
    el('div', {class: 'value'}, el('b', {}, guess ? timeText(t.latency_us) : intervalText(t)),
      guess && el('span', {}, intervalText({...t, extrapolating: true})),
      lack && el('b', {class: 'lack'}, 'does not fit: ' + lack + ' of memory'),
      t.undisturbed && el('span', {}, 'undisturbed ' + intervalText({...t.undisturbed, extrapolating: guess})),
      el('span', {class: 'soft'}, `confidence ${t.confidence.toFixed(2)}` +
        (t.coverage > 0 ? `; interval holds ${Math.round(100 * t.coverage)} times in 100` : ''))));
}

function uncertainSection(view) {
  const body = view.targets.map((target) => uncertainOf(target, view.networks[target.network]));
  return section('uncertain', 'What is uncertain', 'How the network differs from the training data, and the model’s errors '
    + 'on networks that it had not seen.', el('div', {class: 'cards'}, body));
}

function uncertainOf(target, network) {
  const t = target.raw, errors = t.errors || t.base_target_errors;
  const concerned = new Map();
  for (let i = 0; i < network.size; ++i) {
    const why = target.why(i);
    if (!why) continue;
    if (!concerned.has(why)) concerned.set(why, {count: 0, first: i, us: 0});
    const entry = concerned.get(why);
    ++entry.count;
    entry.us += target.latency[i];
  }
  const callsText = (entry) => `${counted(entry.count, 'call')}, first ${network.module(entry.first) || network.op(entry.first)}`;
  const reasons = t.unknown.map((part) => {
    const entry = concerned.get(part.why);
    concerned.delete(part.why);
    return el('li', {}, el('b', {}, percentText(part.share) + ' of the time: '), part.why, entry && ` (${callsText(entry)})`);
  });
  const calls = [...concerned].sort((a, b) => b[1].us - a[1].us).slice(0, 8).map(([why, entry]) => el('li', {},
    `${timeText(entry.us)}: ${why} (${callsText(entry)})`));
  return el('article', {class: 'card' + (t.extrapolating ? ' warned' : '')},
    el('h3', {}, t.target),
    el('p', {}, t.extrapolating
      ? 'The model extrapolates here: the interval is a guess. A worker on the device can measure what is missing.'
      : reasons.length || calls.length ? 'The interval takes these into account:'
        : 'Every call is like those that the model was trained on.'),
    reasons.length > 0 && el('ul', {}, reasons),
    calls.length > 0 && el('details', {}, el('summary', {}, reasons.length ? 'Other calls that differ' : 'Calls that differ a little'), el('ul', {}, calls)),
    errors && errors.networks_tested > 0 && el('p', {class: 'soft'},
      `${t.errors ? 'Held-out networks' : 'Held-out networks of ' + t.base_target}: ${counted(errors.networks_tested, 'network')}, `
      + `mean error ${percentText(errors.network_mape)}, ${percentText(errors.network_within_10_percent)} of them within 10 %.`),
    t.torch_version && el('p', {class: 'soft'}, `Read as for PyTorch ${t.torch_version}.`));
}

// ---- batch sweep: what `cobra-client sweep --format json` writes, drawn

const SWEEP_HEIGHT = 300;

function sweepSection(view) {
  const sweep = view.data.sweep;
  if (!sweep) return null;
  if (sweep.error) {
    return section('sweep', 'Batch sweep', null, el('p', {}, 'There is no sweep: no other batches of this model were answered.'),
      el('pre', {}, sweep.error));
  }
  const curves = sweep.targets.map((target, colour) => ({target, colour,
    points: target.points.filter((p) => !p.error && p.latency_us > 0 && p.low_us > 0 && p.fits !== false)}));
  if (curves.every((curve) => curve.points.length < 2)) {
    return section('sweep', 'Batch sweep', 'Fewer than two of the requested batches were answered and fit into memory, so there is '
      + 'nothing to draw.', ...sweepTable(sweep));
  }
  const latency = (p) => ({value: p.latency_us / 1000, low: p.low_us / 1000, high: p.high_us / 1000});
  const throughput = (p) => ({value: p.items_per_s, low: p.low_items_per_s, high: p.high_items_per_s});
  const panel = (title, of) => chart(`${title} by batch`, SWEEP_HEIGHT,
    (picture, width) => drawSweep(picture, width, {title, of, curves, batches: sweep.batches})).figure;
  return section('sweep', 'Batch sweep', `Inputs ${sweep.batch_inputs.join(' ')}; B is the batch. Bands: intervals. Hollow points: the `
    + `model extrapolates. Ring: the knee, ${sweep.knee_definition}.`,
    el('div', {class: 'legend'}, curves.map(({target, colour}) => el('span', {class: 'key'}, el('span', {class: 'dot c' + colour}), sweepKey(target)))),
    el('div', {class: 'pair'}, panel('latency in ms (logarithmic)', latency), panel('items per second (logarithmic)', throughput)),
    el('details', {}, el('summary', {}, 'The numbers'), sweepTable(sweep)));
}

function sweepKey(target) {
  const failed = target.points.every((point) => point.error);
  const guess = target.knee && target.knee.extrapolating ? ', a guess' : '';
  const knee = target.knee ? `: knee at batch ${target.knee.batch}, ${digits(target.knee.items_per_s)} a second${guess}` : failed ? ': not answered' : '';
  const end = target.memory && target.memory.ends_at_batch ? `; memory ends at about batch ${target.memory.ends_at_batch}` : '';
  return target.target + knee + end;
}

function drawSweep(picture, width, {title, of, curves, batches}) {
  const all = curves.flatMap((curve) => curve.points.map(of));
  if (!all.length) {
    picture.append(svg('text', {class: 'tick', x: width / 2, y: SWEEP_HEIGHT / 2, 'text-anchor': 'middle'}, 'no answered batch fits into memory'));
    return;
  }
  const direct = curves.length <= 4 && width > 520, right = direct ? Math.min(190, 26 + 7 * Math.max(...curves.map((curve) => curve.target.target.length))) : PLOT.right;
  const first = batches[0], last = batches[batches.length - 1];
  const x = logScale(first / 1.08, last === first ? first * 1.2 : last * 1.08, PLOT.left, width - right);
  const y = logScale(Math.min(...all.map((s) => s.low)) / 1.2, Math.max(...all.map((s) => s.high)) * 1.2, SWEEP_HEIGHT - PLOT.bottom, PLOT.top);
  const room = Math.ceil(batches.length * 34 / (width - right - PLOT.left));
  drawAxes(picture, width, SWEEP_HEIGHT, {scale: x, right, title: 'batch (logarithmic)', text: String, values: batches.filter((_, i) => i % room === 0)},
    {scale: y, title, text: tickText});
  const labels = [];
  for (const {target, colour, points} of curves) {
    if (!points.length) continue;
    const at = (point, key) => `${x.at(point.batch).toFixed(1)},${y.at(of(point)[key]).toFixed(1)}`;
    picture.append(
      svg('polygon', {class: 'band c' + colour, points: [...points.map((p) => at(p, 'high')), ...points.map((p) => at(p, 'low')).reverse()].join(' ')}),
      svg('polyline', {class: 'curve c' + colour, points: points.map((p) => at(p, 'value')).join(' ')}));
    for (const point of points) {
      const cx = x.at(point.batch), cy = y.at(of(point).value);
      picture.append(svg('circle', {class: `point c${colour}${point.extrapolating ? ' hollow' : ''}`, cx, cy, r: 3.5},
        svg('title', {}, `${target.target}, batch ${point.batch}: ${digits(of(point).value)}`)));
      if (target.knee && target.knee.batch === point.batch) picture.append(svg('circle', {class: 'ring c' + colour, cx, cy, r: 8}));
    }
    const end = points[points.length - 1];
    labels.push({y: y.at(of(end).value), x: x.at(end.batch) + 14, text: target.target, colour});
  }
  if (!direct) return;
  for (const label of spread(labels, 15, PLOT.top, SWEEP_HEIGHT - PLOT.bottom)) {
    picture.append(svg('text', {class: 'direct', x: label.x, y: label.y + 4}, shortened(label.text, 24)));
  }
}

function sweepTable(sweep) {
  const rows = sweep.targets.flatMap((target) => target.points.filter((p) => !p.error).map((p) => [target.target, String(p.batch),
    timeText(p.latency_us), `${timeText(p.low_us)} to ${timeText(p.high_us)}`, digits(p.items_per_s), bytesText(p.peak_memory_bytes),
    p.fits === false ? 'does not fit into memory' : p.extrapolating ? 'a guess' : '']));
  const whys = new Map();  // why there is no answer: of which batches
  for (const target of sweep.targets) {
    for (const p of target.points) {
      if (!p.error) continue;
      const why = p.error.message || 'not answered';
      if (!whys.has(why)) whys.set(why, new Set());
      whys.get(why).add(p.batch);
    }
  }
  return [table(['target', 'batch', 'latency', 'interval', 'items per second', 'peak memory', ''], rows, [1, 2, 3, 4, 5]),
    whys.size > 0 && el('ul', {}, [...whys].map(([why, batches]) => el('li', {}, `batch ${[...batches].join(', ')}: ${why}`)))];
}

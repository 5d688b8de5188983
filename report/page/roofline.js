// ---- roofline: how much of the target's arithmetic and bandwidth each kind of call uses

const ROOFLINE_HEIGHT = 420, MOST_POINTS = 300, MOST_COLOURS = 6;

function rooflineSection(view) {
  const detail = el('div', {class: 'detail', 'aria-live': 'polite'});
  const legend = el('div', {class: 'legend'}), caption = el('p', {class: 'note'});
  let data = null;
  const {figure, redraw} = chart('roofline: achieved arithmetic over arithmetic per byte', ROOFLINE_HEIGHT,
    (picture, width) => data && drawRoofline(picture, width, data, detail));
  view.onTarget(() => {
    data = rooflineData(view);
    legend.replaceChildren(...data.families.map((op, i) => el('span', {class: 'key'}, el('span', {class: 'dot c' + i}), op)),
      data.others ? el('span', {class: 'key'}, el('span', {class: 'dot c9'}), 'other operators') : '');
    caption.textContent = rooflineCaption(data);
    detail.textContent = data.points.length ? 'Each point is one operator with one set of shapes; the larger, the longer its time.' : '';
    redraw();
  });
  return section('roofline', 'Roofline', null, caption, legend, figure, detail);
}

// Calls with the same operator, shapes and costs are one point.
function rooflineData(view) {
  const target = view.target(), n = view.network(), c = n.raw.calls, groups = new Map();
  for (let i = 0; i < n.size; ++i) {
    const key = `${c.op[i]}|${c.input[i]}|${c.output[i]}|${n.flops[i]}|${n.bytes[i]}`;
    let group = groups.get(key);
    if (!group) groups.set(key, group = {first: i, op: n.op(i), calls: 0, us: 0, flops: 0, bytes: 0});
    ++group.calls;
    group.us += target.latency[i];
    group.flops += n.flops[i];
    group.bytes += n.bytes[i];
  }
  const all = [...groups.values()].sort((a, b) => b.us - a.us);
  const points = all.filter((g) => g.us > 0 && g.flops > 0 && g.bytes > 0).slice(0, MOST_POINTS);
  const byOp = new Map();
  for (const point of points) byOp.set(point.op, (byOp.get(point.op) || 0) + point.us);
  const families = [...byOp].sort((a, b) => b[1] - a[1]).slice(0, MOST_COLOURS).map(([op]) => op);
  for (const point of points) {
    point.intensity = point.flops / point.bytes;
    point.gflops = point.flops / point.us / 1000;
    point.colour = families.indexOf(point.op);
  }
  const shown = points.reduce((sum, point) => sum + point.us, 0);
  const spec = target.raw.spec || {};
  return {points, families, others: byOp.size > families.length, total: target.total, shown, network: n,
    peak: spec.peak_gflops > 0 ? spec.peak_gflops : 0, bandwidth: spec.memory_gb_per_s > 0 ? spec.memory_gb_per_s : 0};
}

function rooflineCaption(data) {
  if (!data.points.length) return 'No call with arithmetic has its own time on this target.';
  const roofs = data.peak && data.bandwidth ? 'The lines are the peak and the memory bandwidth of the data sheet.'
    : data.peak || data.bandwidth ? 'The data sheet of this target names only one of peak and memory bandwidth.'
      : 'The data sheet of this target names neither a peak nor a memory bandwidth, so there is no roof.';
  return `${roofs} Points above the slope read from caches. Calls without arithmetic or without their own time are left out: `
    + `${percentText(Math.max(0, 1 - data.shown / data.total))} of the time.`;
}

function drawRoofline(picture, width, data, detail) {
  if (!data.points.length) return;
  const xs = data.points.map((p) => p.intensity), ys = data.points.map((p) => p.gflops);
  const ridge = data.peak && data.bandwidth ? [data.peak / data.bandwidth] : [];
  const x = logScale(Math.min(...xs, ...ridge) / 1.6, Math.max(...xs, ...ridge) * 1.6, PLOT.left, width - PLOT.right);
  const top = Math.max(...ys, data.peak || 0) * 1.8;
  const y = logScale(Math.max(Math.min(...ys) / 1.6, top / 1e7), top, ROOFLINE_HEIGHT - PLOT.bottom, PLOT.top);
  drawAxes(picture, width, ROOFLINE_HEIGHT, {scale: x, title: 'FLOP per byte read and written (logarithmic)', text: tickText},
    {scale: y, title: 'GFLOP/s (logarithmic)', text: tickText});
  drawRoofs(picture, data, x, y, width);
  const marks = [...data.points].reverse().filter((point) => point.gflops >= y.low).map((point) => {
    const share = point.us / data.total, n = data.network;
    const where = point.calls === 1 ? n.module(point.first) : counted(point.calls, 'call');
    const text = `${point.op} ${n.input(point.first)} → ${n.output(point.first)} (${where || 'network'}): ${timeText(point.us)}, `
      + `${percentText(share)}; ${digits(point.gflops)} GFLOP/s at ${digits(point.intensity)} FLOP per byte`
      + (data.peak ? `, ${percentText(point.gflops / data.peak)} of the peak` : '');
    const tell = () => { detail.textContent = text; };
    return svg('circle', {class: 'point c' + (point.colour < 0 ? 9 : point.colour), cx: x.at(point.intensity), cy: y.at(point.gflops),
      r: (3 + 16 * Math.sqrt(Math.min(1, share))).toFixed(1), role: 'img', 'aria-label': text, onfocus: tell, onmouseenter: tell});
  });
  picture.append(...marks);
  rovingList([...marks].reverse());
}

function drawRoofs(picture, data, x, y, width) {
  const right = width - PLOT.right;
  const clip = (gflops) => y.at(Math.max(y.low, Math.min(y.high, gflops)));
  if (data.peak) {
    const from = data.bandwidth ? Math.max(x.low, data.peak / data.bandwidth) : x.low;
    picture.append(svg('line', {class: 'roof', x1: x.at(from), x2: right, y1: clip(data.peak), y2: clip(data.peak)}),
      svg('text', {class: 'direct', x: right - 4, y: clip(data.peak) - 6, 'text-anchor': 'end'}, `peak ${digits(data.peak)} GFLOP/s`));
  }
  if (data.bandwidth) {
    const low = Math.max(x.low, y.low / data.bandwidth), high = data.peak ? data.peak / data.bandwidth : Math.min(x.high, y.high / data.bandwidth);
    const middle = low ** 0.4 * high ** 0.6;  // left of it, above the slope, is room for the label
    picture.append(svg('line', {class: 'roof', x1: x.at(low), x2: x.at(high), y1: clip(low * data.bandwidth), y2: clip(high * data.bandwidth)}),
      svg('text', {class: 'direct', x: x.at(middle) - 8, y: clip(middle * data.bandwidth) - 8, 'text-anchor': 'end'}, `memory ${digits(data.bandwidth)} GB/s`));
  }
}

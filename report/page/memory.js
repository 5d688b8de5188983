// ---- memory over the execution order, above what lives throughout

const MEMORY_HEIGHT = 300;

function memorySection(view) {
  const detail = el('div', {class: 'detail', 'aria-live': 'polite'});
  let data = null, cursor = 0, base = 'zero';
  const slider = el('input', {type: 'range', min: 0, step: 1, 'aria-label': 'call at which memory is read', oninput: () => {
    cursor = Number(slider.value);
    redraw();
  }});
  const {figure, redraw} = chart('memory over the execution order', MEMORY_HEIGHT, (picture, width) => {
    if (!data) return;
    drawMemory(picture, width, data, cursor, base === 'zero' ? 0 : data.always);
    const n = data.network;
    detail.textContent = `call ${cursor}, ${n.module(cursor) || 'network'} · ${n.op(cursor)}: ${bytesText(data.during[cursor])}, `
      + `${bytesText(data.during[cursor] - data.always)} above the floor`;
  });
  figure.addEventListener('click', (event) => {
    const box = figure.getBoundingClientRect(), right = PLOT.right;
    const share = (event.clientX - box.left - PLOT.left) / (box.width - PLOT.left - right);
    cursor = Math.max(0, Math.min(data.network.size - 1, Math.round(share * (data.network.size - 1))));
    slider.value = cursor;
    redraw();
  });
  view.onTarget(() => {
    const network = view.network(), {always_bytes: always, during_call_bytes: during} = network.raw.memory;
    if (data && data.network === network) return;
    let peak = 0;
    for (let i = 1; i < during.length; ++i) if (during[i] > during[peak]) peak = i;
    data = {network, always, during, peak};
    cursor = peak;
    slider.max = during.length - 1;
    slider.value = peak;
    redraw();
  });
  return section('memory', 'Memory over the execution order',
    'During each call: what lives throughout (inputs, parameters, buffers: the floor), the tensors that are still needed, and the '
    + 'workspace of the call, as LibTorch’s allocator counts them.',
    el('div', {class: 'bar'}, choice('axis from', [['zero', 'From zero'], ['floor', 'Above the floor']], base, (from) => { base = from; redraw(); })), figure, slider, detail);
}

// The axis begins at `base` bytes.
function drawMemory(picture, width, data, cursor, base) {
  const {during, network, peak} = data, bottom = MEMORY_HEIGHT - PLOT.bottom;
  const most = during[peak] - base || 1, power = most >= 2 ** 30 ? [2 ** 30, 'GiB'] : most >= 2 ** 20 ? [2 ** 20, 'MiB'] : most >= 2 ** 10 ? [2 ** 10, 'KiB'] : [1, 'bytes'];
  const x = linearScale(0, Math.max(1, during.length - 1), PLOT.left, width - PLOT.right);
  const y = linearScale(0, most / power[0] * 1.12, bottom, PLOT.top);
  const at = (bytes) => y.at((bytes - base) / power[0]);
  drawAxes(picture, width, MEMORY_HEIGHT, {scale: x, title: 'call, in the order in which they run', text: (tick) => String(Math.round(tick)),
    values: x.ticks(Math.max(2, Math.floor(width / 90))).filter((tick) => Number.isInteger(tick))}, {scale: y, title: base ? `${power[1]} above the floor` : power[1], text: tickText});
  // Of several calls on one pixel the largest counts: a peak must not disappear.
  const columns = Math.max(1, Math.floor(width - PLOT.left - PLOT.right)), line = [];
  const step = Math.max(1, during.length / columns);
  for (let from = 0; from < during.length; from += step) {
    let best = Math.floor(from);
    for (let i = best; i < Math.min(from + step, during.length); ++i) if (during[i] > during[best]) best = i;
    line.push(`${x.at(best).toFixed(1)},${at(during[best]).toFixed(1)}`);
  }
  const floor = at(data.always);
  picture.append(
    svg('polygon', {class: 'memory-live', points: `${x.at(0)},${floor} ${line.join(' ')} ${x.at(during.length - 1)},${floor}`}),
    svg('rect', {class: 'memory-floor', x: PLOT.left, y: floor, width: Math.max(0, width - PLOT.left - PLOT.right), height: Math.max(0, bottom - floor)}),
    svg('polyline', {class: 'memory-line', points: line.join(' ')}),
    svg('line', {class: 'cursor', x1: x.at(cursor), x2: x.at(cursor), y1: PLOT.top, y2: bottom}));
  const room = bottom - floor;
  picture.append(svg('text', {class: 'direct', x: PLOT.left + 8, y: room > 22 ? floor + 16 : floor - 6}, `floor ${bytesText(data.always)}`));
  const onLeft = x.at(peak) > width / 2;
  picture.append(svg('circle', {class: 'memory-peak', cx: x.at(peak), cy: at(during[peak]), r: 4}),
    svg('text', {class: 'direct', x: x.at(peak) + (onLeft ? -8 : 8), y: at(during[peak]) - 8, 'text-anchor': onLeft ? 'end' : 'start'},
      shortened(`peak ${bytesText(during[peak])}, ${network.module(peak) || network.op(peak)}`, 44)));
}

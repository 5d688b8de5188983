// ---- charts: scales, axes, and drawing again when the room changes

function linearScale(low, high, from, to) {
  const at = (value) => from + (value - low) / (high - low || 1) * (to - from);
  const ticks = (most) => {
    const rough = (high - low) / Math.max(1, most);
    const decade = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map((digit) => digit * decade).find((size) => size >= rough) || decade;
    const list = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) list.push(tick);
    return list;
  };
  return {at, ticks, low, high, log: false};
}

function logScale(low, high, from, to) {
  const at = (value) => from + Math.log(value / low) / Math.log(high / low) * (to - from);
  const ticks = (most) => {
    const decades = Math.log10(high / low);
    const digitsOfDecade = decades * 3 <= most ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / Math.max(1, most)));
    const list = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
      if (power % every !== 0) continue;
      for (const digit of digitsOfDecade) {
        const tick = digit * 10 ** power;
        if (tick >= low * 0.999 && tick <= high * 1.001) list.push(tick);
      }
    }
    return list;
  };
  return {at, ticks, low, high, log: true};
}

// A figure that draw(picture, width) fills, again whenever its width changes. Returns the element and `redraw`.
function chart(label, height, draw) {
  const figure = el('div', {class: 'chart'});
  let width = 0;
  const redraw = () => {
    if (width < 50) return;
    const picture = svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': label});
    draw(picture, width);
    figure.replaceChildren(picture);
  };
  new ResizeObserver(() => {
    const now = Math.floor(figure.clientWidth);
    if (now === width) return;
    width = now;
    redraw();
  }).observe(figure);
  return {figure, redraw};
}

const PLOT = {left: 62, right: 14, top: 26, bottom: 44};

// Grid lines with numbers and the two titles. `x` and `y` have a scale, a title and a text for numbers.
function drawAxes(picture, width, height, x, y) {
  const right = width - (x.right || PLOT.right), bottom = height - PLOT.bottom;
  picture.append(svg('text', {class: 'axis-title', x: 4, y: 14}, y.title));
  for (const tick of y.scale.ticks(6)) {
    const at = y.scale.at(tick);
    picture.append(svg('line', {class: 'grid', x1: PLOT.left, x2: right, y1: at, y2: at}),
      svg('text', {class: 'tick', x: PLOT.left - 8, y: at + 4, 'text-anchor': 'end'}, y.text(tick)));
  }
  const room = Math.max(2, Math.floor((right - PLOT.left) / 64));
  for (const tick of x.values || x.scale.ticks(room)) {
    const at = x.scale.at(tick);
    picture.append(svg('line', {class: x.values ? 'axis' : 'grid', x1: at, x2: at, y1: x.values ? bottom : PLOT.top, y2: bottom + 4}),
      svg('text', {class: 'tick', x: at, y: bottom + 18, 'text-anchor': 'middle'}, x.text(tick)));
  }
  picture.append(svg('line', {class: 'axis', x1: PLOT.left, x2: right, y1: bottom, y2: bottom}),
    svg('text', {class: 'axis-title', x: (PLOT.left + right) / 2, y: height - 6, 'text-anchor': 'middle'}, x.title));
}

// Labels at given heights, moved so that none lies on another.
function spread(labels, least, top, bottom) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => { label.y = Math.max(label.y, i ? labels[i - 1].y + least : top); });
  for (let i = labels.length - 1; i >= 0; --i) {
    labels[i].y = Math.min(labels[i].y, i + 1 < labels.length ? labels[i + 1].y - least : bottom);
  }
  return labels;
}

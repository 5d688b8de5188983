// ---- arrows between the boxes of one frame. An arrow to the next row is a curve; one over several rows runs beside the
// boxes, in a lane for each box with such arrows.

const MOST_LANES = 6, LANE = 9;

// `drawn`: the elements of the boxes, by index. What comes from outside comes down from the frame's top.
function wiresOf(body, drawn, {boxes, edges}) {
  const lanes = new Map();
  const links = [];
  let left = 0;
  const add = (from, fromRow, to) => {
    const long = to.row > fromRow + 1;
    if (long && !lanes.has(from)) {
      if (lanes.size === MOST_LANES) { ++left; return; }
      lanes.set(from, lanes.size);
    }
    links.push({from: drawn.get(from), to: drawn.get(to.index), lane: long ? lanes.get(from) : -1});
  };
  const top = Math.min(...boxes.map((box) => box.row));
  for (const box of boxes) if (box.enters && drawn.has(box.index)) add(null, top - 1, box);
  for (const [from, to] of edges) if (drawn.has(from.index) && drawn.has(to.index)) add(from.index, from.row, to);
  body.style.paddingRight = lanes.size ? 6 + LANE * lanes.size + 'px' : '';
  if (left) body.append(el('p', {class: 'soft'}, `${counted(left, 'longer arrow')} left out`));
  return {body, links};
}

// All places are read before anything is added: else each arrow would have the page laid out again.
function drawWires(all) {
  const pictures = [];
  for (const {body, links} of all) {
    if (!links.length || !body.isConnected) continue;
    const frame = body.getBoundingClientRect();
    const zoom = frame.width / (body.offsetWidth || frame.width) || 1;  // a printed picture is smaller
    const width = frame.width / zoom;
    const rect = (element) => {
      const r = element.getBoundingClientRect(), row = element.parentElement;
      const around = row.classList.contains('many') ? r : row.getBoundingClientRect();
      return {last: element === row.lastElementChild, rowTop: (around.top - frame.top) / zoom, rowBottom: (around.bottom - frame.top) / zoom, right: (r.right - frame.left) / zoom, top: (r.top - frame.top) / zoom, bottom: (r.bottom - frame.top) / zoom,
        x: ((r.left + r.right) / 2 - frame.left) / zoom, y: ((r.top + r.bottom) / 2 - frame.top) / zoom};
    };
    const paths = links.flatMap(({from, to, lane}) => {
      const b = rect(to);
      const a = from ? rect(from) : {x: b.x, y: -9, bottom: -11, rowBottom: -11, last: true, right: lane < 0 ? 0 : width / 2};
      return lane < 0 ? shortWire(a, b) : longWire(a, b, width - 4 - LANE * lane);
    });
    pictures.push([body, svg('svg', {class: 'wires', width, height: frame.height / zoom, 'aria-hidden': 'true'}, paths)]);
  }
  for (const [body, picture] of pictures) {
    for (const old of body.querySelectorAll(':scope > svg')) old.remove();
    body.append(picture);
  }
}

// Straight beside the other boxes of both rows, bent between the rows.
function shortWire(a, b) {
  const bend = Math.max(4, (b.rowTop - a.rowBottom) / 2);
  return [svg('path', {class: 'wire', d: `M${a.x} ${a.bottom}V${a.rowBottom}C${a.x} ${a.rowBottom + bend} ${b.x} ${b.rowTop - bend} ${b.x} ${b.rowTop}V${b.top - 5}`}),
    svg('path', {class: 'tip', d: `M${b.x} ${b.top}l-4 -7h8z`})];
}

// At a box with others beside it, through the room between the rows.
function longWire(a, b, right) {
  const turn = 5, aside = 10;
  const begin = a.last ? `M${a.right} ${a.y}` : `M${a.x + aside} ${a.bottom}V${a.rowBottom + 2}q0 ${turn} ${turn} ${turn}`;
  const end = b.last ? `V${b.y - turn}q0 ${turn} ${-turn} ${turn}H${b.right + 5}`
    : `V${b.rowTop - 2 * turn - 2}q0 ${turn} ${-turn} ${turn}H${b.x + aside + turn}q${-turn} 0 ${-turn} ${turn}V${b.top - 5}`;
  return [svg('path', {class: 'wire', d: `${begin}H${right - turn}q${turn} 0 ${turn} ${turn}${end}`}),
    svg('path', {class: 'tip', d: b.last ? `M${b.right} ${b.y}l7 -4v8z` : `M${b.x + aside} ${b.top}l-4 -7h8z`})];
}

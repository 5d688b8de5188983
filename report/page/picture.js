// ---- the network as a picture: boxes inside boxes, laid out by the browser; wires.js draws the arrows

const OPENED_AT_FIRST = 36;   // boxes, about
const OPENED_FROM = 0.03;     // share of the time
const MOST_SIBLINGS = 48;     // of alike boxes that are shown one by one

function pictureSection(view) {
  const state = {open: new Map()};  // box index -> 'first' (represents all equal ones) or 'each'
  const canvas = el('div', {class: 'picture'});
  const detail = el('div', {class: 'detail', 'aria-live': 'polite'}, 'Click a box to open it, a call for its details.');
  const wires = new Set();
  const redraw = () => {
    const target = view.target(), network = view.network();
    wires.clear();
    const root = drawBox({view, target, network, state, detail, wires, again: redraw}, network.root, [0], 0);
    canvas.replaceChildren(tensors('input', network.raw.inputs.map((t) => `${t.name} ${t.type}`)), root,
      tensors('output', network.raw.outputs));
    if (canvas.isConnected) drawWires(wires);
  };
  const reset = () => {
    state.open = openedAtFirst(view.network(), view.target());
    redraw();
  };
  const openMore = () => {
    state.open = openedAtFirst(view.network(), view.target(), state.open, 2 * OPENED_AT_FIRST, 0);
    redraw();
  };
  view.onTarget(reset);
  new ResizeObserver(() => drawWires(wires)).observe(canvas);
  view.onPrint(() => { state.open = openedAtFirst(view.network(), view.target(), state.open, 64, 0.01); redraw(); });
  return section('picture', 'The network',
    'Boxes are modules and calls in execution order; equal structures are shown once, with their number. '
    + 'The darker (on a dark page the brighter), the larger the share of the time.',
    el('div', {class: 'bar'}, heatLegend(), el('div', {class: 'choice'},
      el('button', {type: 'button', onclick: openMore}, 'Unfold more'),
      el('button', {type: 'button', onclick: () => { state.open = new Map([[0, 'first']]); redraw(); }}, 'Fold all'),
      el('button', {type: 'button', onclick: reset}, 'As at first'))),
    el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'picture of the network'}, canvas), detail);
}

function tensors(what, texts) {
  const shown = texts.slice(0, 6);
  return el('div', {class: 'tensors'}, el('span', {class: 'soft'}, what), shown.map((text) => el('span', {class: 'tensor'}, shortened(text, 60))),
    texts.length > shown.length && el('span', {class: 'soft'}, `and ${texts.length - shown.length} more`));
}

// The network, then whatever takes most of the time, while about `most` boxes are to be seen.
function openedAtFirst(network, target, already = new Map(), most = OPENED_AT_FIRST, least = OPENED_FROM) {
  const open = new Map(already).set(0, already.get(0) || 'first');
  const closed = [];
  let count = 0;
  const see = (box, shifts) => {
    if (open.has(box.index) && canOpen(box)) {
      const inside = insideOf(box, shifts);
      for (const child of inside.boxes) see(child, inside.shifts);
      return;
    }
    ++count;
    if (canOpen(box)) closed.push({box, shifts, share: boxTime(target, box, shifts) / target.total});
  };
  see(network.root, [0]);
  while (closed.length) {
    closed.sort((a, b) => a.share - b.share);
    const {box, shifts, share} = closed.pop();
    const inside = insideOf(box, shifts);
    if (share < least || !(share >= 0)) break;
    if (count + inside.boxes.length > most) continue;
    open.set(box.index, 'first');
    --count;
    for (const child of inside.boxes) see(child, inside.shifts);
  }
  return open;
}

function drawBox(p, box, shifts, depth) {
  const us = boxTime(p.target, box, shifts), share = p.target.total > 0 ? us / p.target.total : 0;
  const label = boxLabel(p.network, box);
  if (box.kind === CALL || !canOpen(box) || !p.state.open.has(box.index)) return closedBox(p, box, {us, share, label});
  return openBox(p, box, shifts, depth, {us, share, label});
}

function closedBox(p, box, {us, share, label}) {
  const single = box.kind === CALL || (box.kind === ALIKE && box.children[0].kind === CALL);
  const openable = canOpen(box);
  const what = single ? (box.label ? p.network.op(box.first) + ' ' : '') + p.network.output(box.first) : counted(box.end - box.first, 'call');
  const button = el('button', {type: 'button', class: `box h${heat(share)}${box.kind === ALIKE ? ' stack' : ''}`,
    'data-box': box.index, 'aria-expanded': openable ? 'false' : null, title: label,
    onclick: () => openable ? open(p, box, 'first') : p.detail.replaceChildren(callDetail(p, box, us, share))},
    el('span', {class: 'label'}, openable && el('span', {class: 'fold', 'aria-hidden': 'true'}, '▸'), shortened(label, 26, true)),
    el('span', {class: 'time'}, timeText(us)),
    el('span', {class: 'sub'}, shortened(what, 32)), el('span', {class: 'share'}, percentText(share)));
  return button;
}

function open(p, box, how) {
  if (how) p.state.open.set(box.index, how);
  else p.state.open.delete(box.index);
  p.again();
  const again = document.querySelector(`.picture [data-box="${box.index}"]`);
  if (again) again.focus({preventScroll: true});
}

function openBox(p, box, shifts, depth, {us, share, label}) {
  const each = box.kind === ALIKE && p.state.open.get(box.index) === 'each';
  const inside = each ? {boxes: box.children.slice(0, MOST_SIBLINGS), edges: box.edges, shifts} : insideOf(box, shifts);
  const body = el('div', {class: 'rows'});
  const drawn = new Map();
  const rows = new Map();
  for (const child of inside.boxes) {
    if (!rows.has(child.row)) rows.set(child.row, []);
    rows.get(child.row).push(child);
  }
  for (const row of [...rows.keys()].sort((a, b) => a - b)) {
    body.append(el('div', {class: rows.get(row).length > 4 ? 'row many' : 'row'}, rows.get(row).map((child) => {
      const element = drawBox(p, child, inside.shifts, depth + 1);
      drawn.set(child.index, element);
      return element;
    })));
  }
  const hidden = each ? box.children.length - inside.boxes.length : 0;
  p.wires.add(wiresOf(body, drawn, inside));
  return el('div', {class: `frame d${depth % 2}`, role: 'group', 'aria-label': label},
    el('div', {class: 'head'},
      el('button', {type: 'button', class: 'title', 'aria-expanded': 'true', 'data-box': box.index, title: label,
        onclick: () => open(p, box, null)},
        el('span', {class: 'fold', 'aria-hidden': 'true'}, '▾'), shortened(label, 40, true)),
      el('span', {class: 'soft'}, `${timeText(us)} · ${percentText(share)}`),
      box.kind === ALIKE && el('button', {type: 'button', class: 'small', onclick: () => open(p, box, each ? 'first' : 'each')},
        each ? 'all as one' : 'one by one'),
      box.kind === ALIKE && !each && el('span', {class: 'soft'}, `times of all ${box.children.length}`)),
    body, hidden > 0 && el('p', {class: 'soft'}, `${hidden} more like these`));
}

function callDetail(p, box, us, share) {
  const i = box.first, n = p.network, place = n.place(i), why = p.target.why(i);
  const fact = (name, value) => value ? [el('dt', {}, name), el('dd', {}, value)] : [];
  return el('div', {}, el('h3', {}, `${n.module(i) || 'network'} · ${n.op(i)}`),
    el('dl', {}, fact('time', `${timeText(us)}, ${percentText(share)}` + (box.kind === ALIKE ? `, ${box.children.length} calls together` : '')),
      fact('alone', p.target.alone[i] > 0 ? timeText(p.target.alone[i]) : ''),
      fact('shapes', `${n.input(i)} → ${n.output(i)}`),
      fact('work', `${countText(n.flops[i])}FLOP, ${bytesText(n.bytes[i])} read and written`),
      fact('source', place ? `${placeText(place)}  ${place.text}` : ''),
      fact('uncertain', why)));
}

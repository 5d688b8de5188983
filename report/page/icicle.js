// ---- where the time goes: an icicle of modules or of source lines

const ROW_HEIGHT = 28, LEAST_WIDTH = 2, MOST_DEPTH = 40;
const MANY_CALLS = 600;  // more are shown with those together whose names differ in numbers only

function icicleSection(view) {
  const state = {by: view.networks[0].size > MANY_CALLS ? 'alike' : 'module', zoom: null, root: null};
  const cells = el('div', {class: 'icicle', role: 'group'});
  const crumbs = el('nav', {class: 'crumbs', 'aria-label': 'zoomed into'});
  const detail = el('div', {class: 'detail', 'aria-live': 'polite'});
  const draw = (focus) => drawIcicle({view, state, cells, crumbs, detail, draw}, focus);
  const rebuild = () => {
    state.root = state.by === 'line' ? lineTree(view) : moduleTree(view, state.by === 'alike');
    state.zoom = state.root;
    draw();
  };
  view.onTarget(rebuild);
  let width = 0;
  new ResizeObserver(() => {
    if (cells.clientWidth !== width) { width = cells.clientWidth; draw(); }
  }).observe(cells);
  view.onPrint(() => { state.zoom = state.root; draw(); });
  return section('icicle', 'Where the time goes',
    'The width of a bar is its time; its parts are below it. Click a bar to zoom in; with the keyboard: arrows '
    + 'move, Enter zooms in, Escape out.',
    el('div', {class: 'bar'}, choice('divided by', [['module', 'By module'], ['alike', 'Numbered ones together'], ['line', 'By source line']], state.by, (by) => {
      state.by = by;
      rebuild();
    }), crumbs), cells, detail);
}

// A node is {name, us, calls, children}. `parts(i)`: the names from the root down to call i.
function timeTree(view, rootName, parts) {
  const {latency} = view.target(), {size} = view.network();
  const root = {name: rootName, us: 0, width: 0, calls: 0, children: new Map(), parent: null};
  for (let i = 0; i < size; ++i) {
    const names = parts(i);
    for (let node = root, depth = 0; node; ++depth) {
      node.us += latency[i];
      ++node.calls;
      if (depth === names.length) break;
      let child = node.children.get(names[depth]);
      if (!child) {
        child = {name: names[depth], us: 0, width: 0, calls: 0, children: new Map(), parent: node};
        node.children.set(names[depth], child);
      }
      node = child;
    }
  }
  settle(root);
  return root;
}

// Time that a call saves its neighbours is negative and has no width; the widths inside never exceed the one above.
function settle(node) {
  let inside = 0;
  for (const child of node.children.values()) inside += settle(child);
  node.width = Math.max(node.us, inside, 0);
  return node.width;
}

// `alike`: layers.0, layers.1 ... are one bar, layers.*.
function moduleTree(view, alike) {
  const network = view.network();
  const known = new Map();  // calls share paths
  const partsOf = (path) => {
    const parts = path === '' ? [] : path.startsWith('/') ? path.slice(1).split('/') : path.split('.');
    return parts.slice(0, MOST_DEPTH).map((part) => alike ? part.replace(/\d+/g, '*') : part);
  };
  return timeTree(view, 'network', (i) => {
    const path = network.module(i);
    if (!known.has(path)) known.set(path, partsOf(path));
    return [...known.get(path), network.op(i)];
  });
}

function lineTree(view) {
  const network = view.network();
  return timeTree(view, 'network', (i) => {
    const place = network.place(i);
    if (!place) return ['(line unknown)', network.op(i)];
    const line = place.line ? `${place.line}  ${place.text}`.trim() : '(line unknown)';
    return [place.file, line, network.op(i)];
  });
}

function drawIcicle(i, focus) {
  const room = i.cells.isConnected ? i.cells.clientWidth : 0, target = i.view.target();
  if (room < 50 || !i.state.zoom) return;
  const rows = [];
  const place = (node, left, width, depth) => {
    if (width < LEAST_WIDTH || depth > MOST_DEPTH + 2) return;
    (rows[depth] = rows[depth] || []).push({node, left, width});
    let x = left;
    const scale = node.width > 0 ? width / node.width : 0;
    const children = [...node.children.values()];
    if (i.state.by === 'line') children.sort((a, b) => b.width - a.width);
    for (const child of children) {
      place(child, x, child.width * scale, depth + 1);
      x += child.width * scale;
    }
  };
  place(i.state.zoom, 0, room, 0);
  const byNode = new Map();
  const elements = rows.map((row, depth) => row.map(({node, left, width}) => {
    const cell = icicleCell(i, node, width, target);
    cell.style.left = left + 'px';
    cell.style.width = Math.max(1, width - 1) + 'px';
    cell.style.top = depth * ROW_HEIGHT + 'px';
    byNode.set(node, cell);
    return cell;
  }));
  const all = elements.flat();
  i.cells.style.height = rows.length * ROW_HEIGHT + 'px';
  i.cells.replaceChildren(...all);
  moveByArrows(rows, elements, byNode);
  drawCrumbs(i);
  tell(i, i.state.zoom);
  if (focus && byNode.get(focus)) byNode.get(focus).focus();
}

function icicleCell(i, node, width, target) {
  const share = target.total > 0 ? node.us / target.total : 0;
  const text = `${node.name}: ${timeText(node.us)}, ${percentText(share)}`;
  const cell = el('button', {type: 'button', class: 'cell h' + heat(share), title: text, 'aria-label': text,
    onclick: () => zoomTo(i, node), onfocus: () => tell(i, node), onmouseenter: () => tell(i, node)});
  if (width > 34) cell.append(shortened(width > 150 ? `${node.name}  ${percentText(share)}` : node.name, Math.floor((width - 10) / 7.2)));
  cell.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !i.state.zoom.parent) return;
    const from = i.state.zoom;
    i.state.zoom = from.parent;
    i.draw(from);
  });
  return cell;
}

function zoomTo(i, node) {
  i.state.zoom = node === i.state.zoom && node.parent ? node.parent : node;
  i.draw(node);
}

function moveByArrows(rows, elements, byNode) {
  const where = new Map();
  elements.forEach((row, depth) => row.forEach((cell, at) => where.set(cell, {depth, at, node: rows[depth][at].node})));
  roving(elements.flat(), (cell, key) => {
    const {depth, at, node} = where.get(cell);
    if (key === 'ArrowLeft') return elements[depth][at - 1];
    if (key === 'ArrowRight') return elements[depth][at + 1];
    if (key === 'ArrowUp') return byNode.get(node.parent);
    return [...node.children.values()].map((child) => byNode.get(child)).find(Boolean);
  });
}

function drawCrumbs(i) {
  const path = [];
  for (let node = i.state.zoom; node; node = node.parent) path.unshift(node);
  i.crumbs.replaceChildren(...path.slice(0, -1).flatMap((node) => [el('button', {type: 'button', class: 'small',
    onclick: () => { i.state.zoom = node; i.draw(node); }}, shortened(node.name, 24)), ' › ']),
    el('span', {}, shortened(path[path.length - 1].name, 40)));
}

function tell(i, node) {
  const {total} = i.view.target();
  i.detail.textContent = `${node.name}: ${timeText(node.us)}, ${percentText(total > 0 ? node.us / total : 0)} of the time, `
    + counted(node.calls, 'call');
}

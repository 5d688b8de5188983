// ---- a network of the document, from columns to objects

const MODULE = 0, CALL = 1, ALIKE = 2, PART = 3;  // kinds of boxes (report/boxes.h)

function unpackNetwork(raw) {
  const c = raw.calls, b = raw.boxes;
  const boxes = b.kind.map((kind, i) => ({index: i, kind, label: b.texts[b.label[i]], parent: b.parent[i],
    first: b.first[i], end: b.end[i], row: b.row[i], enters: b.enters[i] === 1, children: [], edges: []}));
  for (const box of boxes) if (box.parent >= 0) boxes[box.parent].children.push(box);
  for (let i = 0; i < b.edges.length; i += 2) {
    const from = boxes[b.edges[i]], to = boxes[b.edges[i + 1]];
    boxes[from.parent].edges.push([from, to]);
  }
  return {
    raw, boxes, root: boxes[0], size: c.op.length, macs: c.macs, flops: c.flops, bytes: c.bytes,
    op: (i) => c.texts[c.op[i]],
    module: (i) => c.texts[c.module[i]],
    input: (i) => c.texts[c.input[i]],
    output: (i) => c.texts[c.output[i]],
    place: (i) => c.place[i] < 0 ? null : c.places[c.place[i]],
    placeText: (i) => c.place[i] < 0 ? '' : placeText(c.places[c.place[i]]),
  };
}

// "net.py:7"; "net.onnx node 7" where the file has no lines.
function placeText(place) {
  if (!place.line) return place.file;
  return /\.(onnx|tflite|param|json)$/.test(place.file) ? `${place.file} node ${place.line}` : `${place.file}:${place.line}`;
}

// The times of a target's calls, with sums: before[i] is the time of the calls before i.
function unpackTarget(raw) {
  const latency = raw.calls.latency_us;
  const before = new Float64Array(latency.length + 1);
  for (let i = 0; i < latency.length; ++i) before[i + 1] = before[i] + latency[i];
  return {raw, name: raw.target, network: raw.network, latency, alone: raw.calls.alone_us, before,
    total: before[latency.length],
    why: (i) => raw.calls.unknown[i] < 0 ? '' : raw.calls.reasons[raw.calls.unknown[i]]};
}

// Of a box; `shifts`: it also stands for the boxes so many calls further on.
function boxTime(target, box, shifts) {
  let sum = 0;
  for (const shift of shifts) sum += target.before[box.end + shift] - target.before[box.first + shift];
  return sum;
}

// What is drawn inside a box that is open: {boxes, edges, shifts}. Of alike ones the first stands for all.
function insideOf(box, shifts) {
  if (box.kind !== ALIKE) return {boxes: box.children, edges: box.edges, shifts};
  const [first] = box.children;
  const all = shifts.flatMap((shift) => box.children.map((child) => child.first - first.first + shift));
  if (first.kind === MODULE || first.kind === PART) return {boxes: first.children, edges: first.edges, shifts: all};
  return {boxes: [first], edges: [], shifts: all};
}

function canOpen(box) {
  return box.kind !== CALL && (box.kind !== ALIKE || box.children[0].kind !== CALL);
}

function boxLabel(network, box) {
  const times = box.kind === ALIKE ? box.children.length + ' × ' : '';
  if (box.label) return times + box.label;
  if (box.kind === CALL) return network.op(box.first);
  if (box.kind === ALIKE) return times + counted(box.children[0].end - box.children[0].first, 'call');
  return box.parent < 0 ? 'network' : `calls ${box.first} to ${box.end - 1}`;
}

// ---- all calls: searched, filtered, sorted. Rows are made as they come into sight.

const LINE_HEIGHT = 30, PRINTED_CALLS = 60;

const CALL_COLUMNS = [
  {name: 'call', width: 66, numeric: true, value: (v, i) => i, text: (v, i) => String(i)},
  {name: 'module', width: 240, value: (v, i) => v.n.module(i), text: (v, i) => v.n.module(i)},
  {name: 'operator', width: 132, value: (v, i) => v.n.op(i), text: (v, i) => v.n.op(i)},
  {name: 'time', width: 84, numeric: true, value: (v, i) => v.t.latency[i], text: (v, i) => timeText(v.t.latency[i])},
  {name: 'share', width: 76, numeric: true, value: (v, i) => v.t.latency[i], text: (v, i) => percentText(v.t.total > 0 ? v.t.latency[i] / v.t.total : 0)},
  {name: 'alone', width: 84, numeric: true, value: (v, i) => v.t.alone[i], text: (v, i) => v.t.alone[i] > 0 ? timeText(v.t.alone[i]) : ''},
  {name: 'FLOP', width: 76, numeric: true, value: (v, i) => v.n.flops[i], text: (v, i) => countText(v.n.flops[i])},
  {name: 'bytes', width: 84, numeric: true, value: (v, i) => v.n.bytes[i], text: (v, i) => bytesText(v.n.bytes[i])},
  {name: 'output', width: 136, value: (v, i) => v.n.output(i), text: (v, i) => v.n.output(i)},
  {name: 'source', width: 200, value: (v, i) => v.n.placeText(i), text: (v, i) => v.n.placeText(i)},
  {name: 'uncertain', width: 178, value: (v, i) => v.t.why(i), text: (v, i) => v.t.why(i)},
];

function callsSection(view) {
  const state = {search: '', op: '', uncertain: false, sort: 'call', down: false, rows: [], printing: false};
  const body = el('tbody'), count = el('output', {class: 'soft', 'aria-live': 'polite'});
  const head = el('tr', {});
  const scroller = el('div', {class: 'scroll calls', tabindex: '0', role: 'region', 'aria-label': 'calls', onscroll: () => draw()},
    el('table', {class: 'fixed'}, el('colgroup', {}, CALL_COLUMNS.map((column) => {
      const col = el('col');
      col.style.width = column.width + 'px';
      return col;
    })), el('thead', {}, head), body));
  const draw = () => drawCalls(view, state, scroller, body);
  const update = () => {
    state.rows = chosenCalls(view, state);
    count.textContent = `${counted(state.rows.length, 'call')} of ${view.network().size.toLocaleString('en')}`;
    if (scroller.isConnected) scroller.scrollTop = 0;
    drawHead(head, state, update);
    draw();
  };
  const search = el('input', {type: 'search', placeholder: 'module, operator, file, shape …', 'aria-label': 'search the calls',
    oninput: () => { state.search = search.value; update(); }});
  const ops = el('select', {'aria-label': 'operator', onchange: () => { state.op = ops.value; update(); }});
  const uncertain = el('input', {type: 'checkbox', onchange: () => { state.uncertain = uncertain.checked; update(); }});
  view.onTarget(() => {
    const n = view.network(), names = [...new Set(Array.from({length: n.size}, (_, i) => n.op(i)))].sort();
    ops.replaceChildren(el('option', {value: ''}, 'all operators'), ...names.map((name) => el('option', {value: name}, name)));
    ops.value = names.includes(state.op) ? state.op : state.op = '';
    update();
  });
  new ResizeObserver(() => draw()).observe(scroller);
  view.onPrint(() => {
    const before = {...state};
    Object.assign(state, {sort: 'time', down: true, printing: true});
    update();
    return () => { Object.assign(state, before); update(); };
  });
  return section('calls', 'Calls', null,
    el('div', {class: 'bar'}, search, ops, el('label', {}, uncertain, ' uncertain ones'), count), scroller);
}

function chosenCalls(view, state) {
  const v = {t: view.target(), n: view.network()}, words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [];
  for (let i = 0; i < v.n.size; ++i) {
    if (state.op && v.n.op(i) !== state.op) continue;
    if (state.uncertain && !v.t.why(i)) continue;
    if (words.length) {
      const text = `${i} ${v.n.module(i)} ${v.n.op(i)} ${v.n.output(i)} ${v.n.placeText(i)} ${v.t.why(i)}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
    }
    rows.push(i);
  }
  if (state.sort === 'call' && !state.down) return rows;
  const column = CALL_COLUMNS.find((c) => c.name === state.sort), keys = new Map(rows.map((i) => [i, column.value(v, i)]));
  const order = (a, b) => column.numeric ? keys.get(a) - keys.get(b) : String(keys.get(a)).localeCompare(String(keys.get(b)), 'en', {numeric: true});
  return rows.sort((a, b) => (state.down ? order(b, a) : order(a, b)) || a - b);
}

function drawHead(head, state, update) {
  head.replaceChildren(...CALL_COLUMNS.map((column) => {
    const sorted = state.sort === column.name;
    return el('th', {scope: 'col', class: column.numeric ? 'number' : null, 'aria-sort': sorted ? (state.down ? 'descending' : 'ascending') : null},
      el('button', {type: 'button', class: 'plain', 'data-column': column.name, onclick: () => {
        state.down = sorted ? !state.down : column.numeric && column.name !== 'call';
        state.sort = column.name;
        update();
        head.querySelector(`[data-column="${column.name}"]`).focus();
      }}, column.name + (sorted ? (state.down ? ' ▾' : ' ▴') : '')));
  }));
}

function drawCalls(view, state, scroller, body) {
  const v = {t: view.target(), n: view.network()};
  const laidOut = scroller.isConnected;
  const seen = Math.ceil((laidOut ? scroller.clientHeight : 460) / LINE_HEIGHT) + 8;
  const from = state.printing ? 0 : Math.max(0, Math.floor((laidOut ? scroller.scrollTop : 0) / LINE_HEIGHT) - 4);
  const to = Math.min(state.rows.length, from + (state.printing ? PRINTED_CALLS : seen));
  const gap = (rows) => {
    const cell = el('td', {colspan: CALL_COLUMNS.length});
    cell.style.height = rows * LINE_HEIGHT + 'px';
    return rows > 0 ? [el('tr', {class: 'gap', 'aria-hidden': 'true'}, cell)] : [];
  };
  const rows = state.rows.slice(from, to).map((i, k) => el('tr', {'aria-rowindex': from + k + 2, class: v.t.why(i) ? 'warned' : null},
    CALL_COLUMNS.map((column) => {
      const text = column.text(v, i), isPath = column.name === 'source' || column.name === 'module';
      return el('td', {class: column.numeric ? 'number' : null, title: text.length > 12 ? text : null},
        isPath ? shortened(text, Math.floor(column.width / 7.6), true) : text);
    })));
  body.replaceChildren(...gap(from), ...rows, ...(state.printing ? [] : gap(state.rows.length - to)));
  body.parentElement.setAttribute('aria-rowcount', String(state.rows.length + 1));
}

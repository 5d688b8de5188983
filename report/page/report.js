// ---- the page: renderReport(document, element) draws a document (docs/report.md) into an element

const DOCUMENT_VERSION = 1;
const LINK_NAMES = {targets: 'Targets', uncertain: 'Uncertain', picture: 'Network', icicle: 'Time', roofline: 'Roofline', memory: 'Memory',
  sweep: 'Sweep', calls: 'Calls', question: 'Question'};

// What the sections share: the networks, the targets, and which target is looked at.
function makeView(data) {
  const networks = data.networks.map(unpackNetwork), targets = data.targets.map(unpackTarget).sort(byRank);
  const watchers = [], printers = [];
  let chosen = 0, restore = [];
  return {
    data, networks, targets,
    target: () => targets[chosen],
    network: () => networks[targets[chosen].network],
    onTarget: (watcher) => { watchers.push(watcher); },
    onPrint: (printer) => { printers.push(printer); },
    choose: (i) => { chosen = i; for (const watcher of watchers) watcher(); },
    beforePrint: () => { restore = printers.map((printer) => printer()).filter(Boolean); },
    afterPrint: () => { for (const back of restore) back(); restore = []; },
  };
}

function renderReport(data, element) {
  if (!data || data.version !== DOCUMENT_VERSION) {
    element.replaceChildren(el('p', {class: 'card warned'}, `This page shows documents of version ${DOCUMENT_VERSION}, not of version `
      + `${data ? data.version : 'none'}.`));
    return;
  }
  const view = makeView(data);
  const made = (...makers) => makers.map((make) => make(view)).filter(Boolean);
  const first = made(targetsSection, uncertainSection), picture = made(pictureSection);
  const beside = made(icicleSection, rooflineSection, memorySection, sweepSection), last = made(callsSection, questionSection);
  view.choose(0);  // before the page is laid out: whatever asks for a width would have all of it laid out again
  element.classList.add('report');
  element.replaceChildren(toolbar(view, [...first, ...picture, ...beside, ...last]), header(view), ...first,
    el('div', {class: 'halves'}, el('div', {}, picture), el('div', {}, beside)), ...last);
  view.onPrint(() => {
    const closed = [...element.querySelectorAll('details:not([open])')];
    for (const details of closed) details.open = true;
    return () => { for (const details of closed) details.open = false; };
  });
  const before = drawnIn.get(element);  // of a document that was drawn here before
  if (before) listenToPrinter(before, 'removeEventListener');
  drawnIn.set(element, view);
  listenToPrinter(view, 'addEventListener');
}

const drawnIn = new WeakMap();

function listenToPrinter(view, how) {
  window[how]('beforeprint', view.beforePrint);
  window[how]('afterprint', view.afterPrint);
}

function header(view) {
  const {data} = view, network = view.networks[0];
  const fact = (name, value) => el('div', {class: 'fact'}, el('dt', {}, name), el('dd', {}, value));
  const {raw: best} = view.targets[0], lack = lackOfMemory(best);
  const of = view.targets.length === 1 ? 'one forward pass' : `fastest of ${view.targets.length}: ${best.target}`;
  return el('header', {}, el('p', {class: 'kicker'}, 'Latency report'), el('h1', {}, data.title), el('dl', {class: 'tiles'},
    fact(of + (isGuess(best) ? ', a guess' : '') + (lack ? `, does not fit: ${lack}` : ''), timeText(best.latency_us)), fact('calls', network.size.toLocaleString('en')), fact('parameters', countText(network.raw.parameters)),
    fact('multiply-accumulates', countText(network.raw.macs)), fact('peak memory', bytesText(network.raw.peak_memory_bytes)),
    fact('weights of the model', data.model_version)));
}

function toolbar(view, sections) {
  const picker = el('select', {id: 'target', onchange: () => view.choose(Number(picker.value))},
    view.targets.map((target, i) => el('option', {value: i}, `${target.name} · ${timeText(target.raw.latency_us)}`)));
  const links = sections.map((s) => el('a', {href: '#' + s.id}, LINK_NAMES[s.id]));
  return el('div', {class: 'toolbar'}, el('label', {for: 'target'}, 'Target '), picker,
    el('nav', {'aria-label': 'sections'}, links), themeButton());
}

function themeButton() {
  const root = document.documentElement;
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const button = el('button', {type: 'button', class: 'theme', onclick: () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    name();
  }});
  const name = () => { button.textContent = isDark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', `${button.textContent} colours`); };
  name();
  return button;
}

window.renderReport = renderReport;
const embedded = document.getElementById('report-data');
if (embedded) renderReport(JSON.parse(embedded.textContent), document.getElementById('report'));

// ---- elements. Names from the user's model are untrusted text: they become text nodes and attributes, never markup.

const SVG_NAMES = 'http://www.w3.org/2000/svg';

// el('button', {class: 'box', onclick: f}, 'text', otherElement): null, undefined and false leave an attribute or a
// child out.
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_NAMES, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// One stop of the Tab key for many elements: `next(current, key)` says which one an arrow key leads to.
function roving(elements, next) {
  elements.forEach((element, i) => element.setAttribute('tabindex', i === 0 ? '0' : '-1'));
  const go = (from, to) => {
    if (!to || to === from) return;
    from.setAttribute('tabindex', '-1');
    to.setAttribute('tabindex', '0');
    to.focus();
  };
  for (const element of elements) {
    element.addEventListener('keydown', (event) => {
      if (!event.key.startsWith('Arrow')) return;
      event.preventDefault();
      go(element, next(element, event.key));
    });
    element.addEventListener('focus', () => {
      for (const other of elements) if (other !== element) other.setAttribute('tabindex', '-1');
      element.setAttribute('tabindex', '0');
    });
  }
}

// Elements in one order: left and up, right and down.
function rovingList(elements) {
  roving(elements, (current, key) => {
    const step = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
    return elements[elements.indexOf(current) + step];
  });
}

// A group of buttons of which one is pressed. `choose(value)` is called when that changes.
function choice(label, options, chosen, choose) {
  const buttons = options.map(([value, text]) => el('button', {
    type: 'button', 'aria-pressed': String(value === chosen), onclick: (event) => {
      for (const button of buttons) button.setAttribute('aria-pressed', String(button === event.currentTarget));
      choose(value);
    }}, text));
  return el('div', {class: 'choice', role: 'group', 'aria-label': label}, buttons);
}

function section(id, title, note, ...body) {
  return el('section', {id, 'aria-labelledby': id + '-title'},
    el('h2', {id: id + '-title'}, title), note && el('p', {class: 'note'}, note), body);
}

function table(head, rows, numeric = []) {
  const cells = (kind, row) => row.map((cell, i) => el(kind, {class: numeric.includes(i) ? 'number' : null,
    scope: kind === 'th' ? 'col' : null}, cell));
  return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'table'},
    el('table', {}, el('thead', {}, el('tr', {}, cells('th', head))),
      el('tbody', {}, rows.map((row) => el('tr', {}, cells('td', row))))));
}

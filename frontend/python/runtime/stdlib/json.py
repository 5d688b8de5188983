import _cobra


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        super().__init__(f'{msg}: line {doc.count(chr(10), 0, pos) + 1} column {pos - doc.rfind(chr(10), 0, pos)} (char {pos})')
        self.msg, self.doc, self.pos = msg, doc, pos


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, msg='Expecting value', at=None):
        raise JSONDecodeError(msg, self.text, self.at if at is None else at)

    def blanks(self):
        while self.at < len(self.text) and self.text[self.at] in ' \t\n\r':
            self.at += 1

    def value(self):
        self.blanks()
        c = self.text[self.at:self.at + 1]
        if c == '{':
            return self.object()
        if c == '[':
            return self.array()
        if c == '"':
            return self.string()
        for word, v in (('true', True), ('false', False), ('null', None), ('NaN', float('nan')), ('Infinity', float('inf')),
                        ('-Infinity', float('-inf'))):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return v
        return self.number()

    def number(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in '+-0123456789.eE':
            self.at += 1
        token = self.text[start:self.at]
        if not token or not (token[0].isdigit() or token[0] == '-'):
            self.fail(at=start)
        try:
            return float(token) if any(c in token for c in '.eE') else int(token)
        except ValueError:
            self.fail(at=start)

    def string(self):
        out = []
        self.at += 1
        while True:
            if self.at >= len(self.text):
                self.fail('Unterminated string starting at')
            c = self.text[self.at]
            self.at += 1
            if c == '"':
                return ''.join(out)
            if c == '\\':
                d = self.text[self.at:self.at + 1]
                self.at += 1
                if d == 'u':
                    out.append(chr(int(self.text[self.at:self.at + 4], 16)))
                    self.at += 4
                else:
                    out.append({'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}.get(d, d))
            else:
                out.append(c)

    def array(self):
        out = []
        self.at += 1
        self.blanks()
        if self.text[self.at:self.at + 1] == ']':
            self.at += 1
            return out
        while True:
            out.append(self.value())
            self.blanks()
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c == ']':
                return out
            if c != ',':
                self.at -= 1
                self.fail("Expecting ',' delimiter")

    def object(self):
        out = {}
        self.at += 1
        self.blanks()
        if self.text[self.at:self.at + 1] == '}':
            self.at += 1
            return out
        while True:
            self.blanks()
            if self.text[self.at:self.at + 1] != '"':
                self.fail('Expecting property name enclosed in double quotes')
            key = self.string()
            self.blanks()
            if self.text[self.at:self.at + 1] != ':':
                self.fail("Expecting ':' delimiter")
            self.at += 1
            out[key] = self.value()
            self.blanks()
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c == '}':
                return out
            if c != ',':
                self.at -= 1
                self.fail("Expecting ',' delimiter")


def loads(s, **kwargs):
    r = _Reader(s if isinstance(s, str) else s.decode())
    v = r.value()
    r.blanks()
    if r.at != len(r.text):
        r.fail('Extra data')
    return v


def _quote(s, ensure_ascii):
    out = ['"']
    for c in s:
        if c in '"\\':
            out.append('\\' + c)
        elif c in '\n\r\t\b\f':
            out.append({'\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f'}[c])
        elif c < ' ' or (ensure_ascii and c > '~'):
            n = ord(c)
            if n > 0xffff:
                n -= 0x10000
                out.append('\\u%04x\\u%04x' % (0xd800 + (n >> 10), 0xdc00 + (n & 0x3ff)))
            else:
                out.append('\\u%04x' % n)
        else:
            out.append(c)
    return ''.join(out) + '"'


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None,
          sort_keys=False, **kw):
    if isinstance(indent, int):
        indent = ' ' * indent
    item_sep, key_sep = separators if separators is not None else ((',' if indent is not None else ', '), ': ')

    def write(v, level):
        if v is None:
            return 'null'
        if v is True:
            return 'true'
        if v is False:
            return 'false'
        if isinstance(v, str):
            return _quote(v, ensure_ascii)
        if isinstance(v, int):
            return int.__repr__(v)
        if isinstance(v, float):
            if v != v:
                return 'NaN'
            if v in (float('inf'), float('-inf')):
                return 'Infinity' if v > 0 else '-Infinity'
            return float.__repr__(v)
        if isinstance(v, (list, tuple)):
            parts = [write(x, level + 1) for x in v]
            return surround('[', parts, ']', level)
        if isinstance(v, dict):
            items = sorted(v.items()) if sort_keys else v.items()
            parts = []
            for k, x in items:
                if not isinstance(k, str):
                    if k is None or isinstance(k, (bool, int, float)):
                        k = write(k, level)
                    elif skipkeys:
                        continue
                    else:
                        raise TypeError(f'keys must be str, int, float, bool or None, not {type(k).__name__}')
                parts.append(_quote(k, ensure_ascii) + key_sep + write(x, level + 1))
            return surround('{', parts, '}', level)
        if default is not None:
            return write(default(v), level)
        raise TypeError(f'Object of type {type(v).__name__} is not JSON serializable')

    def surround(open_, parts, close, level):
        if not parts:
            return open_ + close
        if indent is None:
            return open_ + item_sep.join(parts) + close
        inner = '\n' + indent * (level + 1)
        return open_ + inner + (item_sep + inner).join(parts) + '\n' + indent * level + close
    return write(obj, 0)


def load(fp, **kwargs):
    return loads(fp.read(), **kwargs)


def dump(obj, fp, **kwargs):
    fp.write(dumps(obj, **kwargs))


class JSONEncoder:
    pass


class JSONDecoder:
    pass

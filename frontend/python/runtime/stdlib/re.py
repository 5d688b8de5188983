import _re
from enum import IntFlag


class RegexFlag(IntFlag):
    NOFLAG = 0
    IGNORECASE = I = 2
    LOCALE = L = 4
    MULTILINE = M = 8
    DOTALL = S = 16
    UNICODE = U = 32
    VERBOSE = X = 64
    ASCII = A = 256


IGNORECASE = I = RegexFlag.IGNORECASE
MULTILINE = M = RegexFlag.MULTILINE
DOTALL = S = RegexFlag.DOTALL
UNICODE = U = RegexFlag.UNICODE
VERBOSE = X = RegexFlag.VERBOSE
ASCII = A = RegexFlag.ASCII
LOCALE = L = RegexFlag.LOCALE
NOFLAG = RegexFlag.NOFLAG


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        super().__init__(msg)
        self.msg, self.pattern, self.pos = msg, pattern, pos


class Match:
    def __init__(self, pattern, string, spans):
        self.re = pattern
        self.string = string
        self._spans = spans
        self.pos = 0
        self.endpos = len(string)

    def _index(self, group):
        if isinstance(group, str):
            if group not in self.re.groupindex:
                raise IndexError('no such group')
            return self.re.groupindex[group]
        if not 0 <= group < len(self._spans):
            raise IndexError('no such group')
        return group

    def _text(self, group, default=None):
        a, b = self._spans[group]
        return default if a < 0 else self.string[a:b]

    def group(self, *groups):
        if not groups:
            groups = (0,)
        found = tuple(self._text(self._index(g)) for g in groups)
        return found[0] if len(found) == 1 else found

    def __getitem__(self, group):
        return self._text(self._index(group))

    def groups(self, default=None):
        return tuple(self._text(i, default) for i in range(1, len(self._spans)))

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def start(self, group=0):
        return self._spans[self._index(group)][0]

    def end(self, group=0):
        return self._spans[self._index(group)][1]

    def span(self, group=0):
        return self._spans[self._index(group)]

    @property
    def lastindex(self):
        last = None
        for i in range(1, len(self._spans)):
            if self._spans[i][0] >= 0:
                last = i
        return last

    def expand(self, template):
        return _expand(self, template)

    def __repr__(self):
        return f'<re.Match object; span={self.span()!r}, match={self.group()!r}>'


def _expand(match, template):
    out = []
    i = 0
    while i < len(template):
        c = template[i]
        if c != '\\' or i + 1 == len(template):
            out.append(c)
            i += 1
            continue
        d = template[i + 1]
        if d == 'g' and i + 2 < len(template) and template[i + 2] == '<':
            end = template.index('>', i)
            name = template[i + 3:end]
            out.append(match._text(match._index(int(name) if name.isdigit() else name), ''))
            i = end + 1
        elif d.isdigit():
            n = d
            if i + 2 < len(template) and template[i + 2].isdigit() and d != '0':
                n += template[i + 2]
            if int(n) >= len(match._spans):
                raise error(f'invalid group reference {n}')
            out.append(match._text(int(n), ''))
            i += 1 + len(n)
        elif d in 'nrtfva\\':
            out.append({'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a', '\\': '\\'}[d])
            i += 2
        else:
            out.append(c + d)
            i += 2
    return ''.join(out)


class Pattern:
    def __init__(self, pattern, flags):
        self.pattern = pattern
        self.flags = flags
        self._handle = _re.compile(pattern, int(flags))
        self.groups, self.groupindex = _re.groups(self._handle)

    def _run(self, string, pos, how):
        if not isinstance(string, str):
            raise TypeError(f"expected string or bytes-like object, got '{type(string).__name__}'")
        spans = _re.run(self._handle, string, pos, how)
        return None if spans is None else Match(self, string, spans)

    def search(self, string, pos=0):
        return self._run(string, pos, 0)

    def match(self, string, pos=0):
        return self._run(string, pos, 1)

    def fullmatch(self, string, pos=0):
        return self._run(string, pos, 2)

    def finditer(self, string, pos=0):
        found = []
        while pos <= len(string):
            m = self._run(string, pos, 0)
            if m is None:
                break
            found.append(m)
            pos = m.end() if m.end() > m.start() else m.end() + 1
        return iter(found)

    def findall(self, string, pos=0):
        return [m.groups('')[0] if self.groups == 1 else m.groups('') if self.groups else m.group() for m in self.finditer(string, pos)]

    def split(self, string, maxsplit=0):
        parts, last = [], 0
        for n, m in enumerate(self.finditer(string)):
            if maxsplit and n >= maxsplit:
                break
            parts.append(string[last:m.start()])
            parts.extend(m.groups())
            last = m.end()
        parts.append(string[last:])
        return parts

    def subn(self, repl, string, count=0):
        out, last, n = [], 0, 0
        for m in self.finditer(string):
            if count and n >= count:
                break
            out.append(string[last:m.start()])
            out.append(repl(m) if callable(repl) else _expand(m, repl) if '\\' in repl else repl)
            last = m.end()
            n += 1
        out.append(string[last:])
        return ''.join(out), n

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def __repr__(self):
        return f're.compile({self.pattern!r})'

    def __eq__(self, other):
        return isinstance(other, Pattern) and self.pattern == other.pattern and self.flags == other.flags

    def __hash__(self):
        return hash((self.pattern, int(self.flags)))

    def __deepcopy__(self, memo):
        return self


_cache = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        return pattern
    key = (pattern, int(flags))
    if key not in _cache:
        _cache[key] = Pattern(pattern, flags)
    return _cache[key]


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def escape(pattern):
    return ''.join('\\' + c if c in '()[]{}?*+-|^$\\.&~# \t\n\r\v\f' else c for c in pattern)


def purge():
    _cache.clear()

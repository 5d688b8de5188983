import _re
from enum import IntFlag
from types import GenericAlias


class RegexFlag(IntFlag):
    NOFLAG = 0
    ASCII = A = 256
    IGNORECASE = I = 2
    LOCALE = L = 4
    UNICODE = U = 32
    MULTILINE = M = 8
    DOTALL = S = 16
    VERBOSE = X = 64
    TEMPLATE = T = 1
    DEBUG = 128

    def __repr__(self):
        value = int(self)
        if not value:
            return "re.NOFLAG"
        names = ["re." + name for name, bit in _flag_names if value & bit]
        rest = value & ~511
        if rest:
            names.append(hex(rest))
        return "|".join(names)

    __str__ = __repr__


_flag_names = (
    ("TEMPLATE", 1),
    ("IGNORECASE", 2),
    ("LOCALE", 4),
    ("MULTILINE", 8),
    ("DOTALL", 16),
    ("UNICODE", 32),
    ("VERBOSE", 64),
    ("DEBUG", 128),
    ("ASCII", 256),
)

IGNORECASE = I = RegexFlag.IGNORECASE
MULTILINE = M = RegexFlag.MULTILINE
DOTALL = S = RegexFlag.DOTALL
UNICODE = U = RegexFlag.UNICODE
VERBOSE = X = RegexFlag.VERBOSE
ASCII = A = RegexFlag.ASCII
LOCALE = L = RegexFlag.LOCALE
TEMPLATE = T = RegexFlag.TEMPLATE
DEBUG = RegexFlag.DEBUG
NOFLAG = RegexFlag.NOFLAG
_END = 9223372036854775807


class error(Exception):
    __module__ = "re"

    def __init__(self, msg, pattern=None, pos=None):
        self.msg = msg
        self.pattern = pattern
        self.pos = pos
        if pattern is not None and pos is not None:
            msg = f"{msg} at position {pos}"
            newline = "\n" if isinstance(pattern, str) else b"\n"
            self.lineno = pattern.count(newline, 0, pos) + 1
            self.colno = pos - pattern.rfind(newline, 0, pos)
            if newline in pattern:
                msg = f"{msg} (line {self.lineno}, column {self.colno})"
        else:
            self.lineno = self.colno = None
        super().__init__(msg)


class Match:
    def __class_getitem__(cls, item):
        return GenericAlias(cls, item)

    def __init__(self, pattern, string, spans, pos, endpos):
        self.re = pattern
        self.string = string
        self._spans = spans
        self.pos = pos
        self.endpos = endpos

    def _index(self, group):
        if isinstance(group, int):
            if 0 <= group <= self.re.groups:
                return group
        elif isinstance(group, str):
            if group in self.re.groupindex:
                return self.re.groupindex[group]
        elif hasattr(group, "__index__"):
            return self._index(group.__index__())
        raise IndexError("no such group")

    def _text(self, group, default=None):
        a = self._spans[2 * group]
        return default if a < 0 else self.string[a : self._spans[2 * group + 1]]

    def group(self, *groups):
        if not groups:
            return self._text(0)
        if len(groups) == 1:
            return self._text(self._index(groups[0]))
        return tuple([self._text(self._index(g)) for g in groups])

    def __getitem__(self, group):
        return self._text(self._index(group))

    def groups(self, default=None):
        return tuple([self._text(i, default) for i in range(1, self.re.groups + 1)])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def start(self, group=0):
        return self._spans[2 * self._index(group)]

    def end(self, group=0):
        return self._spans[2 * self._index(group) + 1]

    def span(self, group=0):
        i = self._index(group)
        return self._spans[2 * i], self._spans[2 * i + 1]

    @property
    def regs(self):
        return tuple([self.span(i) for i in range(self.re.groups + 1)])

    @property
    def lastindex(self):
        return self._spans[-1]

    @property
    def lastgroup(self):
        for name, i in self.re.groupindex.items():
            if i == self._spans[-1]:
                return name
        return None

    def expand(self, template):
        return _expand(self, _template(self.re, template))

    def __repr__(self):
        return f"<re.Match object; span={self.span()!r}, match={self.group()!r}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_OCTAL = "01234567"
_DIGITS = "0123456789"


def _template(pattern, source):
    """Literals, and numbers of groups, by turns."""
    if isinstance(source, bytes):
        return [
            p.encode("latin-1") if isinstance(p, str) else p
            for p in _template_text(pattern, source.decode("latin-1"), source)
        ]
    return _template_text(pattern, source, source)


def _group_number(pattern, name, shown, position):
    if name.isidentifier():
        if name not in pattern.groupindex:
            raise IndexError(f"unknown group name {name!r}")
        return pattern.groupindex[name]
    if not name.isdecimal():
        raise error(f"bad character in group name {name!r}", shown, position)
    if int(name) > pattern.groups:
        raise error(f"invalid group reference {int(name)}", shown, position)
    return int(name)


def _template_text(pattern, s, shown):
    parts, literal, i, n = [], [], 0, len(s)
    while i < n:
        j = s.find("\\", i)
        if j < 0:
            literal.append(s[i:])
            break
        literal.append(s[i:j])
        i = j + 2
        if i > n:
            raise error("bad escape (end of pattern)", shown, n - 1)
        c = s[j + 1]
        group = None
        if c == "g":
            if s[i : i + 1] != "<":
                raise error("missing <", shown, i)
            end = s.find(">", i)
            if end < 0 and i + 1 < n:
                raise error("missing >, unterminated name", shown, i + 1)
            if end <= i + 1:
                raise error("missing group name", shown, i + 1)
            group = _group_number(pattern, s[i + 1 : end], shown, i + 1)
            i = end + 1
        elif c == "0":
            while i < n and i < j + 4 and s[i] in _OCTAL:
                i += 1
            literal.append(chr(int(s[j + 1 : i], 8) & 255))
        elif c in _DIGITS:
            octal = False
            if i < n and s[i] in _DIGITS:
                i += 1
                if c in _OCTAL and s[i - 1] in _OCTAL and i < n and s[i] in _OCTAL:
                    i += 1
                    octal = True
                    value = int(s[j + 1 : i], 8)
                    if value > 255:
                        raise error(f"octal escape value {s[j:i]} outside of range 0-0o377", shown, j)
                    literal.append(chr(value))
            if not octal:
                group = int(s[j + 1 : i])
                if group > pattern.groups:
                    raise error(f"invalid group reference {group}", shown, j + 1)
        elif c in _ESCAPES:
            literal.append(_ESCAPES[c])
        elif c.isascii() and c.isalpha():
            raise error(f"bad escape \\{c}", shown, j)
        else:
            literal.append("\\" + c)
        if group is not None:
            parts.append("".join(literal))
            parts.append(group)
            literal = []
    parts.append("".join(literal))
    return parts


def _expand(match, parts):
    empty = match.string[:0]
    return empty.join([p if i % 2 == 0 else match._text(p, empty) for i, p in enumerate(parts)])


class Pattern:
    def __class_getitem__(cls, item):
        return GenericAlias(cls, item)

    def __init__(self, pattern, flags):
        handle = _re.compile(pattern, int(flags))
        if isinstance(handle, tuple):
            message, position, is_value_error = handle
            if is_value_error:
                raise ValueError(message)
            raise error(message, pattern if position is not None else None, position)
        self.pattern = pattern
        self._handle = handle
        self.groups, self.groupindex, self.flags = _re.info(handle)

    def _run(self, string, pos, endpos, how):
        spans = _re.run(self._handle, string, pos, endpos, how)
        if spans is None:
            return None
        n = len(string)
        return Match(self, string, spans, min(max(pos, 0), n), min(max(endpos, 0), n))

    def search(self, string, pos=0, endpos=_END):
        return self._run(string, pos, endpos, 0)

    def match(self, string, pos=0, endpos=_END):
        return self._run(string, pos, endpos, 1)

    def fullmatch(self, string, pos=0, endpos=_END):
        return self._run(string, pos, endpos, 2)

    def finditer(self, string, pos=0, endpos=_END):
        found = _re.scan(self._handle, string, pos, endpos, 0)
        return iter([Match(self, string, spans, pos, min(endpos, len(string))) for spans in found])

    def findall(self, string, pos=0, endpos=_END):
        found = _re.scan(self._handle, string, pos, endpos, 0)
        if self.groups == 0:
            return [string[s[0] : s[1]] for s in found]
        empty = string[:0]
        rows = [
            tuple([empty if s[2 * i] < 0 else string[s[2 * i] : s[2 * i + 1]] for i in range(1, self.groups + 1)])
            for s in found
        ]
        return [r[0] for r in rows] if self.groups == 1 else rows

    def split(self, string, maxsplit=0):
        parts, last = [], 0
        if maxsplit < 0:
            return [string]
        for s in _re.scan(self._handle, string, 0, _END, maxsplit):
            parts.append(string[last : s[0]])
            for i in range(1, self.groups + 1):
                parts.append(None if s[2 * i] < 0 else string[s[2 * i] : s[2 * i + 1]])
            last = s[1]
        parts.append(string[last:])
        return parts

    def subn(self, repl, string, count=0):
        call = callable(repl)
        template = None
        if not call:
            if isinstance(repl, str) != isinstance(string, str):
                raise TypeError(f'expected {"str" if isinstance(string, str) else "a bytes-like object"} instance')
            backslash = "\\" if isinstance(repl, str) else b"\\"
            if backslash in repl:
                template = _template(self, repl)
        out, last, n = [], 0, 0
        if count < 0:
            return string, 0
        for s in _re.scan(self._handle, string, 0, _END, count):
            out.append(string[last : s[0]])
            if call:
                out.append(repl(Match(self, string, s, 0, len(string))))
            elif template is not None:
                out.append(_expand(Match(self, string, s, 0, len(string)), template))
            else:
                out.append(repl)
            last = s[1]
            n += 1
        out.append(string[last:])
        return string[:0].join([part for part in out if part is not None]), n

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def __repr__(self):
        flags = self.flags
        if isinstance(self.pattern, str):
            flags &= ~32
        text = repr(self.pattern)[:200]
        return f"re.compile({text}, {RegexFlag(flags)!r})" if flags else f"re.compile({text})"

    def __eq__(self, other):
        if not isinstance(other, Pattern):
            return NotImplemented
        return self.pattern == other.pattern and self.flags == other.flags and type(self.pattern) is type(other.pattern)

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


_cache = {}
_known = {}  # patterns that are strings and have no flags: their handles


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    key = (type(pattern), pattern, int(flags))
    known = _cache.get(key)
    if known is None:
        known = _cache[key] = Pattern(pattern, flags)
        if type(pattern) is str and not flags:
            _known[pattern] = known._handle
    return known


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


search = _re.bind("search", _known, search, 0)
match = _re.bind("match", _known, match, 1)
fullmatch = _re.bind("fullmatch", _known, fullmatch, 2)


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


_special = {i: "\\" + chr(i) for i in b"()[]{}?*+-|^$\\.&~# \t\n\r\v\f"}


def escape(pattern):
    if isinstance(pattern, str):
        return pattern.translate(_special)
    return pattern.decode("latin-1").translate(_special).encode("latin-1")


def purge():
    _cache.clear()
    _known.clear()


def template(pattern, flags=0):
    return compile(pattern, flags)

import re


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        lineno = doc.count("\n", 0, pos) + 1
        colno = pos - doc.rfind("\n", 0, pos)
        super().__init__(f"{msg}: line {lineno} column {colno} (char {pos})")
        self.msg, self.doc, self.pos, self.lineno, self.colno = msg, doc, pos, lineno, colno


_BLANKS = " \t\n\r"
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}


class JSONDecoder:
    def __init__(
        self,
        *,
        object_hook=None,
        parse_float=None,
        parse_int=None,
        parse_constant=None,
        strict=True,
        object_pairs_hook=None,
    ):
        self.object_hook = object_hook
        self.parse_float = parse_float or float
        self.parse_int = parse_int or int
        self.parse_constant = parse_constant or _CONSTANTS.__getitem__
        self.strict = strict
        self.object_pairs_hook = object_pairs_hook

    def decode(self, s):
        obj, end = self.raw_decode(s, self._blanks(s, 0))
        end = self._blanks(s, end)
        if end != len(s):
            raise JSONDecodeError("Extra data", s, end)
        return obj

    def raw_decode(self, s, idx=0):
        return self._value(s, idx)

    def _blanks(self, s, i):
        n = len(s)
        while i < n and s[i] in _BLANKS:
            i += 1
        return i

    def _value(self, s, i):
        c = s[i : i + 1]
        if c == '"':
            return self._string(s, i + 1)
        if c == "{":
            return self._object(s, i + 1)
        if c == "[":
            return self._array(s, i + 1)
        for word, value in (("null", None), ("true", True), ("false", False)):
            if s.startswith(word, i):
                return value, i + len(word)
        m = _NUMBER.match(s, i)
        if m is not None:
            whole, fraction, exponent = m.groups()
            if fraction or exponent:
                return self.parse_float(whole + (fraction or "") + (exponent or "")), m.end()
            return self.parse_int(whole), m.end()
        for word in _CONSTANTS:
            if s.startswith(word, i):
                return self.parse_constant(word), i + len(word)
        raise JSONDecodeError("Expecting value", s, i)

    def _string(self, s, i):
        begin, parts, n = i - 1, [], len(s)
        while True:
            j = i
            while j < n and s[j] != '"' and s[j] != "\\" and (s[j] >= " " or not self.strict):
                j += 1
            parts.append(s[i:j])
            if j >= n:
                raise JSONDecodeError("Unterminated string starting at", s, begin)
            c = s[j]
            if c == '"':
                return "".join(parts), j + 1
            if c != "\\":
                raise JSONDecodeError("Invalid control character at", s, j)
            if j + 1 >= n:
                raise JSONDecodeError("Unterminated string starting at", s, begin)
            e = s[j + 1]
            if e == "u":
                code, i = self._hex(s, j + 1), j + 6
                if 0xD800 <= code <= 0xDBFF and s[i : i + 2] == "\\u":
                    low = self._hex(s, i + 1)
                    if 0xDC00 <= low <= 0xDFFF:
                        code, i = 0x10000 + (code - 0xD800 << 10 | low - 0xDC00), i + 6
                parts.append(chr(code))
            elif e in _ESCAPES:
                parts.append(_ESCAPES[e])
                i = j + 2
            else:
                raise JSONDecodeError("Invalid \\escape", s, j)

    def _hex(self, s, pos):
        digits = s[pos + 1 : pos + 5]
        if len(digits) != 4 or not all(d in "0123456789abcdefABCDEF" for d in digits):
            raise JSONDecodeError("Invalid \\uXXXX escape", s, pos if len(digits) == 4 else pos)
        return int(digits, 16)

    def _object(self, s, i):
        pairs = []
        i = self._blanks(s, i)
        if s[i : i + 1] != "}":
            if s[i : i + 1] != '"':
                raise JSONDecodeError("Expecting property name enclosed in double quotes", s, i)
            while True:
                key, i = self._string(s, i + 1)
                i = self._blanks(s, i)
                if s[i : i + 1] != ":":
                    raise JSONDecodeError("Expecting ':' delimiter", s, i)
                value, i = self._value(s, self._blanks(s, i + 1))
                pairs.append((key, value))
                i = self._blanks(s, i)
                c = s[i : i + 1]
                if c == "}":
                    break
                if c != ",":
                    raise JSONDecodeError("Expecting ',' delimiter", s, i)
                i = self._blanks(s, i + 1)
                if s[i : i + 1] != '"':
                    raise JSONDecodeError("Expecting property name enclosed in double quotes", s, i)
        if self.object_pairs_hook is not None:
            return self.object_pairs_hook(pairs), i + 1
        result = dict(pairs)
        return result if self.object_hook is None else self.object_hook(result), i + 1

    def _array(self, s, i):
        values = []
        i = self._blanks(s, i)
        if s[i : i + 1] == "]":
            return values, i + 1
        while True:
            value, i = self._value(s, i)
            values.append(value)
            i = self._blanks(s, i)
            c = s[i : i + 1]
            if c == "]":
                return values, i + 1
            if c != ",":
                raise JSONDecodeError("Expecting ',' delimiter", s, i)
            i = self._blanks(s, i + 1)


def _quoted(s, ensure_ascii):
    out = ['"']
    for c in s:
        if c == '"':
            out.append('\\"')
        elif c == "\\":
            out.append("\\\\")
        elif c < " ":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}.get(c) or f"\\u{ord(c):04x}")
        elif c > "~" and ensure_ascii:
            code = ord(c)
            if code < 0x10000:
                out.append(f"\\u{code:04x}")
            else:
                code -= 0x10000
                out.append(f"\\u{0xd800 | code >> 10:04x}\\u{0xdc00 | code & 0x3ff:04x}")
        else:
            out.append(c)
    out.append('"')
    return "".join(out)


class JSONEncoder:
    item_separator = ", "
    key_separator = ": "

    def __init__(
        self,
        *,
        skipkeys=False,
        ensure_ascii=True,
        check_circular=True,
        allow_nan=True,
        sort_keys=False,
        indent=None,
        separators=None,
        default=None,
    ):
        self.skipkeys, self.ensure_ascii, self.check_circular = skipkeys, ensure_ascii, check_circular
        self.allow_nan, self.sort_keys, self.indent = allow_nan, sort_keys, indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError(f"Object of type {o.__class__.__name__} is not JSON serializable")

    def encode(self, o):
        return "".join(self.iterencode(o))

    def iterencode(self, o, _one_shot=False):
        out = []
        self._write(o, out, 0, [])
        return iter(out)

    def _float(self, o):
        if o != o or o in (float("inf"), float("-inf")):
            if not self.allow_nan:
                raise ValueError("Out of range float values are not JSON compliant: " + repr(o))
            return "NaN" if o != o else "Infinity" if o > 0 else "-Infinity"
        return float.__repr__(o)

    def _key(self, k):
        if isinstance(k, str):
            return k
        if isinstance(k, float):
            return self._float(k)
        if k is True or k is False or k is None:
            return {True: "true", False: "false", None: "null"}[k]
        if isinstance(k, int):
            return int.__repr__(k)
        if self.skipkeys:
            return None
        raise TypeError(f"keys must be str, int, float, bool or None, not {k.__class__.__name__}")

    def _write(self, o, out, level, open_):
        if isinstance(o, str):
            out.append(_quoted(o, self.ensure_ascii))
        elif o is None or o is True or o is False:
            out.append({None: "null", True: "true", False: "false"}[o])
        elif isinstance(o, int):
            out.append(int.__repr__(o))
        elif isinstance(o, float):
            out.append(self._float(o))
        else:
            if any(o is x for x in open_):
                raise ValueError("Circular reference detected")
            open_.append(o)
            if isinstance(o, dict):
                self._write_dict(o, out, level, open_)
            elif isinstance(o, (list, tuple)):
                self._write_list(o, out, level, open_)
            else:
                self._write(self.default(o), out, level, open_)
            open_.pop()

    def _newline(self, level):
        if self.indent is None:
            return ""
        return "\n" + (self.indent if isinstance(self.indent, str) else " " * self.indent) * level

    def _write_list(self, o, out, level, open_):
        if not o:
            out.append("[]")
            return
        out.append("[")
        for i, v in enumerate(o):
            out.append((self.item_separator if i else "") + self._newline(level + 1))
            self._write(v, out, level + 1, open_)
        out.append(self._newline(level) + "]")

    def _write_dict(self, o, out, level, open_):
        if not o:
            out.append("{}")
            return
        out.append("{")
        first = True
        for k, v in sorted(o.items()) if self.sort_keys else o.items():
            key = self._key(k)
            if key is None:
                continue
            out.append(("" if first else self.item_separator) + self._newline(level + 1))
            first = False
            out.append(_quoted(key, self.ensure_ascii) + self.key_separator)
            self._write(v, out, level + 1, open_)
        out.append(self._newline(level) + "}")


def dumps(
    obj,
    *,
    skipkeys=False,
    ensure_ascii=True,
    check_circular=True,
    allow_nan=True,
    cls=None,
    indent=None,
    separators=None,
    default=None,
    sort_keys=False,
    **kw,
):
    return (cls or JSONEncoder)(
        skipkeys=skipkeys,
        ensure_ascii=ensure_ascii,
        check_circular=check_circular,
        allow_nan=allow_nan,
        indent=indent,
        separators=separators,
        default=default,
        sort_keys=sort_keys,
        **kw,
    ).encode(obj)


def dump(obj, fp, **kw):
    fp.write(dumps(obj, **kw))


def loads(s, *, cls=None, **kw):
    if isinstance(s, str):
        if s.startswith("\ufeff"):
            raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", s, 0)
    elif isinstance(s, (bytes, bytearray)):
        s = s.decode()
    else:
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {s.__class__.__name__}")
    return (cls or JSONDecoder)(**{k: v for k, v in kw.items() if v is not None}).decode(s)


def load(fp, **kw):
    return loads(fp.read(), **kw)

whitespace = " \t\n\r\v\f"
ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdef" + "ABCDEF"
octdigits = "01234567"
punctuation = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join(x.capitalize() for x in s.split(sep))


class Template:
    def __init__(self, template):
        self.template = template

    def _run(self, values, safe):
        out, i, t = [], 0, self.template
        while i < len(t):
            if t[i] != "$":
                out.append(t[i])
                i += 1
                continue
            if t[i + 1 : i + 2] == "$":
                out.append("$")
                i += 2
                continue
            braced = t[i + 1 : i + 2] == "{"
            j = i + 2 if braced else i + 1
            k = j
            while k < len(t) and (t[k].isalnum() or t[k] == "_"):
                k += 1
            name = t[j:k]
            end = k + 1 if braced else k
            if name in values:
                out.append(str(values[name]))
            elif safe or not name:
                out.append(t[i:end])
            else:
                raise KeyError(name)
            i = max(end, i + 1)
        return "".join(out)

    def substitute(self, mapping={}, /, **kws):
        return self._run({**mapping, **kws}, False)

    def safe_substitute(self, mapping={}, /, **kws):
        return self._run({**mapping, **kws}, True)


class Formatter:
    def format(self, format_string, /, *args, **kwargs):
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string, args, kwargs):
        result, _ = self._vformat(format_string, args, kwargs, 2, 0)
        self.check_unused_args(set(), args, kwargs)
        return result

    def _vformat(self, format_string, args, kwargs, depth, auto):
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        result = []
        for literal, name, spec, conversion in self.parse(format_string):
            if literal:
                result.append(literal)
            if name is None:
                continue
            if name == "":
                if auto is False:
                    raise ValueError("cannot switch from manual field specification to automatic field numbering")
                name = str(auto)
                auto += 1
            elif name.isdigit():
                if auto:
                    raise ValueError("cannot switch from manual field specification to automatic field numbering")
                auto = False
            obj, _ = self.get_field(name, args, kwargs)
            obj = self.convert_field(obj, conversion)
            spec, auto = self._vformat(spec, args, kwargs, depth - 1, auto)
            result.append(self.format_field(obj, spec))
        return "".join(result), auto

    def get_value(self, key, args, kwargs):
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(self, used_args, args, kwargs):
        pass

    def format_field(self, value, format_spec):
        return format(value, format_spec)

    def convert_field(self, value, conversion):
        if conversion is None:
            return value
        if conversion in "sra":
            return {"s": str, "r": repr, "a": ascii}[conversion](value)
        raise ValueError(f"Unknown conversion specifier {conversion!s}")

    def parse(self, format_string):
        literal, i, n = "", 0, len(format_string)
        while i < n:
            c = format_string[i]
            if c not in "{}":
                literal += c
                i += 1
                continue
            if format_string[i + 1 : i + 2] == c:
                yield literal + c, None, None, None
                literal = ""
                i += 2
                continue
            if c == "}":
                raise ValueError("Single '}' encountered in format string")
            depth, j = 1, i + 1
            while j < n and depth:
                depth += (format_string[j] == "{") - (format_string[j] == "}")
                j += 1
            if depth:
                raise ValueError(
                    "expected '}' before end of string" if i + 1 < n else "Single '{' encountered in format string"
                )
            field, spec, conversion = format_string[i + 1 : j - 1], "", None
            k = 0
            while k < len(field) and field[k] not in ":!":
                k = field.index("]", k) + 1 if field[k] == "[" and "]" in field[k:] else k + 1
            name, rest = field[:k], field[k:]
            if rest[:1] == "!":
                conversion, rest = rest[1:2], rest[2:]
            yield literal, name, rest[1:], conversion
            literal = ""
            i = j
        if literal:
            yield literal, None, None, None

    def get_field(self, field_name, args, kwargs):
        k = 0
        while k < len(field_name) and field_name[k] not in ".[":
            k += 1
        first, rest = field_name[:k], field_name[k:]
        obj = self.get_value(int(first) if first.isdigit() else first, args, kwargs)
        while rest:
            if rest[0] == ".":
                k = 1
                while k < len(rest) and rest[k] not in ".[":
                    k += 1
                obj, rest = getattr(obj, rest[1:k]), rest[k:]
            else:
                k = rest.index("]")
                key = rest[1:k]
                obj, rest = obj[int(key) if key.isdigit() else key], rest[k + 1 :]
        return obj, first

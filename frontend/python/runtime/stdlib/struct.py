# Numbers as bytes, in Python. Floats need more than it has.
import _cobra


class error(Exception):
    pass


_SIZES = {"x": 1, "c": 1, "b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "s": 1}
_SIZES |= {"e": 2, "f": 4, "d": 8, "l": 4, "L": 4}
_NATIVE = {"l": 8, "L": 8, "n": 8, "N": 8, "P": 8}


def _parts(format):
    """(order, [(letter, count, bytes before it, its size)])"""
    if isinstance(format, bytes):
        format = format.decode()
    native, order = True, "little"
    if format[:1] in ("@", "=", "<", ">", "!"):
        native = format[0] == "@"
        order = "big" if format[0] in ">!" else "little"
        format = format[1:]
    sizes = {**_SIZES, **_NATIVE} if native else _SIZES
    parts, at, count = [], 0, ""
    for letter in format:
        if letter.isdigit():
            count += letter
        elif not letter.isspace():
            if letter not in sizes:
                raise error("bad char in struct format")
            size = sizes[letter]
            gap = -at % size if native else 0
            number = int(count) if count else 1
            parts.append((letter, number, gap, size))
            at += gap + number * size
            count = ""
    if count:
        raise error("repeat count given without format specifier")
    return order, parts


def calcsize(format):
    return sum(gap + count * size for _, count, gap, size in _parts(format)[1])


def _no_floats(letter):
    if letter in "efd":
        _cobra.unsupported("struct of floating point numbers")


def pack(format, *values):
    order, parts = _parts(format)
    wanted = sum(1 if letter == "s" else 0 if letter == "x" else count for letter, count, _, _ in parts)
    if wanted != len(values):
        raise error(f"pack expected {wanted} items for packing (got {len(values)})")
    out, given = b"", iter(values)
    for letter, count, gap, size in parts:
        _no_floats(letter)
        out += b"\0" * gap
        if letter == "s":
            out += next(given)[:count].ljust(count, b"\0")
        elif letter == "x":
            out += b"\0" * count
        else:
            for _ in range(count):
                value = next(given)
                if letter == "c":
                    out += value
                    continue
                try:
                    out += int(bool(value) if letter == "?" else value).to_bytes(size, order, signed=letter.islower())
                except OverflowError:
                    raise error(f"{letter!r} format requires a number in its range") from None
    return out


def unpack_from(format, buffer, offset=0):
    order, parts = _parts(format)
    out, at = [], offset
    if len(buffer) - offset < calcsize(format):
        raise error(f"unpack_from requires a buffer of at least {offset + calcsize(format)} bytes")
    for letter, count, gap, size in parts:
        _no_floats(letter)
        at += gap
        if letter == "s":
            out.append(bytes(buffer[at : at + count]))
            at += count
            continue
        for _ in range(count):
            piece = bytes(buffer[at : at + size])
            at += size
            if letter == "c":
                out.append(piece)
            elif letter == "?":
                out.append(piece != b"\0")
            elif letter != "x":
                out.append(int.from_bytes(piece, order, signed=letter.islower()))
    return tuple(out)


def unpack(format, buffer):
    if len(buffer) != calcsize(format):
        raise error(f"unpack requires a buffer of {calcsize(format)} bytes")
    return unpack_from(format, buffer)


def iter_unpack(format, buffer):
    size = calcsize(format)
    if size == 0 or len(buffer) % size:
        raise error(f"iterative unpacking requires a buffer of a multiple of {size} bytes")
    return (unpack_from(format, buffer, at) for at in range(0, len(buffer), size))


class Struct:
    def __init__(self, format):
        self.format, self.size = format, calcsize(format)

    def pack(self, *values):
        return pack(self.format, *values)

    def unpack(self, buffer):
        return unpack(self.format, buffer)

    def unpack_from(self, buffer, offset=0):
        return unpack_from(self.format, buffer, offset)

    def iter_unpack(self, buffer):
        return iter_unpack(self.format, buffer)

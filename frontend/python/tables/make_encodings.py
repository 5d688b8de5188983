#!/usr/bin/python3
"""Writes encodings.inc (table_file.py): the encodings that Python source declares (PEP 263), as
CPython 3.11 decodes them. UTF-8 and Latin-1 need no table."""
import codecs
import encodings
import encodings.aliases
import pkgutil
import textwrap

from table_file import write_table

NONE = "\ufffd"
# name: first and last lead byte, first and last trail byte. What Python has besides as a variant of
# one of them has a list of differences; euc_jp is computed from shift_jis.
TABLES = {
    "gbk": (0x81, 0xFE, 0x40, 0xFE),
    "cp949": (0x81, 0xFE, 0x41, 0xFE),
    "cp950": (0x81, 0xFE, 0x40, 0xFE),
    "cp932": (0x81, 0xFC, 0x40, 0xFC),
    "jisx0212": (0xA1, 0xFE, 0xA1, 0xFE),  # what euc_jp has behind 0x8f
}
VARIANTS = {"gb2312": "gbk", "gb18030": "gbk", "euc_kr": "cp949", "big5": "cp950", "shift_jis": "cp932"}
# euc_kr and gb2312 have the part of their tables in which both bytes are at least this.
LEFT_OUT = {*VARIANTS, *TABLES, "euc_jp", "latin_1", "iso8859_1", "charmap", "raw_unicode_escape", "unicode_escape"}
FIRST = {"euc_kr": 0xA1, "gb2312": 0xA1}


def literal(text):
    """Of C++: what cannot be seen, or would end it, is written in octal."""
    shown = (
        c if c.isprintable() and c not in '"\\?' or c == NONE else "".join("\\%03o" % b for b in c.encode())
        for c in text
    )
    return '"' + "".join(shown) + '"'


def decoded(name, data):
    if name == "jisx0212":
        name, data = "euc_jp", b"\x8f" + data
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        return NONE
    return text if len(text) == 1 and ord(text) < 0x10000 else NONE


def rows(out):
    for name, (first, last, low, high) in TABLES.items():
        out.append(f"constexpr absl::string_view k_{name}[] = {{")
        for lead in range(first, last + 1):
            row = "".join(decoded(name, bytes([lead, trail])) for trail in range(low, high + 1))
            row = row.rstrip(NONE).replace(NONE, "~")
            out.append(f"    {literal(row[:96])}" + (f"\n    {literal(row[96:])}," if row[96:] else ","))
        out[-1] += "};"


def differences(out):
    for name, base in VARIANTS.items():
        first, last, low, high = TABLES[base]
        least = FIRST.get(name, 0)
        pairs = []
        for lead in range(max(first, least), last + 1):
            for trail in range(max(low, least), high + 1):
                own = decoded(name, bytes([lead, trail]))
                if own != decoded(base, bytes([lead, trail])):
                    pairs.append((lead << 8 | trail, own))
        ranges = []  # first code, last code, character of the first, how much more each next one is
        for code, c in pairs:
            last = ranges[-1] if ranges else None
            step = 0 if c == NONE else 1
            if last and code == last[1] + 1 and step == last[3] and ord(c) == last[2] + step * (code - last[0]):
                last[1] = code
            else:
                ranges.append([code, code, ord(c), step])
        text = "".join(f"{{0x{a:x}, 0x{b:x}, 0x{c:x}, {step}}}, " for a, b, c, step in ranges)
        out.append(f"constexpr Difference k_{name}[] = {{")
        out += ["    " + line for line in textwrap.wrap(text, 140)]
        out[-1] += "};"
        print(name, len(ranges), "ranges of differences from", base)


def code_pages(out):
    names = sorted(m.name for m in pkgutil.iter_modules(encodings.__path__))
    for name in names:
        try:
            upper = [decoded(name, bytes([b])) for b in range(128, 256)]
            lower = [decoded(name, bytes([b])) for b in range(128)]
            is_page = lower == [chr(b) for b in range(128)] and codecs.lookup(name)._is_text_encoding
        except (LookupError, UnicodeError, AttributeError, TypeError, ValueError):
            continue
        if is_page and upper.count(NONE) < 100 and name not in LEFT_OUT:
            if decoded(name, b"\x81\x81") == NONE and decoded(name, b"\xb0\xa1") != NONE:
                continue  # of two bytes
            text = "".join(upper)
            out.append(f'    {{"{name}",\n     {literal(text[:64])}\n     {literal(text[64:])}}},')


def names(out):
    known = {m.name: m.name for m in pkgutil.iter_modules(encodings.__path__) if m.name != "aliases"}
    known.update(encodings.aliases.aliases)
    for alias, name in sorted(known.items()):
        try:
            if codecs.lookup(name)._is_text_encoding and name not in ("idna", "punycode", "undefined", "oem", "mbcs"):
                out.append(f'    {{"{alias}", "{name}"}},')
        except LookupError:
            pass


def main():
    parts = {}
    for key, write in (("DIFFERENCES", differences), ("TABLES", rows), ("PAGES", code_pages), ("NAMES", names)):
        parts[key] = []
        write(parts[key])
    text = "// Made by make_encodings.py from CPython 3.11.\n"
    for key, lines in parts.items():
        text += f"#ifdef COBRA_ENCODING_{key}\n" + "\n".join(lines) + "\n#endif\n"
    write_table("encodings.inc", text)


main()

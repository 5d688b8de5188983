"""Writes character_tables.inc (table_file.py): what str methods and regular expressions need to
know of Unicode characters, as CPython's own str has it.

  python3.11 make_character_tables.py
"""
import io
import unicodedata

from table_file import write_table

# bit 0 first; as in character.h
PROPERTIES = ("isalpha", "isdecimal", "isdigit", "isnumeric", "isspace", "islower", "isupper", "istitle")


def flags(c):
    bits = sum(1 << i for i, p in enumerate(PROPERTIES) if getattr(c, p)())
    if not c.isupper() and unicodedata.category(c) == "Lt":
        bits |= 1 << 7
    elif c.isupper():  # istitle() is also true of an upper-case letter
        bits &= ~(1 << 7)
    if ignorable(c):
        bits |= 1 << 8
    return bits


def ignorable(c):
    """Case-ignorable: skipped when a final sigma is decided."""
    return (
        "Σ" in ("A" + c + "Σ").lower()
        or ("AΣ" + c + "B").lower()[1] == "σ"
        and ("AΣ" + c).lower()[1] == "ς"
        and not c.lower() != c
        and not (c.islower() or c.isupper() or c.istitle())
    )


def main():
    out = io.StringIO()
    out.write("// Made by make_character_tables.py from Unicode %s.\n" % unicodedata.unidata_version)
    out.write("const PropertyRange kPropertyRanges[] = {\n")
    start, current = 0, flags("\0")
    rows = []
    for code in range(1, 0x110000):
        f = 0 if 0xD800 <= code < 0xE000 else flags(chr(code))
        if f != current:
            if current:
                rows.append((start, code - 1, current))
            start, current = code, f
    if current:
        rows.append((start, 0x10FFFF, current))
    write_rows(out, ["{0x%x, 0x%x, %d}" % r for r in rows])
    out.write("};\n")
    for name, function in (("Lower", str.lower), ("Upper", str.upper), ("Title", str.title), ("Fold", str.casefold)):
        simple, full = [], []
        for code in range(0x80, 0x110000):
            if 0xD800 <= code < 0xE000:
                continue
            c = chr(code)
            m = function(c)
            if m == c:
                continue
            if len(m) == 1:
                simple.append("{0x%x, 0x%x}" % (code, ord(m)))
            else:
                full.append('{0x%x, "%s"}' % (code, "".join("\\x%02x" % b for b in m.encode())))
        out.write("const CaseMapping k%s[] = {\n" % name)
        write_rows(out, simple)
        out.write("};\nconst FullCaseMapping kFull%s[] = {\n" % name)
        write_rows(out, full)
        out.write("};\n")
    write_table("character_tables.inc", out.getvalue())


def write_rows(out, rows):
    line = "   "
    for r in rows:
        if len(line) + len(r) + 2 > 140:
            out.write(line + "\n")
            line = "   "
        line += " " + r + ","
    out.write(line + "\n")


main()

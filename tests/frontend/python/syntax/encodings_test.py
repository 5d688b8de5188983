#!/usr/bin/env python3
"""Source files in the encodings that they declare: the tree is that of the same text in UTF-8, as
CPython has it; what CPython does not decode is an error here too. Encodings that Python knows and
the reader does not are refused as such."""
import ast
import codecs
import os
import random
import subprocess
import sys
import tempfile

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
DECODED = (
    "gbk gb2312 gb18030 big5 cp950 cp949 euc_kr shift_jis cp932 euc_jp latin-1 iso8859-15 cp1250 cp1251 cp1252 koi8-r "
    "koi8_u cp437 cp866 mac-roman tis-620 hz_is_not_there utf-8"
).split()
ALIASES = ["GBK", "sjis", "Shift-JIS", "windows-1252", "euckr", "cp936", "chinese", "latin1", "L1", "ms932", "EUC-JP"]
REFUSED = ["iso2022_jp", "big5hkscs", "hz", "johab", "utf_7", "shift_jis_2004"]
TREES = 20


def characters(encoding, count):
    """Some of the characters that the encoding has."""
    found = []
    for code in range(0xA1, 0x10000):
        try:
            if chr(code).isprintable() and chr(code).encode(encoding).decode(encoding) == chr(code):
                found.append(chr(code))
        except UnicodeError:
            pass
    return random.Random(encoding).sample(found, min(count, len(found)))


def dumped(path):
    """The sum of the tree of a file, or None and the message."""
    done = subprocess.run([BIN + "/python_ast_dump"], input=path + "\n", capture_output=True, text=True)
    words = done.stdout.split()
    return (words[1], "") if words and words[0] == "ok" else (None, done.stdout + done.stderr)


def main():
    wrong, asked = [], 0
    with tempfile.TemporaryDirectory() as folder:

        def of(data):
            path = folder + "/net.py"
            with open(path, "wb") as f:
                f.write(data)
            return dumped(path)

        for encoding in DECODED + ALIASES:
            try:
                codecs.lookup(encoding)
            except LookupError:
                tree, text = of(f"# coding: {encoding}\n".encode())
                asked += 1
                if tree is not None or "unknown encoding" not in text:
                    wrong.append(f"{encoding}: {text}")
                continue
            for part in range(TREES if encoding in DECODED else 1):
                text = "".join(characters(f"{encoding}", 300)[part::TREES])
                source = f"# -*- coding: {encoding} -*-\nname = {text!r}\nend = 1\n"
                try:
                    data = source.encode(encoding)
                except UnicodeError:
                    continue
                asked += 1
                tree, message = of(data)
                same, _ = of(source.replace(f"coding: {encoding}", "no other one" + " " * 20).encode())
                if tree is None or tree != same:
                    wrong.append(f"{encoding}: {text[:20]!r}: {message}")
        for encoding in REFUSED:
            tree, text = of(f"# coding: {encoding}\nx = 1\n".encode())
            asked += 1
            if tree is not None or "is not supported" not in text:
                wrong.append(f"{encoding}: {text}")
        for encoding, data in (
            ("gbk", b"\x81\x30"),
            ("shift_jis", b"\x85\xff"),
            ("ascii", b"\xe4"),
            ("cp1252", b"\x81"),
        ):
            source = f"# coding: {encoding}\nx = '".encode() + data + b"'\n"
            try:
                ast.parse(source)
                wrong.append(f"{encoding}: CPython decodes {data}")
            except SyntaxError:
                pass
            tree, text = of(source)
            asked += 1
            if tree is not None or "can't decode byte" not in text:
                wrong.append(f"{encoding}: {data}: {text}")
    print(f"{asked} files, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())

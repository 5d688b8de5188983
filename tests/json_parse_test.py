#!/usr/bin/python3
"""JSON is parsed in one place, base/text/json.h, which bounds its depth and size: nlohmann's parser
elsewhere is an error.

    json_parse_test.py [ROOT]
"""
import os
import re
import sys
import tempfile

PARSE = re.compile(r"(?:\bjson|\bJson|_json)::(?:parse|accept|sax_parse)\b")
# graph/form/json_reader.cc has checked the text's outline when it parses, and looks at the keys a
# second time.
MAY_PARSE = {"base/text/json.h", "graph/form/json_reader.cc"}


def violations(root):
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in ("build", "tests")]
        for file in sorted(files):
            path = os.path.relpath(os.path.join(folder, file), root)
            if not file.endswith((".cc", ".h")) or path in MAY_PARSE:
                continue
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as lines:
                found += [
                    f"{path}:{number}: use ParseJson (base/text/json.h)"
                    for number, line in enumerate(lines, 1)
                    if PARSE.search(line)
                ]
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.environ["COBRA_SOURCE"]
    with tempfile.TemporaryDirectory() as planted:
        with open(os.path.join(planted, "a.cc"), "w", encoding="utf-8") as file:
            file.write("auto j = nlohmann::json::parse(text);\n")
        assert violations(planted) == ["a.cc:1: use ParseJson (base/text/json.h)"], violations(planted)
    found = violations(root)
    print("\n".join(found) or "JSON is parsed in one place")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

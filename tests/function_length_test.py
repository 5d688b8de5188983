#!/usr/bin/env python3
"""No function of C++ has more than 60 lines and no source more than 600, unless a line says why.

    function_length_test.py [ROOT]     exit 0: none has, 1: those that have, the longest first
A function counts from the line where its declaration begins to the brace that closes it. The reason
stands in the comment right above it, in a line that begins `// Long because `; a file's reason in
its first lines (`# Long because ` in Python).
"""
import os
import sys
import tempfile

from cpp_source import definitions_of
from layering_test import root_asked_for, sources

MOST_FUNCTION_LINES = 60
MOST_FILE_LINES = 600
# How many lines from a file's beginning are searched for its reason.
FIRST_LINES = 30


def says_why(lines, at):
    """Whether the comment that ends above line `at` (from 1), `template <...>` between them, has a
    reason in it."""
    above = at - 2
    while above >= 0 and lines[above].strip().startswith(("template", "//")):
        if lines[above].strip().startswith("// Long because "):
            return True
        above -= 1
    return False


def long_functions(path, text):
    lines = text.split("\n")
    for definition in definitions_of(text):
        count = definition.end - definition.line + 1
        if (
            definition.kind == "function"
            and definition.has_body
            and count > MOST_FUNCTION_LINES
            and not says_why(lines, definition.line)
        ):
            yield count, f"{path}:{definition.line}: {definition.name} has {count} lines, {MOST_FUNCTION_LINES} are allowed"


def long_file(path, text):
    lines = text.splitlines()
    if len(lines) > MOST_FILE_LINES and not any(
        line.startswith(("// Long because ", "# Long because ")) for line in lines[:FIRST_LINES]
    ):
        yield len(lines), f"{path}:1: the file has {len(lines)} lines, {MOST_FILE_LINES} are allowed"


def violations(root):
    found = []
    for path in sources(root, (".cc", ".h", ".py")):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        found += long_file(path, text)
        if not path.endswith(".py"):
            found += long_functions(path, text)
    return [message for _, message in sorted(found, key=lambda entry: -entry[0])]


def body(count):
    return "\n".join(f'  Call("}} {{", {line});  // }}' for line in range(count))


REASON = "// Long because it is a list.\n"
# File -> text; each of PLANTED has to be found, none of CLEAN.
PLANTED = {
    "graph/a.cc": f"namespace cobra::graph {{\nint F(int x,\n      int y) {{\n{body(58)}\n}}\n}}\n",
    "graph/b.h": f"class A {{\n public:\n  A() : x_{{1}}, y_(2) {{\n{body(59)}\n  }}\n}};\n",
    "graph/c.cc": f"{REASON}int G() {{ return 1; }}\n\nint H() {{\n{body(60)}\n}}\n",
    "graph/d.cc": f"TEST(A, B) {{\n{body(59)}\n}}\n",
    "graph/e.cc": "int x;\n" * 601,
    "tests/e.py": "x = 1\n" * 601,
}
CLEAN = {
    "graph/f.cc": f"int F() {{\n{body(58)}\n}}\n",
    "graph/g.cc": f"// What it does.\n{REASON}template <typename T>\nstd::vector<int> A<T>::G(int) const {{\n{body(100)}\n}}\n",
    "graph/h.cc": f"class A {{\n  int x = 0;\n{'  void F() {}' + chr(10)}{'  int y;' + chr(10) * 2}{body(0)}"
    + "  void G() {}\n" * 70
    + "};\n",
    "graph/i.cc": "// Long because it is a table.\n" + "int x;\n" * 700,
    "tests/j.py": '"""Cases."""\n# Long because it is a list.\n' + "x = 1\n" * 700,
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**PLANTED, **CLEAN}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        found = {message.split(":")[0] for message in violations(root)}
        return sorted(set(PLANTED) - found), sorted(found - set(PLANTED))


def main():
    missed, wrong = self_test()
    if missed or wrong:
        print(f"the test itself is broken: planted but not found {missed}, found but clean {wrong}")
        return 1
    found = violations(root_asked_for())
    print("\n".join(found) or "functions and files are short")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

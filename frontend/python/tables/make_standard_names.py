#!/usr/bin/env python3
"""Writes standard_names.inc (table_file.py): the public names of the standard library's modules
that are offered here, and of their classes, as CPython 3.11 has them, and after "12:" or "13:"
those that only later versions have.

  python3.11 make_standard_names.py [TYPESHED/stdlib]

Later versions are read from typeshed (the stubs that mypy brings along), because no such Python
need be installed. Without it, what the file has of them stays.
"""
import ast
import contextlib
import importlib
import io
import os
import pkgutil
import re
import sys
import textwrap
import types

from table_file import HERE, read_table, write_table

STDLIB = os.path.join(os.path.dirname(HERE), "runtime", "stdlib")
# Modules that are in C++ here; and the rest of packages of which a part is offered.
NATIVE = ["builtins", "cmath", "itertools", "math", "sys"]
LATER = (12, 13)
# Attributes of classes that their instances seldom have.
UNSET = {"characters_written"}


def modules():
    found = list(NATIVE)
    for folder, _, files in os.walk(STDLIB):
        for file in files:
            path = os.path.relpath(os.path.join(folder, file), STDLIB)
            found.append(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    return sorted(found)


def public(names):
    return {name for name in names if not name.startswith("_")} - UNSET


def names_of(module):
    """The module's own public names, and {class: its attributes}."""
    listed = public(getattr(module, "__all__", ()))
    for name in public(dir(module)):
        value = getattr(module, name)
        home = getattr(value, "__module__", module.__name__)
        if not isinstance(value, types.ModuleType) and home in (module.__name__, None, "_" + module.__name__):
            listed.add(name)
    classes = {}
    for name in listed:
        value = getattr(module, name, None)
        if isinstance(value, type) and value is not object:
            classes[name] = public(dir(value))
    return listed, classes


class Stub:
    """What a stub of typeshed defines for a minor version of Python 3."""

    def __init__(self, tree, minor):
        self.minor, self.classes = minor, {}
        self.names = self.block(tree.body)

    def block(self, statements):
        names = set()
        for s in statements:
            if isinstance(s, ast.If):
                names |= self.block(s.body if self.holds(s.test) else s.orelse)
            elif isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names.add(s.name)
            elif isinstance(s, ast.ClassDef):
                names.add(s.name)
                self.classes.setdefault(s.name, set()).update(public(self.block(s.body)))
            elif isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
                names.add(s.target.id)
            elif isinstance(s, ast.Assign):
                names |= {t.id for t in s.targets if isinstance(t, ast.Name)}
            elif isinstance(s, ast.ImportFrom):
                names |= {a.asname for a in s.names if a.asname == a.name}
        return public(names)

    def holds(self, test):
        if isinstance(test, ast.BoolOp):
            values = [self.holds(v) for v in test.values]
            return all(values) if isinstance(test.op, ast.And) else any(values)
        if isinstance(test, ast.UnaryOp):
            return not self.holds(test.operand)
        text = ast.unparse(test)
        return eval(text, {"sys": types.SimpleNamespace(version_info=(3, self.minor), platform="linux")})


def known_later():
    """{place: {name: version}} of the file as it is."""
    known = {}
    for place, names in re.findall(r'\{"([^"]*)",([^}]*)\}', read_table("standard_names.inc")):
        found = (word.split(":") for word in names.replace('"', " ").split() if ":" in word)
        known[place] = {name: int(minor) for minor, name in found}
    return known


def later_names(typeshed, name):
    path = os.path.join(typeshed, *name.split("."))
    path = path + "/__init__.pyi" if os.path.isdir(path) else path + ".pyi"
    if not os.path.exists(path):
        return {}, {}
    with open(path) as f:
        tree = ast.parse(f.read())
    stubs = {minor: Stub(tree, minor) for minor in (11,) + LATER}
    names, classes = {}, {}
    for minor in reversed(LATER):
        names.update(dict.fromkeys(stubs[minor].names - stubs[11].names, minor))
        for cls, attributes in stubs[minor].classes.items():
            if cls in stubs[11].classes:
                classes.setdefault(cls, {}).update(dict.fromkeys(attributes - stubs[11].classes[cls], minor))
    return names, classes


def full_name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


def submodules(tops):
    """Of the packages of which a part is offered, all modules."""
    found = set()
    for top in tops:
        path = getattr(importlib.import_module(top), "__path__", None)
        for info in pkgutil.walk_packages(path, top + ".", onerror=lambda name: None) if path else ():
            if not any(part.startswith("_") for part in info.name.split(".")) and ".tests" not in info.name:
                found.add(info.name)
    return found


def entry(place, names, later):
    items = sorted(names) + [f"{minor}:{name}" for name, minor in sorted(later.items()) if name not in names]
    if not items:
        return
    lines = textwrap.wrap(" ".join(items), 140, break_long_words=False, break_on_hyphens=False)
    print(f'    {{"{place}",')
    for i, line in enumerate(lines):
        print(f'     " {line} "' + ("}," if i + 1 == len(lines) else ""))


def print_table():
    known = known_later()
    print("// Made by make_standard_names.py from CPython 3.11 and typeshed.")
    written = set()
    tops = {name.split(".")[0] for name in modules()} & sys.stdlib_module_names
    entry("", submodules(sorted(tops - {"__future__"})), {})
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # of another project (packaging), or not under this name
        if name.startswith(("packaging", "pkg_resources")) or name == "typing_extensions":
            continue
        names, classes = names_of(module)
        if len(sys.argv) > 1:
            later, later_classes = later_names(sys.argv[1], name)
        else:
            later, later_classes = known.get(name, {}), {c: known.get(f"{name}.{c}", {}) for c in classes}
        entry(name, names, later)
        for cls in sorted(classes):
            places = {f"{name}.{cls}", full_name(getattr(module, cls))}  # types.FrameType is builtins.frame
            for place in sorted(places - written):
                entry(place, classes[cls], later_classes.get(cls, {}))
            written |= places


def main():
    if sys.version_info[:2] != (3, 11) or len(sys.argv) > 2:
        sys.exit(__doc__)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print_table()
    write_table("standard_names.inc", text.getvalue())


main()

#!/usr/bin/env python3
"""Every public name of the standard library's modules that the reader offers, and of their classes,
is there as in CPython 3.11: offered, or known and refused where it is used. It is never an
AttributeError, which would be blamed on the model.

    standard_names_test.py           exit 0: so it is
    standard_names_test.py --list    prints what is known and not offered
"""
import importlib
import os
import subprocess
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
IN_CPP = ["builtins", "cmath", "itertools", "math", "sys"]
# Of other projects, or of ours; and names that only a prompt has, or that are no names.
NOT_ASKED = ("packaging", "pkg_resources", "typing_extensions", "_")
NOT_ASKED_NAMES = {"builtins": {"None", "True", "False"}, "__future__": {"CO_NESTED"}}
# Attributes of classes that their instances seldom have.
UNSET = {"characters_written"}
# Attributes of a class that its instances have here, and the class has not.
OF_INSTANCES = {"types.CodeType", "types.GeneratorType", "types.CoroutineType", "types.AsyncGeneratorType"}
PROGRAM = """
import importlib
import _cobra
for name, names, classes in %r:
    module = importlib.import_module(name)
    for n in names:
        if not hasattr(module, n):
            print("missing", name + "." + n)
        elif _cobra.is_opaque(getattr(module, n)):
            print("known", name + "." + n)
    for cls, attributes in classes.items():
        value = getattr(module, cls)
        if _cobra.is_opaque(value):
            continue
        for a in attributes:
            if not hasattr(value, a):
                print("missing", name + "." + cls + "." + a)
            elif _cobra.is_opaque(getattr(value, a)):
                print("known", name + "." + cls + "." + a)
"""
REFUSED = """
import inspect
try:
    inspect.findsource
    inspect.findsource(len)
except AttributeError:
    print("AttributeError")
"""


def offered():
    found = list(IN_CPP)
    folder = ROOT + "/frontend/python/runtime/stdlib"
    for path, _, files in os.walk(folder):
        for file in files:
            name = os.path.relpath(os.path.join(path, file), folder).removesuffix(".py")
            found.append(name.removesuffix("/__init__").replace("/", "."))
    return sorted(name for name in found if not name.startswith(NOT_ASKED) or name in ("__future__", "_thread"))


def public(names):
    return sorted(name for name in names if not name.startswith("_") and name not in UNSET)


def names_of(name):
    module = importlib.import_module(name)
    names = set(public(getattr(module, "__all__", ())))
    for n in public(dir(module)):
        value = getattr(module, n)
        if not isinstance(value, types.ModuleType) and getattr(value, "__module__", name) == name:
            names.add(n)
    names -= NOT_ASKED_NAMES.get(name, set())
    classes = {
        n: public(dir(getattr(module, n)))
        for n in sorted(names)
        if isinstance(getattr(module, n, None), type) and f"{name}.{n}" not in OF_INSTANCES
    }
    return name, sorted(names), classes


def run(text):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/main.py", "w") as f:
            f.write(text)
        done = subprocess.run(
            [BIN + "/python_run", folder + "/main.py", "--steps", "100000000"], capture_output=True, text=True
        )
        return done.stdout


def main():
    if sys.version_info[:2] != (3, 11):
        print("needs CPython 3.11")
        return 77
    asked = [names_of(name) for name in offered()]
    lines = run(PROGRAM % asked).splitlines()
    missing = [line for line in lines if not line.startswith("known ")]
    known = [line[len("known ") :] for line in lines if line.startswith("known ")]
    if "--list" in sys.argv:
        print("\n".join(known))
    count = sum(len(names) for _, names, _ in asked)
    print(f"{len(asked)} modules, {count} names, {len(known)} names and attributes known and not offered")
    print("\n".join(missing + ["run frontend/python/tables/make_standard_names.py"] * bool(missing)))
    refused = run(REFUSED)
    if "calling inspect.findsource() is not supported" not in refused:
        missing.append(refused)
        print("a known name: " + refused)
    return 1 if missing or not count else 0


if __name__ == "__main__":
    sys.exit(main())

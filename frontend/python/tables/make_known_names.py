#!/usr/bin/python3
"""Writes known_names.inc (table_file.py) from the installed python3-torch 1.13: which modules
PyTorch has, and the names in those that our library has too. With them, a name that PyTorch has and
our library lacks is "unsupported", and one that nobody has is the AttributeError that hasattr()
asks about. `name=module:attribute` is a name that its module only imports from elsewhere (`from
torch.nn.modules.conv import Tensor`), `name=property` an attribute of tensors that is not a method.

With a newer PyTorch (build/pypi/bin/python) it writes later_names.inc: the public names that 1.13
lacks, and `-name` for those that are gone. ../torch/names/versions.def has the names whose first version
is known."""
import glob
import importlib
import io
import os
import re
import types
import warnings

import torch
import torch.nn.functional
from table_file import HERE, read_table, write_table

LIBRARY = os.path.join(os.path.dirname(HERE), "library")
VERSIONS = os.path.join(os.path.dirname(HERE), "torch", "names", "versions.def")
INTERNAL = (
    "test",
    "_internal",
    "benchmark",
    "bottleneck",
    "hipify",
    "_inductor",
    "include",
    "lib",
    "bin",
    "share",
    "__pycache__",
)
HOMES = (
    "typing",
    "collections",
    "functools",
    "itertools",
    "copy",
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parameter",
)
PUBLIC_ONLY = ("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.fft", "torch.linalg", "torch.nn.init")


def existing_modules():
    root, found = os.path.dirname(torch.__file__), [
        "torch._C",
        "torch._C._nn",
        "torch.ops",
        "torch.classes",
        "torch._VF",
    ]
    for folder, below, files in os.walk(root):
        below[:] = sorted(d for d in below if d not in INTERNAL)
        dotted = "torch" if folder == root else "torch." + os.path.relpath(folder, root).replace("/", ".")
        if dotted != "torch" and "__init__.py" in files:
            found.append(dotted)
        found += [dotted + "." + f[:-3] for f in sorted(files) if f.endswith(".py") and f != "__init__.py"]
    return sorted(found)


def our_modules():
    """The modules of torch that frontend/python/library has: a file each."""
    paths = glob.glob("torch/**/*.py", root_dir=LIBRARY, recursive=True)
    return sorted(path[:-3].removesuffix("/__init__").replace("/", ".") for path in paths)


def known_before():
    """The names in known_names.inc, and those of versions.def, by module."""
    known, dated = {}, {}
    for module, names in re.findall(r'\{"([^"]*)",\n(.*?)\},\n', read_table("known_names.inc"), re.S):
        known[module] = {name.split("=")[0] for name in names.replace('"', " ").split()}
    with open(VERSIONS) as file:
        for module, names in re.findall(r'^COBRA_TORCH_SINCE\("([^"]+)", "([^"]+)"', file.read(), re.M):
            dated.setdefault(module, set()).update(names.split())
    return known, dated


def home(module, name, value, homes):
    """ "module:attribute" of something that `module` only imports."""
    if isinstance(value, types.ModuleType):
        return value.__name__ + ":" if not (value.__name__ + ".").startswith(module + ".") else None
    for other, candidates in homes.items():
        if other != module and candidates.get(name) is value and not isinstance(value, (int, float, str, bool)):
            return other + ":" + name
    return None


def write_names(out, module, entries):
    out.write('    {"%s",\n' % module)
    line = '     " '
    for entry in entries:
        if len(line) + len(entry) > 150:
            out.write(line + '"\n')
            line = '     "'
        line += entry + " "
    out.write(line + '"},\n')


def our_values():
    values = {}
    for name in our_modules():
        try:
            values[name] = importlib.import_module(name)
        except ImportError:
            continue  # of another version
    values["torch.Tensor"] = torch.Tensor
    return values


def entry(module, name, value, homes):
    if module == "torch.Tensor":
        return name if callable(value) else name + "=property"
    place = home(module, name, value, homes) if module not in PUBLIC_ONLY else None
    return name + ("=" + place if place else "")


def write_known(values, homes):
    out = io.StringIO()
    out.write("// Made by make_known_names.py from python3-torch %s.\n" % torch.__version__)
    write_names(out, "", existing_modules())  # under the empty name: the modules
    for module, value in sorted(values.items()):
        names = [n for n in dir(value) if not n.startswith("_" if module in PUBLIC_ONLY else "__")]
        write_names(out, module, [entry(module, n, getattr(value, n, None), homes) for n in names])
    write_table("known_names.inc", out.getvalue())


def write_later(values, homes):
    known, dated = known_before()
    out = io.StringIO()
    out.write("// Made by make_known_names.py from PyTorch %s.\n" % torch.__version__.split("+")[0])
    for module, value in sorted(values.items()):
        before = known.get(module, set())
        new = [n for n in dir(value) if not n.startswith("_") and n not in before | dated.get(module, set())]
        gone = ["-" + n for n in sorted(before) if not n.startswith("_") and not hasattr(value, n)]
        if new or gone:
            write_names(out, module, [entry(module, n, getattr(value, n, None), homes) for n in new] + gone)
    write_table("later_names.inc", out.getvalue())


def main():
    warnings.simplefilter("ignore")
    homes = {name: vars(importlib.import_module(name)) for name in HOMES}
    (write_known if torch.__version__.startswith("1.") else write_later)(our_values(), homes)


if __name__ == "__main__":
    main()

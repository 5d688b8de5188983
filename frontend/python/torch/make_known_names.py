#!/usr/bin/python3
"""Writes known_names.inc from the installed python3-torch: which modules PyTorch has, and the names in those that our
library has too. With them, a name that PyTorch has and our library lacks is "unsupported", and one that nobody has is
the AttributeError that hasattr() asks about. `name=module:attribute` is a name that its module only imports from
elsewhere (`from torch.nn.modules.conv import Tensor`)."""
import glob
import importlib
import os
import types
import warnings

import torch
import torch.nn.functional

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(os.path.dirname(HERE), "library")
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


def main():
    warnings.simplefilter("ignore")
    homes = {name: vars(importlib.import_module(name)) for name in HOMES}
    values = {}
    for name in our_modules():
        try:
            values[name] = importlib.import_module(name)
        except ImportError:
            continue  # of a later version
    values["torch.Tensor"] = torch.Tensor
    with open(HERE + "/known_names.inc", "w") as out:
        out.write("// Made by make_known_names.py from python3-torch %s.\n" % torch.__version__)
        write_names(out, "", existing_modules())  # under the empty name: the modules
        for module, value in sorted(values.items()):
            entries = []
            for name in dir(value):
                if name.startswith("__" if module not in PUBLIC_ONLY else "_"):
                    continue
                place = home(module, name, getattr(value, name, None), homes) if module not in PUBLIC_ONLY else None
                entries.append(name + ("=" + place if place else ""))
            write_names(out, module, entries)


if __name__ == "__main__":
    main()

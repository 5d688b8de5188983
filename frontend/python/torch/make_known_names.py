#!/usr/bin/python3
"""Writes known_names.inc: the public names of PyTorch's main modules, from the installed python3-torch. With them, a name that PyTorch has and our
library lacks is "unsupported", and a name that nobody has is the AttributeError that hasattr() asks about."""
import torch
import torch.nn.functional

MODULES = {"torch": torch, "torch.nn": torch.nn, "torch.nn.functional": torch.nn.functional, "torch.fft": torch.fft,
           "torch.linalg": torch.linalg, "torch.nn.init": torch.nn.init, "torch.jit": torch.jit, "torch.Tensor": torch.Tensor}
with open("known_names.inc", "w") as out:
    out.write("// Made by make_known_names.py from python3-torch %s.\n" % torch.__version__)
    for module, value in MODULES.items():
        names = [n for n in dir(value) if not n.startswith("_")]
        out.write('    {"%s",\n' % module)
        line = '     " '
        for n in names:
            if len(line) + len(n) > 110:
                out.write(line + '"\n')
                line = '     "'
            line += n + " "
        out.write(line + '"},\n')

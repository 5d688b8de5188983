"""The line of the user's program that made a call: the innermost one outside of torch, and of what
stands for torch."""
from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Dict, List, Optional

import torch

from ..errors import Place, carriable, one_line

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "take.py")  # runs the program
_INTERNAL = (os.path.dirname(os.path.abspath(torch.__file__)) + os.sep,)
_NAMES = ("einops",)  # the C++ reader has its own; what it calls counts as called by the program
_shown: Dict[str, Optional[str]] = {}


def show(file: str) -> str:
    """A file as it is named to people, without the folders above it: relative to the working
    folder, or to the folder from which it is imported."""
    try:
        path, working = os.path.abspath(file), os.getcwd()
    except OSError:  # the working folder was removed
        return carriable(file)
    for folder in sorted([working, *filter(os.path.isdir, sys.path)], key=len, reverse=True):
        if path.startswith(folder.rstrip(os.sep) + os.sep):
            return carriable(os.path.relpath(path, folder))
    return carriable(path)


def _name(file: str) -> Optional[str]:
    """None for a file that is not the program's."""
    if file not in _shown:
        path = os.path.abspath(file)
        internal = path.startswith(_INTERNAL) or file.startswith(("<frozen", "<eval_with_key>"))  # of torch.fx
        internal = internal or any(f"{os.sep}{name}{os.sep}" in path for name in _NAMES)
        _shown[file] = None if internal else show(file) if os.path.exists(file) else carriable(file)
    return _shown[file]


def is_called_by(file_of_torch: str) -> bool:
    """Whether that file of torch ("nn/modules/rnn.py") makes the call that is recorded, not the
    program."""
    wanted = os.path.join(_INTERNAL[0], *file_of_torch.split("/"))
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file == wanted:
            return True
        if not file.startswith((_PACKAGE, *_INTERNAL)):
            return False
        frame = frame.f_back
    return False


def current() -> Optional[Place]:
    """The line of the program that runs now; None where the whole program is torch
    (nn.Sequential)."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file == START:
            return None
        if not file.startswith(_PACKAGE):
            name = _name(file)
            if name is not None:
                return Place(name, frame.f_lineno)
        frame = frame.f_back
    return None


def of_error(error: BaseException) -> "tuple[Optional[Place], List[str]]":
    """Where an exception was raised, seen from the program, and its frames as text, the innermost
    last."""
    place: Optional[Place] = None
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        name = None if file.startswith(_PACKAGE) else _name(file)
        if name is not None:
            place = Place(name, traceback.tb_lineno)
            frames.append(f"{place} in {one_line(traceback.tb_frame.f_code.co_name)}")
        traceback = traceback.tb_next
    return place, frames

"""What only stops or shows a program, whatever it looks at, is not part of the network: an
assertion, `if ...: raise`, a `print`, a line of a log. Where it depends on the values of tensors,
the network is that of the inputs on which the program goes on (ExecGuard of
frontend/python/runtime/eval/eval_stmt.cc). """
from __future__ import annotations

import ast
import dis
import linecache
import os
import sys
import warnings
from types import CodeType, FrameType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import torch

from . import origins

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DISPATCH = os.path.join(os.path.dirname(torch.__file__), "overrides.py")
_LOGS = frozenset("debug info warning warn error critical exception log".split())
_TRUTHS = frozenset(("__bool__", "is_nonzero"))
_NUMBERS = {"item": None, "__int__": 0, "__float__": float("nan")}


class _Span(NamedTuple):
    line: int
    column: int  # -1: unknown, before Python 3.11
    end_line: int
    end_column: int

    def holds(self, inner: "_Span") -> bool:
        if inner.column < 0:
            return self.line <= inner.line and inner.end_line <= self.end_line
        return (self.line, self.column) <= (inner.line, inner.column) and (
            inner.end_line,
            inner.end_column,
        ) <= (
            self.end_line,
            self.end_column,
        )


def _span(node: Any) -> _Span:
    return _Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


class _Guard(NamedTuple):
    statement: ast.stmt
    test: ast.expr
    wanted: bool  # its outcome that lets the program go on


class _Guards:
    """The guards of one file, and what stands under a `try`."""

    def __init__(self, text: str) -> None:
        self.tests: List[_Guard] = []
        self.prints: List[_Span] = []
        self.tried: List[_Span] = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assert):
                self.tests.append(_Guard(node, node.test, True))
            elif isinstance(node, ast.If) and not node.orelse and len(node.body) == 1:
                if isinstance(node.body[0], ast.Raise):
                    self.tests.append(_Guard(node, node.test, False))
            elif isinstance(node, ast.Expr) and _is_print(node.value):
                self.prints.append(_span(node))
            elif isinstance(node, ast.Try) and node.handlers:
                self.tried.append(_Span(node.body[0].lineno, 0, _span(node.body[-1]).end_line, 1 << 30))


def _is_print(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "print"
    return isinstance(node.func, ast.Attribute) and node.func.attr in _LOGS


_of_files: Dict[str, Optional[_Guards]] = {}


def _of_file(file: str) -> Optional[_Guards]:
    if file not in _of_files:
        text = "".join(linecache.getlines(file))
        try:
            _of_files[file] = _Guards(text) if text else None
        except (SyntaxError, ValueError, RecursionError):
            _of_files[file] = None
    return _of_files[file]


def _position(frame: FrameType) -> _Span:
    """Where the frame is."""
    code: CodeType = frame.f_code
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        for number, (line, end_line, column, end_column) in enumerate(positions()):
            if number == frame.f_lasti // 2 and None not in (
                line,
                end_line,
                column,
                end_column,
            ):
                return _Span(line, column, end_line, end_column)
    return _Span(frame.f_lineno, -1, frame.f_lineno, -1)


def _program_frames() -> Iterator[FrameType]:
    """The frames of the program, the innermost first, as far as the run itself."""
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != origins.START:
        if not frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_code.co_filename != _DISPATCH:
            yield frame
        frame = frame.f_back


def _leaves(test: ast.expr, wanted: bool) -> List[Tuple[ast.expr, bool]]:
    """The parts of `and`, `or` and `not`, in the order in which they are evaluated, and which
    outcome of each lets the program go on."""
    if isinstance(test, ast.BoolOp):
        return [leaf for part in test.values for leaf in _leaves(part, wanted)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _leaves(test.operand, not wanted)
    return [(test, wanted)]


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool"


def _outcome(guard: "_Guard", frame: FrameType, at: _Span) -> Optional[bool]:
    """Which truth of the tensor that is asked for lets the program go on; None if the guard does
    not ask."""
    leaves = _leaves(guard.test, guard.wanted)
    if sys.version_info < (3, 12):
        jump = _number_of_jump(guard.statement, frame)
        if jump is not None:
            simple = all(_has_one_jump(leaf) for leaf, _ in leaves)
            return leaves[jump][1] if simple and jump < len(leaves) else None
    for leaf, wanted in leaves:
        # What asks inside of a part for something else is not this part's outcome.
        if _span(leaf) == at or _is_bool(leaf) and at.column >= 0 and _span(leaf).holds(at):
            return wanted
    return None


def _has_one_jump(leaf: ast.expr) -> bool:
    return not any(
        isinstance(node, (ast.BoolOp, ast.IfExp)) or isinstance(node, ast.Compare) and len(node.ops) > 1
        for node in ast.walk(leaf)
    )


def _number_of_jump(statement: ast.stmt, frame: FrameType) -> Optional[int]:
    """Up to Python 3.11 a jump does not say which part it tests, but they are in order: how many
    jumps of the statement come before the one at which the frame is. None: it is not at a jump of
    the statement."""
    line, number = 0, 0
    for instruction in dis.get_instructions(frame.f_code):
        line = instruction.starts_line or line
        if "JUMP" not in instruction.opname or "IF" not in instruction.opname:
            continue
        if not statement.lineno <= line <= (statement.end_lineno or 0):
            continue
        if instruction.offset == frame.f_lasti:
            return number
        number += 1
    return None


def passed(name: str, tensor: torch.Tensor) -> Optional[Tuple[Any]]:
    """What a function that reads a tensor of unknown values returns where a guard or a print asks,
    so that the program goes on; None elsewhere."""
    if name not in _TRUTHS and name not in _NUMBERS:
        return None
    frames = list(_program_frames())
    if not frames:
        return None
    guards, at = _of_file(frames[0].f_code.co_filename), _position(frames[0])
    if guards is None:
        return None
    if name in _NUMBERS and any(span.holds(at) for span in guards.prints):
        _note("what it prints")
        number = _NUMBERS[name]
        return (number if number is not None else tensor.new_zeros((), device="cpu").tolist(),)
    if name not in _TRUTHS or any(map(_may_be_caught, frames)):
        return None
    for guard in guards.tests:
        outcome = _outcome(guard, frames[0], at)
        if outcome is not None:
            _note("whether it raises")
            return (outcome,)
    return None


def _may_be_caught(frame: FrameType) -> bool:
    guards = _of_file(frame.f_code.co_filename)
    if guards is None or frame.f_code.co_filename.startswith(os.path.dirname(torch.__file__) + os.sep):
        return False
    at = _Span(frame.f_lineno, -1, frame.f_lineno, -1)
    return any(span.holds(at) for span in guards.tried)


def _note(what: str) -> None:
    warnings.warn(
        f"{origins.current()}: {what} depends on the values of tensors; it is assumed that the program continues",
        stacklevel=2,
    )

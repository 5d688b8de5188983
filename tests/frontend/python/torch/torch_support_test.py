#!/usr/bin/python3
"""Random calls of every function of torch_cases.py in real PyTorch and in our reader: same shapes
and types, same views and in-place results, or an error from both. Then computations on small
constants (torch_cases_values.py): the same numbers.

    torch_support_test.py [--cases N] [--seed S] [--only NAME] [-v]     exits 77 without
                                                                        python3-torch
"""
import argparse
import json
import os
import random
import subprocess
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError:
    print("python3-torch is not installed")
    sys.exit(77)
warnings.simplefilter("ignore")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_goldens
import torch_cases
import torch_cases_nn  # noqa: F401  adds its own
import torch_cases_values

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
# Refused by the CPU for want of a kernel: other devices have one, so we accept it.
DEVICE_LIMITS = (
    "ZeroDivisionError",
    "not implemented for 'Half'",
    "not implemented for 'BFloat16'",
    "not implemented for 'ComplexHalf'",
    "addmm_impl_cpu_",
    "Could not run",
)


MAY_SHARE = ("einsum",)  # a diagonal by einsum is a view there, and one call that computes here


class Recording(make_goldens.Recorder):
    """The calls of one expression, as make_goldens.py writes them."""

    def __init__(self):
        super().__init__(nn.Module(), [])

    def record(self, func, args, kwargs):
        try:
            return super().record(func, args, kwargs)
        except (TypeError, AttributeError, KeyError):  # a call that it cannot describe
            self.ops.append({"op": "?", "args": {}})
            return func(*args, **kwargs)


class Real:
    def __init__(self):
        self.made = []
        self.recording = None

    def T(self, shape, dtype, values=None):
        if self.recording is not None:
            self.recording.busy = True
            made = self.random(shape, dtype, values)
            self.recording.busy = False
            self.recording.source[id(made)] = "in:0"
            return made
        return self.random(shape, dtype, values)

    def random(self, shape, dtype, values=None):
        dtype = getattr(torch, dtype)
        if values == "spd":
            x = torch.randn(shape).to(dtype)
            if dtype.is_floating_point and len(shape) >= 2 and shape[-1] == shape[-2]:
                x = x @ x.mT + 3 * torch.eye(shape[-1], dtype=dtype)
        elif values == "pos":
            x = (torch.rand(shape) * 0.9 + 0.05).to(dtype)
        elif isinstance(values, int):
            x = torch.randint(0, max(values, 1), shape).to(dtype)
        elif dtype.is_floating_point or dtype.is_complex:
            x = torch.randn(shape).to(dtype)
        else:
            x = torch.randint(0, 2 if dtype == torch.bool else 3, shape).to(dtype)
        self.made.append(x)
        return x

    def C(self, data, dtype):
        self.made.append(torch.tensor(data, dtype=getattr(torch, dtype)))
        return self.made[-1]

    def calls(self, expression):
        self.made, self.recording = [], Recording()
        try:
            with torch.no_grad(), self.recording:
                eval(expression, {"torch": torch, "nn": nn, "F": F, "T": self.T, "C": self.C})
            return [op for op in self.recording.ops if op.get("kind") not in ("create", "const")]
        except RuntimeError:  # other random numbers, and it divides by zero
            return None
        finally:
            self.recording = None

    def describe(self, value):
        if isinstance(value, torch.Tensor):
            out = {"type": ("x".join(map(str, value.shape)) or "scalar") + ":" + str(value.dtype)[6:]}
            for k, made in enumerate(self.made):
                if made is value:
                    out["same"] = k
                elif value.numel() and value.storage().data_ptr() == made.storage().data_ptr():
                    out["view"] = k
            return out
        if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
            return [self.describe(v) for v in value]
        return repr(value)

    def evaluate(self, expression):
        self.made = []
        try:
            with torch.no_grad():
                self.value = eval(expression, {"torch": torch, "nn": nn, "F": F, "T": self.T, "C": self.C})
                return self.describe(self.value)
        except Exception as e:
            return "error: %s: %s" % (type(e).__name__, str(e).split("\n")[0][:200])


SAME_NAME = {
    "relu6": "hardtanh",
    "arccos": "acos",
    "fix": "trunc",
    "less_equal": "le",
    "greater_equal": "ge",
    "not_equal": "ne",
    "concatenate": "cat",
    "__rmod__": "rmod",
    "rmod": "rmod",
}


def same_calls(real, have, casts):
    """None, or what is different: names of the calls, and the arguments that both sides give.
    `casts`: ours are calls, PyTorch's are not seen (autocast)."""
    name = lambda op: SAME_NAME.get(op["op"], op["op"])
    unseen = ("getitem", "to") if casts else ("getitem",)  # torch 1.13 does not show x[0] to a mode
    real, have = ([op for op in ops if op["op"] not in unseen] for ops in (real, have))
    if any(op["op"] == "?" for op in real) or any(not op["out"] for op in have):
        return None
    if [name(op) for op in real] != [name(op) for op in have]:
        return "calls %s, ours %s" % ([op["op"] for op in real], [op["op"] for op in have])
    for a, b in zip(real, have):
        for key, value in a["args"].items():
            if key in b["args"] and not same_value(value, b["args"][key]):
                return "%s: %s = %r, ours %r" % (a["op"], key, value, b["args"][key])
    return None


def same_value(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b))
    if isinstance(a, list) or isinstance(b, list):
        many, one = (a, b) if isinstance(a, list) else (b, a)
        return all(same_value(x, one) for x in many)
    return a == b or str(a) == str(b) or (a is None and b == -1)


def ours(answer):
    if "error" in answer:
        return "error: " + ("(unsupported) " if answer["unsupported"] else "") + answer["error"]

    def plain(value):
        if isinstance(value, dict):
            empty = "0" in value["type"].split(":")[0].split("x")
            return {
                k: v
                for k, v in value.items()
                if k in ("type", "same", "view") and not (k == "view" and ("same" in value or empty))
            }
        return [plain(v) for v in value] if isinstance(value, list) else value

    return plain(answer["out"])


def agree(name, real, have):
    if isinstance(real, str) and real.startswith("error: "):
        return isinstance(have, str) and have.startswith("error: ") and "(unsupported)" not in have
    if name in MAY_SHARE and isinstance(real, dict) and isinstance(have, dict):
        return real["type"] == have["type"]
    return real == have


def numbers(value):
    """Every number of an answer, in order."""
    if isinstance(value, torch.Tensor):
        value = torch.view_as_real(value.detach().resolve_conj()) if value.is_complex() else value.detach()
        return value.double().reshape(-1).tolist()
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in numbers(v)]
    return [float(value)] if isinstance(value, (bool, int, float)) else []


def our_numbers(value):
    if isinstance(value, dict):
        return None if "values" not in value else [float(v) for v in value["values"]]
    if isinstance(value, list):
        parts = [our_numbers(v) for v in value]
        return None if None in parts else [x for p in parts for x in p]
    if value.endswith("j)") or value.endswith("j"):
        return [complex(value).real, complex(value).imag]
    return [float({"True": 1, "False": 0}.get(value, value))] if value != "None" else []


def apart(a, b, types, least):
    """How many units of the last place, of float32 unless the tensor is of another type."""
    if a == b or (a != a and b != b):
        return 0
    if a != a or b != b or abs(a) == float("inf") or abs(b) == float("inf"):
        return float("inf")
    size = max(abs(a), abs(b), least, 1e-30 if "float64" in types else 1e-38)
    bits = 52 if "float64" in types else 23
    import math

    return abs(a - b) / 2.0 ** (math.frexp(size)[1] - 1 - bits)


def compare_values(args):
    cases = []
    for name, (generator, ulps) in torch_cases_values.VALUES.items():
        if args.only in name:
            r = random.Random("%s %d" % (name, args.seed))
            cases += [(name, ulps, generator(r)) for _ in range(args.cases)]
    answers = evaluated([e for _, _, e in cases])
    wrong, exact = {}, 0
    real = Real()
    for (name, ulps, expression), answer in zip(cases, answers):
        want = real.evaluate(expression)
        refused = isinstance(want, str) and want.startswith("error: ")
        if refused and "ZeroDivisionError" in want:
            continue
        if refused:
            ok = agree(name, want, ours(answer))
            shown = ours(answer)
        else:
            expected = numbers(real.value)
            have = our_numbers(answer.get("out")) if "out" in answer else None
            shown = answer.get("error", have)
            types = json.dumps(answer.get("out"))
            # Sums cancel: what counts is the last place of the largest number, or of the operands,
            # which are about one.
            least = max([abs(v) for v in expected if abs(v) < float("inf")] + [1]) if ulps > 2 else 0
            ok = (
                have is not None
                and len(have) == len(expected)
                and types_of(want) == types_of(ours(answer))
                and all(apart(a, b, types, least) <= ulps for a, b in zip(expected, have))
            )
            exact += ok and have == expected
            want = expected
        if not ok:
            wrong.setdefault(name, []).append((expression, want, shown))
    show(wrong, args.show)
    print(
        "values: %d functions, %d cases (seed %d), %d bit for bit; %d differences in %d functions"
        % (len({n for n, _, _ in cases}), len(cases), args.seed, exact, sum(map(len, wrong.values())), len(wrong))
    )
    return wrong


def types_of(value):
    if isinstance(value, dict):
        return value["type"]
    return [types_of(v) for v in value] if isinstance(value, list) else None


def show(wrong, limit):
    for name, list_ in wrong.items():
        print("== %s: %d differ" % (name, len(list_)))
        for expression, want, have in list_[:limit]:
            print("DIFFERS  %s\n   PyTorch %s\n   ours    %s" % (expression, want, have))


def evaluated(expressions):
    done = subprocess.run(
        [BIN + "/eval_torch"], input="".join(e + "\n" for e in expressions), capture_output=True, text=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(expressions):
        raise SystemExit("eval_torch answered %d of %d cases: %s" % (len(answers), len(expressions), done.stderr))
    return answers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=50, help="for each function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", type=int, default=3, help="differences to print for each function")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    cases = []
    for name, generator in torch_cases.CASES.items():
        if args.only in name:
            r = random.Random("%s %d" % (name, args.seed))
            cases += [(name, generator(r)) for _ in range(args.cases)]
    wrong_values = compare_values(args)
    answers = evaluated([e for _, e in cases])
    torch.manual_seed(args.seed)
    real, wrong, refused, skipped, functions, seen = Real(), {}, 0, 0, set(), {}
    for (name, expression), answer in zip(cases, answers):
        want, have = real.evaluate(expression), ours(answer)
        if isinstance(want, str) and any(text in want for text in DEVICE_LIMITS):
            skipped += 1
            continue
        functions.add(name)
        refused += isinstance(want, str) and want.startswith("error: ")
        if agree(name, want, have) and "calls" in answer and seen.get(name, 0) < 6:
            seen[name] = seen.get(name, 0) + 1
            calls = real.calls(expression)
            difference = calls is not None and same_calls(calls, answer["calls"], "autocast" in expression)
            if difference:
                wrong.setdefault(name, []).append((expression, difference, ""))
            continue
        if not agree(name, want, have):
            wrong.setdefault(name, []).append((expression, want, have))
        elif args.v:
            print("%s\n   %s" % (expression, want))
    show(wrong, args.show)
    print(
        "%d functions, %d cases (seed %d): %d accepted by PyTorch, %d refused, %d skipped (no CPU kernel); %d differences in %d functions"
        % (
            len(functions),
            len(cases),
            args.seed,
            len(cases) - refused - skipped,
            refused,
            skipped,
            sum(map(len, wrong.values())),
            len(wrong),
        )
    )
    return 1 if wrong or wrong_values else 0


if __name__ == "__main__":
    sys.exit(main())

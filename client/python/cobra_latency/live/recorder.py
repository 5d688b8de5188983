"""Records the calls of torch functions while a program runs, by the rules of the C++ reader
(frontend/python/torch/tensor/apply.cc, functions.cc).

Calls on constants are computed at once, for programs may read what they give. Every other call runs
on `meta` tensors, which have shapes and no numbers. Both are appended to the graph: PyTorch runs
them in each run. A function that is not an operator is looked into if it is written in Python;
otherwise it is an error that names the program's line. Nothing is left out.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
from torch.overrides import TorchFunctionMode

from ..errors import ModelError
from . import arguments, autocast, binder, calls, creation, guards, layout, origins, outputs, refusals, running, table
from .builder import (
    KIND_CONSTANT,
    KIND_NODE,
    KIND_PARAMETER,
    GraphBuilder,
    KnownValue,
    Ref,
    Value,
    meta_like,
    node_ref,
    tensors_in,
)
from .expand import without_dispatch
from .functions import Function, resolve, written_in_python
from .running import mapped
from .version import VERSION

_PLAIN = frozenset(
    """size dim ndimension numel nelement stride storage_offset element_size is_contiguous is_floating_point is_complex is_signed
    is_same_size is_conj is_neg is_inference is_shared is_pinned has_names requires_grad_ retain_grad register_hook backward get_device
    __len__ __hash__ __repr__ __format__ __dir__ _assert is_tensor is_storage result_type can_cast promote_types broadcast_shapes data_ptr
    is_distributed set_grad_enabled _is_view __reduce_ex__ untyped_storage storage typename sym_size dim_order is_grad_enabled
    is_autocast_enabled __deepcopy__ is_set_to __setstate__ _has_compatible_shallow_copy_type has_torch_function""".split()
)
_READS = frozenset(
    """item tolist numpy __array__ __bool__ __int__ __float__ __index__ __complex__ __contains__ is_nonzero equal allclose nonzero argwhere
    unique unique_consecutive masked_select bincount nonzero_static""".split()
)
_OVERWRITES = frozenset("copy fill zero".split())
_SHAPES_ALONE = {
    "device": torch.device("cpu"),
    "is_cuda": False,
    "is_meta": False,
    "is_cpu": True,
    "is_leaf": True,
    "grad": None,
    "grad_fn": None,
}


class Recorder(TorchFunctionMode):
    """One run. `module_path()` says which module's forward is running."""

    def __init__(self, graph: GraphBuilder, module_path: Callable[[], str]) -> None:
        super().__init__()
        self.graph = graph
        self.module_path = module_path
        self.values: Dict[int, Value] = {}
        self._kept: List[torch.Tensor] = []
        self._casts: Dict[int, torch.Tensor] = {}
        self._inside = False
        self._function = Function("?", "", None)
        self._expanding: List[Any] = []

    # ---- tensors

    def declare(self, tensor: torch.Tensor, ref: Optional[Ref]) -> Value:
        """A tensor that exists before the run."""
        value = self.values.setdefault(id(tensor), Value(tensor))
        value.ref = ref
        return value

    def declare_alias(self, tensor: torch.Tensor, value: Value) -> None:
        """Another object for the same tensor. It lives as long as the recorder."""
        self.values[id(tensor)] = value
        self._kept.append(tensor)

    def value(self, tensor: torch.Tensor) -> Value:
        """What is known of a tensor; one that was made outside of the run is a constant."""
        found = self.values.get(id(tensor))
        return found if found is not None else self._adopt(tensor)

    def _adopt(self, tensor: torch.Tensor) -> Value:
        functorch: Any = getattr(torch._C, "_functorch", None)
        if functorch is not None and functorch.is_functorch_wrapped_tensor(tensor):
            raise self.error(
                f"{self._function.shown}() runs inside of torch.func (vmap, grad, jvp)",
                "such calls cannot be recorded one by one: write it without",
            )
        value = Value(tensor)
        if tensor.device.type not in ("cpu", "meta") and tensor.numel() > creation.MOST_KNOWN:
            value.twin, value.random = meta_like(tensor), True
        self.values[id(tensor)] = value
        return value

    def made(self, tensor: torch.Tensor) -> Value:
        """A tensor that a call has returned."""
        value = self.values.get(id(tensor))
        if value is None:
            value = self.values[id(tensor)] = Value(tensor)
        return value

    def values_of(self, tensor: torch.Tensor, what: str) -> List[Any]:
        """The numbers of a constant in a list, or the error that there are none."""
        value = self.value(tensor)
        if not value.is_known:
            raise self.data_dependent(what, value)
        flat: List[Any] = value.tensor.detach().reshape(-1).tolist()
        return flat

    # ---- errors

    def error(self, message: str, hint: str, kind: str = "unsupported") -> ModelError:
        """An error at the program's line."""
        return ModelError(message, hint, origins.current(), self.module_path(), kind=kind)

    def data_dependent(self, what: str, value: Value) -> ModelError:
        """The error that a value is read which no graph has."""
        if value.is_constant and not value.random:
            hint = f"it is a constant of {value.tensor.numel():,} elements, whose numbers are not computed: use Python numbers"
            return self.error(f"{what} reads a constant that is too large", hint)
        return self.error(
            f"{what} depends on the values of a tensor",
            "a latency cannot: compute this from shapes, configuration or constants; if an input is the same in every run (a mask), give it as "
            "cobra_latency.Constant(tensor)",
            "data_dependent",
        )

    # ---- calls

    def __torch_function__(
        self, func: Any, types_: Any, args: Tuple[Any, ...] = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        """Called by torch for each function."""
        kwargs = kwargs or {}
        if self._inside:
            return func(*args, **kwargs)
        self._inside = True
        outer = self._function
        self._function = resolve(func)
        try:
            return self._call(self._function, args, kwargs)
        finally:
            self._inside = False
            self._function = outer

    def _call(self, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        name = function.name
        if function.space == "p":
            return self._property(function, args)
        if function.space in "dDu":
            return self._operator(function, args)
        special = calls.SPECIAL.get(name)
        if special is not None and (function.space in "mti" or name == "pad_sequence"):
            return special(self, function, args, kwargs)
        makes = creation.SPECIAL.get(name)
        if makes is not None and function.space in "mt":
            return makes(self, function, args, kwargs)
        if name in _PLAIN:
            return self._plain(function, args, kwargs)
        if name in _READS and function.space in "mt":
            return self.read(function, args, kwargs)
        space = function.space
        for other in (
            space,
            *("tF" if space == "I" else ""),
            *("tFi" if space == "m" and not calls.is_method(function) else ""),
        ):
            if table.is_known(other, name):
                return self.known(function, other, args, kwargs)
        return self._unknown(function, args, kwargs)

    def known(self, function: Function, space: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        if kwargs.get("out") is not None:
            return self._write_out(function, space, args, kwargs)
        if function.name == "einsum" and len(args) > 1 and isinstance(args[0], torch.Tensor):
            return self._einsum_of_lists(function, args)
        if function.name == "where" and len(args) == 1 and not kwargs:
            return self.read(function, args, kwargs)
        if function.name == "einsum" and len(args) == 2 and isinstance(args[1], (list, tuple)):
            args = (args[0], *args[1])
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}
        try:
            bound = binder.bind(table.overloads(space, function.name), VERSION, args, kwargs, self.values_of)
        except binder.Mismatch as mismatch:
            return self._mismatched(function, args, kwargs, mismatch)
        bound.inplace = bound.inplace or space in "iI"
        arguments.complete(bound, self.values_of)
        return self.run(function.callable, bound, args, kwargs)

    def _mismatched(self, function: Function, args: Sequence[Any], kwargs: Dict[str, Any], why: Exception) -> Any:
        """torch raises its own error for arguments that it does not take either."""
        function.callable(*self.on_meta(args), **self.on_meta(kwargs))
        raise self.error(f"{function.shown}(): {why}", "this way to call it is unknown: please report it")

    def _unknown(self, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        tensors = [self.value(t) for t in tensors_in([args, kwargs])]
        if function.is_python and function.callable not in self._expanding:
            return self._expand(function, args, kwargs)
        body = written_in_python(function.callable) if function.space == "o" else None
        if body is not None:
            return self.look_into(body, args, kwargs)
        if all(value.is_constant for value in tensors):
            result = function.callable(*self.as_constants(args), **self.as_constants(kwargs))
            if all(id(tensor) in self.values for tensor in tensors_in(result)):
                return result
        raise self.error(
            f"{function.shown}() is not an operator that COBRA knows",
            "write it with other functions of torch, or ask for it: docs/adding-an-operator.md",
        )

    def _expand(self, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        self._expanding.append(function.callable)
        try:
            return self.look_into(without_dispatch(function.callable), args, kwargs)
        finally:
            self._expanding.pop()

    def look_into(self, body: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Records what a function calls that is written in Python."""
        self._inside = False
        try:
            with self:
                return body(*args, **kwargs)
        finally:
            self._inside = True

    # ---- what is not a call of the network

    def _plain(self, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        result = function.callable(*args, **kwargs)
        if function.name == "__deepcopy__":
            made = self.made(result)
            made.take(self.value(args[0]))
            if made.ref is not None and made.ref.kind not in (KIND_NODE, KIND_CONSTANT):
                made.ref = None  # a separate tensor
        return result

    def read(self, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        for tensor in tensors_in([args, kwargs]):
            value = self.value(tensor)
            if not value.is_known:
                passed = guards.passed(function.name, tensor)
                if passed is not None:
                    return passed[0]
                raise self.data_dependent(f"{function.shown}()", value)
        result = function.callable(*args, **kwargs)
        for tensor in tensors_in(result):
            self.made(tensor)
        return result

    def as_constants(self, value: Any) -> Any:
        """Arguments of which only the shape matters (zeros_like) stay what they are; the program's
        own constants are on the CPU."""
        if isinstance(value, torch.Tensor) and value.device.type not in ("cpu", "meta"):
            return value.detach().cpu()
        if isinstance(value, dict):
            return {key: self.as_constants(item) for key, item in value.items()}
        return type(value)(self.as_constants(i) for i in value) if type(value) in (list, tuple) else value

    def _property(self, function: Function, args: Sequence[Any]) -> Any:
        name, tensor = function.name, args[0]
        if name in _SHAPES_ALONE:
            return _SHAPES_ALONE[name]
        if name == "data.__set__":
            return self._set_data(tensor, args[1])
        if name in ("T", "mT", "H", "mH", "real", "imag", "data"):
            bound = self.bound(name, [tensor], {})
            itself = name != "imag" and name != "T" and name != "data" and arguments.is_itself(bound)
            if itself and self.value(tensor).is_constant:
                return tensor
            return self.run(lambda t: getattr(t, name), bound, (tensor,), {}, itself)
        return function.callable(*args)

    def _set_data(self, tensor: torch.Tensor, other: torch.Tensor) -> None:
        value, source = self.value(tensor), self.value(other)
        value.ref = source.ref if source.ref is not None else value.ref
        value.computed = source.computed
        value.twin = source.on_meta()
        value.tensor.data = source.tensor.detach()

    # ---- calls of operators

    def bound(self, op: str, inputs: Sequence[Optional[torch.Tensor]], attributes: Dict[str, Any]) -> binder.Bound:
        bound = binder.Bound(table.operator(op))
        bound.inputs = list(inputs)
        bound.attributes = attributes
        return bound

    def _operator(self, function: Function, args: Sequence[Any]) -> Any:
        """x + y of Python."""
        tensor, others = args[0], args[1:]
        if function.space == "u":
            bound = self.bound(function.name, [tensor], {})
            return self.run(function.callable, bound, args, {}, arguments.is_itself(bound))
        other = torch.tensor(others[0]) if isinstance(others[0], complex) else others[0]
        bound = self.bound(function.name, [tensor], {})
        if isinstance(other, torch.Tensor):
            bound.inputs.append(other)
        else:
            number = binder.as_number(other)
            if number is None:
                return function.callable(*args)  # NotImplemented, or torch's error
            bound.attributes["exponent" if function.name == "pow" else "other"] = number
        bound.inplace = function.space == "D"
        return self.run(function.callable, bound, args, {})

    def run(
        self,
        call: Callable[..., Any],
        bound: binder.Bound,
        args: Sequence[Any],
        kwargs: Dict[str, Any],
        itself: Optional[bool] = None,
    ) -> Any:
        """Records a call; of constants it is computed too."""
        if not bound.inplace:
            args, kwargs = self._autocast(bound, args, kwargs)
        if itself is None:
            itself = not bound.inplace and arguments.is_itself(bound)
        if bound.operator.itself == "UnlessTraining" and arguments.is_itself(bound):
            itself, bound.inplace = True, False
            bound.attributes.pop("training", None)
        values = [None if tensor is None else self.value(tensor) for tensor in bound.inputs]
        constant = all(value is None or value.is_constant for value in values)
        draws = bound.operator.random == "Drawn" and len(values) > 0
        if constant and not draws:
            if itself:
                return bound.inputs[0]
            return self._run_constant(call, bound, values, args, kwargs)
        return self._record(call, bound, values, args, kwargs, itself)

    def _run_constant(
        self,
        call: Callable[..., Any],
        bound: binder.Bound,
        values: List[Optional[Value]],
        args: Sequence[Any],
        kwargs: Dict[str, Any],
    ) -> Any:
        known = all(value is None or not value.tensor.is_meta for value in values)
        if known:
            result = call(*self.as_constants(args), **self._without_device(self.as_constants(kwargs)))
        else:
            result = self._run_for_shapes(call, bound, values, args, kwargs)
        first = values[0] if values else None
        if bound.inplace and first is not None:
            others = values[1:] if bound.operator.name in _OVERWRITES else values
            first.random = not known or any(value is not None and value.random for value in others)
            return self._wrote_constant(bound, values, first)
        returned = tensors_in(result)
        index = self.append(bound, values, [] if _hides_outputs(bound) else returned)
        random = bound.operator.random != "Fixed" or any(value is not None and value.random for value in values)
        for number, tensor in enumerate(returned):
            of = values[number] if bound.operator.base == "Each" and number < len(values) else first
            if bound.operator.itself.startswith("Each") and of is not None and tensor.shape == of.tensor.shape:
                self.declare_alias(tensor, of)
                continue
            value = self.made(tensor)
            value.random = random
            value.computed = node_ref(index, number)
            if self._is_view(bound) and of is not None and of is not value:
                value.base = of.base or of
        return result

    def append(self, bound: binder.Bound, values: Sequence[Optional[Value]], outputs: Sequence[torch.Tensor]) -> int:
        """Appends a call to the graph."""
        op, path, place = bound.operator.name, self.module_path(), origins.current()
        return self.graph.call(op, bound.attributes, values, outputs, bound.inplace, path, place)

    def _wrote_constant(self, bound: binder.Bound, values: List[Optional[Value]], first: Value) -> torch.Tensor:
        first.computed = node_ref(self.append(bound, values, [first.tensor]))
        base = first.base
        if base is not None and not base.hides_base:
            base.computed = node_ref(self.append(self.bound("as_base", [], {}), [first, base], [base.tensor]))
            base.random = base.random or first.random
        return first.tensor

    @staticmethod
    def _without_device(kwargs: Dict[str, Any]) -> Dict[str, Any]:
        return {**kwargs, "device": "cpu"} if kwargs.get("device") is not None else kwargs

    def _record(
        self,
        call: Callable[..., Any],
        bound: binder.Bound,
        values: List[Optional[Value]],
        args: Sequence[Any],
        kwargs: Dict[str, Any],
        itself: bool,
    ) -> Any:
        first = values[0]
        result = self._run_for_shapes(call, bound, values, args, kwargs, itself)
        returned = [bound.inputs[0]] if bound.inplace else tensors_in(result)
        types = [first.on_meta()] if bound.inplace and first is not None else returned
        shown = [] if _hides_outputs(bound) else [t for t in types if t is not None]
        index = self.append(bound, values, shown)
        if bound.inplace and first is not None:
            return self._wrote(first, index)
        if itself and bound.inputs[0] is not None:
            return bound.inputs[0]
        if bound.operator.itself.startswith("Each"):
            return self._returned_each(bound, values, result, index)
        if any(isinstance(value, KnownValue) for value in values) and all(
            value is None or value.is_known for value in values
        ):
            return self._returned_known(call, args, kwargs, index)
        for number, tensor in enumerate(returned):
            if tensor is None:
                continue
            value = self.made(tensor)
            value.ref = node_ref(index, number)
            of = values[number] if bound.operator.base == "Each" and number < len(values) else first
            if of is not None and self._is_view(bound) and tensor._is_view():
                value.base = of.base or of
            value.hides_base = number == 0 and self._hides_base(bound, tensor)
        return result

    def _wrote(self, first: Value, index: int) -> torch.Tensor:
        """After an in-place call; a write into a view changes its base too."""
        first.set_node(index)
        if first.tensor is not first.twin and first.twin is not None and first.tensor.shape != first.twin.shape:
            first.tensor.resize_(first.twin.shape)
        base = first.base
        if base is not None and not base.hides_base:
            base.set_node(self.append(self.bound("as_base", [], {}), [first, base], [base.on_meta()]))
        return first.tensor

    def _returned_each(self, bound: binder.Bound, values: List[Optional[Value]], result: Any, index: int) -> Any:
        """broadcast_tensors, atleast_1d ...: an argument that already has the shape of its output
        is returned itself."""
        for number, (tensor, value) in enumerate(zip(tensors_in(result), values)):
            made = self.values.get(id(tensor)) or self.made(tensor)
            if value is None:
                continue
            if tensor.shape == value.tensor.shape:
                if bound.operator.itself == "Each":
                    value.set_node(index, number)
                made.take(value)
            else:
                made.ref = node_ref(index, number)
            if made is not value:
                made.base = value.base or value
        return result

    @staticmethod
    def _is_view(bound: binder.Bound) -> bool:
        if bound.operator.cost != "view":
            return False
        return bound.operator.name != "getitem" or len(bound.inputs) == 1 and "[" not in bound.attributes["index"]

    @staticmethod
    def _hides_base(bound: binder.Bound, output: torch.Tensor) -> bool:
        rule, inputs = bound.operator.base, bound.inputs
        if rule == "HiddenByBias":
            return len(inputs) > 2 and inputs[2] is not None and inputs[0] is not None and inputs[0].dim() == 3
        if rule == "HiddenBySum":
            return len(inputs) > 1 and autocast.einsum_sums(str(bound.attributes.get("equation", "")))
        return rule == "Hidden"

    def _autocast(
        self, bound: binder.Bound, args: Sequence[Any], kwargs: Dict[str, Any]
    ) -> Tuple[Sequence[Any], Dict[str, Any]]:
        """Under torch.autocast('cpu'), the casts are calls of the network."""
        dtype = autocast.dtype_now()
        if dtype is None:
            self._casts.clear()
            return args, kwargs
        target = autocast.target_of(bound, dtype)
        if target is None:
            return args, kwargs
        made: Dict[int, torch.Tensor] = {}
        for number, tensor in enumerate(bound.inputs):
            if tensor is None or not tensor.is_floating_point() or tensor.dtype in (torch.float64, target):
                continue
            made[id(tensor)] = bound.inputs[number] = self._cast_to(tensor, target)
        replaced: Callable[[torch.Tensor], torch.Tensor] = lambda t: made.get(id(t), t)
        return mapped(replaced, tuple(args), None), mapped(replaced, kwargs, None)

    def _cast_to(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Casts of parameters are kept until the outermost autocast ends."""
        ref = self.value(tensor).ref
        key = id(tensor) if ref is not None and ref.kind == KIND_PARAMETER else None
        if key is not None and key in self._casts:
            return self._casts[key]
        bound = self.bound("to", [tensor], {"dtype": binder.dtype_name(dtype)})
        cast: torch.Tensor = self.run(lambda t: t.to(dtype), bound, (tensor,), {})
        if key is not None:
            self._casts[key] = cast
        return cast

    # ---- running

    def on_meta(self, value: Any) -> Any:
        """The same arguments without numbers."""
        if isinstance(value, torch.Tensor):
            return self.value(value).on_meta()
        if isinstance(value, torch.device):
            return torch.device("meta")
        if isinstance(value, dict):
            return {
                key: "meta" if key == "device" and item is not None else self.on_meta(item)
                for key, item in value.items()
            }
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.on_meta, value))
        return type(value)(map(self.on_meta, value)) if type(value) in (list, tuple) else value

    def _run_for_shapes(
        self,
        call: Callable[..., Any],
        bound: binder.Bound,
        values: Sequence[Optional[Value]],
        args: Sequence[Any],
        kwargs: Dict[str, Any],
        itself: bool = False,
    ) -> Any:
        """The result on `meta`, in the memory order that it has."""
        refusals.refuse_indices(bound, values)
        on_meta = [None if value is None else value.on_meta() for value in values]
        result: Any = outputs.of(bound, on_meta)
        if result is not None:
            return result
        without_numbers, named = self.on_meta(tuple(args)), self.on_meta(kwargs)
        refusals.refuse_types(call, bound, without_numbers, named)
        refusals.refuse_overlap(call, bound, without_numbers, named)
        result = running.run(call, without_numbers, named)
        refusals.refuse_nothing_left(bound, values, result)
        result = self._own(result)
        if itself or bound.inplace or bound.operator.cost == "view":
            return result
        return mapped(lambda tensor: layout.arranged(bound, on_meta, tensor), result, None)

    def _own(self, result: Any) -> Any:
        """A call that returns its argument returns the program's object."""
        if isinstance(result, torch.Tensor):
            known = self.values.get(id(result))
            return known.tensor if known is not None and known.tensor.is_meta else result
        return result

    # ---- calls that the table of functions does not have

    def _returned_known(self, call: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any], index: int) -> Any:
        """The results of a recorded call on such outputs are known too."""
        result = call(*args, **kwargs)
        for number, tensor in enumerate(tensors_in(result)):
            self.values[id(tensor)] = KnownValue(tensor, node_ref(index, number))
        return result

    def _einsum_of_lists(self, function: Function, args: Sequence[Any]) -> Any:
        letter: Callable[[Any], str] = (
            lambda n: "..." if n is Ellipsis else chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)
        )
        operands, lists = list(args[0 : len(args) - 1 : 2]), list(args[1::2])
        equation = ",".join("".join(map(letter, one)) for one in lists)
        if len(args) % 2 == 1:
            equation += "->" + "".join(map(letter, args[-1]))
        bound = self.bound("einsum", operands, {"equation": equation})
        return self.run(lambda *o: torch.einsum(equation, *o), bound, tuple(operands), {})

    def _write_out(self, function: Function, space: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        """torch.mul(a, b, out=c): c then is the result, whatever size it had."""
        out = kwargs["out"]
        result = self.known(function, space, args, {key: value for key, value in kwargs.items() if key != "out"})
        for target, source in zip(tensors_in(out), tensors_in(result)):
            to, of = self.value(target), self.value(source)
            if to.base is not None:
                bound = self.bound("copy", [target, source], {})
                bound.inplace = True
                self.run(lambda t, s: t.copy_(s), bound, (target, source), {})
                continue
            to.take(of)
            to.twin = of.on_meta()
            if to.tensor.shape != of.tensor.shape:
                to.tensor.resize_(of.tensor.shape)
            if of.is_constant:
                to.tensor.copy_(of.tensor)
        return out


def _hides_outputs(bound: binder.Bound) -> bool:
    """Calls whose outputs torch does not return one by one."""
    return bound.operator.name == "multi_head_attention_forward" and not bound.attributes.get("need_weights", True)

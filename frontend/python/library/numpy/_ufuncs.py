# numpy.ufunc: functions of each element, with the arguments that all of them take.
import builtins
import cmath

import _cobra
import torch
from numpy._arrays import UFuncTypeError, _array, _given, _plain, _wrap, asarray, ndarray
from numpy._dtypes import _DTYPES, _KINDS, _NoValue, _SIZES, _TORCH, _TYPES, _functions, _lacks, _type_name
from numpy._indexing import _axes, _expands, _one_axis, _shapes_fit
from numpy._promotion import _can_cast, _names_of, _promoted, can_cast
from numpy._types import _COMPARISONS, _SYMBOLS, _OF_TYPE, _in_bits, _number_name, float64


# ---- of which type a function computes: by the name of the type that comes of its operands
def _same(name):
    return name


def _floats(name):
    kind, size = _KINDS[name], _SIZES[name]
    return name if kind in "fc" else "float%d" % builtins.min(16 * size, 64)


def _quotients(name):
    return name if _KINDS[name] in "fc" else "float64"


def _not_bool(name):
    return "int8" if name == "bool" else name


def _double(name):
    return "complex128" if _KINDS[name] == "c" else "float64"


_COMPLEX = {
    **{n: getattr(cmath, n) for n in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "negative": lambda a: -a,
    "square": lambda a: a * a,
    "conjugate": lambda a: a.conjugate(),
    "absolute": lambda a: builtins.abs(a),
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_KEYWORDS = {"out", "where", "casting", "order", "dtype", "subok", "signature", "sig", "extobj"}


def _keeps(keepdims):
    return keepdims is not _NoValue and builtins.bool(keepdims)


def _mask(where):
    return asarray(where).astype("bool")._t


def _where_given(result, where, out):
    # What is not selected keeps what `out` holds; without it that is whatever lies in memory.
    mask = _mask(where)
    shape = torch.broadcast_shapes(tuple(mask.shape), tuple(result.shape))
    before = out._t if out is not None else torch.empty(shape, dtype=result.dtype)
    return torch.where(mask, result.to(before.dtype), before)


class ufunc:
    """`compute` takes tensors of the type that `loop` names and gives one of the type that `result`
    names, or of theirs. `python` does the same with numbers of Python."""

    __module__ = "numpy"
    nout, signature = 1, None

    def __init__(
        self, name, nin, compute, loop=_same, kinds="buifc", python=None, result=None, identity=None, fold=None
    ):
        self.__name__, self.nin, self._compute, self._loop, self._kinds = name, nin, compute, loop, kinds
        self._python, self._result, self.identity, self._fold = python, result, identity, fold
        self._of_kinds, self._python_of_floats = {}, None
        self._of_tensors = compute  # of a program's own tensors, beside numbers
        self.nargs = nin + 1
        _functions[name] = self

    def __repr__(self):
        return "<ufunc '%s'>" % self.__name__

    @property
    def __doc__(self):
        return "numpy.%s" % self.__name__

    types, ntypes, resolve_dtypes, _get_strided_loop, _resolve_dtypes_and_context = map(
        _cobra.inert,
        (
            "numpy.ufunc.types",
            "numpy.ufunc.ntypes",
            "numpy.ufunc.resolve_dtypes",
            "numpy.ufunc.loop",
            "numpy.ufunc.dtypes",
        ),
    )

    def __reduce__(self):
        return self.__name__

    def __deepcopy__(self, memo):
        return self

    def _loop_of(self, name):
        loop = self._loop(name)
        if _KINDS[loop] not in self._kinds:
            raise TypeError(
                "ufunc '%s' not supported for the input types, and the inputs could not be safely coerced to any supported"
                " types according to the casting rule ''safe''" % self.__name__
            )
        return loop

    def __call__(self, *inputs, **keywords):
        if not keywords:
            of_numbers = self._of_kinds.get(tuple(map(type, inputs)))
            if of_numbers:
                try:
                    return of_numbers(*inputs)
                except (ArithmeticError, ValueError):
                    return _wrap(self._tensor(inputs))  # numpy answers with inf or nan where Python raises
        return self._called(inputs, keywords)

    def _called(self, inputs, keywords):
        if keywords or len(inputs) != self.nin:
            return self._with_keywords(inputs, keywords)
        kinds = tuple(map(type, inputs))
        if kinds not in self._of_kinds:
            self._of_kinds[kinds] = self._made_for(kinds)
            if self._of_kinds[kinds]:
                return self(*inputs)
        if builtins.any(isinstance(v, torch.Tensor) for v in inputs):
            return self._of_tensors(*[v._t if isinstance(v, ndarray) else v for v in inputs])
        return _wrap(self._tensor(inputs))

    def _number_made(self, loop):
        return _TYPES[self._result or loop]

    def _made_for(self, kinds):
        # A function of numbers of these types, as short as can be: tables are made of half a
        # million of them.
        names, new = list(map(_OF_TYPE.get, kinds)), float.__new__
        python = self._python
        if python is None or None in names:
            return False
        loop = self._loop_of(_promoted(names))
        kind, made = _KINDS[loop], self._number_made(loop)
        if kind == "c":
            python = _COMPLEX.get(self.__name__)
            return python and (lambda *numbers: made(python(*map(complex, numbers))))
        if kind == "f":
            python = self._python_of_floats or python
            if made is not float64:
                return lambda *numbers: made(python(*map(float, numbers)))
            if self.nin == 1:
                return lambda x: new(float64, python(float(x)))
            if builtins.all(k is float or k is int for k in kinds):
                return lambda a, b: new(float64, python(a, b))
            return lambda a, b: new(float64, python(float(a), float(b)))

        def of_integers(*numbers):
            numbers = list(map(_plain, numbers))
            if builtins.any(not _LEAST <= n <= _MOST for n in numbers):
                raise ValueError
            result = python(*numbers)
            return made(_in_bits(loop, result) if made is _TYPES[loop] and kind != "b" else result)

        return of_integers

    def _tensor(self, inputs, name=None, casting=None):
        operands = [v if isinstance(v, ndarray) or _number_name(v) is not None else asarray(v) for v in inputs]
        if name is None:
            name = self._loop_of(self._type_of(operands))
        else:
            self._loop_of(name)
        if casting is not None and not self.__name__.startswith("logical"):
            for operand in operands:
                own = _number_name(operand) or operand.dtype.name
                if not (_can_cast(own, name, casting) or can_cast(operand, name, casting)):
                    raise UFuncTypeError(
                        "Cannot cast ufunc '%s' input to %r with casting rule %r"
                        % (self.__name__, _DTYPES[name], casting)
                    )
        of = _DTYPES[name]._torch
        tensors = [
            (o._t if o._t.dtype == of else o._t.to(of)) if isinstance(o, ndarray) else torch.tensor(_plain(o), dtype=of)
            for o in operands
        ]
        return _shapes_fit(self._compute, *tensors)

    def _type_of(self, operands):
        names = _names_of(operands)
        # The shortest float to which each of them can be cast.
        return _promoted(list(map(_floats, names)) if self._loop is _floats else names)

    def _with_keywords(self, inputs, keywords):
        for key in keywords:
            if key not in _KEYWORDS:
                raise TypeError("%s() got an unexpected keyword argument '%s'" % (self.__name__, key))
        out, where, name = keywords.get("out"), keywords.get("where", True), keywords.get("dtype")
        casting = keywords.get("casting", "same_kind")
        _lacks(self.__name__, **{k: keywords.get(k) for k in ("signature", "sig", "extobj")})
        if len(inputs) > self.nin:
            if len(inputs) > self.nargs or out is not None:
                raise TypeError(
                    "%s() takes from %d to %d positional arguments but %d were given"
                    % (self.__name__, self.nin, self.nargs, len(inputs))
                )
            inputs, out = inputs[: self.nin], inputs[self.nin]
        elif len(inputs) < self.nin:
            raise TypeError(
                "%s() takes from %d to %d positional arguments but %d were given"
                % (self.__name__, self.nin, self.nargs, len(inputs))
            )
        if isinstance(out, tuple):
            if len(out) != 1:
                raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
            out = out[0]
        if out is not None and not isinstance(out, ndarray):
            raise TypeError("return arrays must be of ArrayType")
        if out is None and where is True and name is None and "casting" not in keywords:
            return self(*inputs)
        if builtins.any(isinstance(v, torch.Tensor) for v in inputs):
            torch._unsupported("numpy.%s() of tensors with out, where or dtype" % self.__name__)
        loop = self._loop_for(name)
        checked = casting if loop is not None or "casting" in keywords else None
        result = self._tensor(inputs, loop, checked)
        if where is not True:
            _given(_array(result), None if out is None else _array(out._t.clone()), casting, broadcasts=True)
            result = _where_given(result, where, out)
        return _given(_wrap(result), out, casting, broadcasts=True)

    def _loop_for(self, dtype):
        # The type to compute in for `dtype`, which is that of the result.
        if dtype is None:
            return None
        name = _type_name(dtype)
        if name != (self._result or self._loop(name)):
            raise TypeError(
                "No loop matching the specified signature and casting was found for ufunc %s" % self.__name__
            )
        return None if self._result else name

    # ---- of a whole array
    def outer(self, a, b, /, **keywords):
        a, b = asarray(a), asarray(b)
        return self(a.reshape(a.shape + (1,) * b.ndim), b, **keywords)

    def _reducible(self):
        if self.nin != 2:
            raise ValueError("reduce only supported for binary functions")

    def _type_to_reduce(self, a, dtype, out):
        if dtype is None and isinstance(out, tuple):
            out = out[0]
        if dtype is not None:
            self._loop_for(dtype)
        if self._result is not None:
            if a.dtype.name != "bool" and not self.__name__.startswith("logical"):
                raise TypeError("The resolved dtypes are not compatible with %s.reduce." % self.__name__)
            return self._loop_of(a.dtype.name)
        if dtype is not None:
            return self._loop_of(_type_name(dtype))
        if out is not None and self.__name__ in ("add", "multiply"):
            return out.dtype.name
        name = a.dtype.name
        if self.__name__ in ("add", "multiply") and _KINDS[name] in "bui" and _SIZES[name] < 8:
            return "uint64" if _KINDS[name] == "u" else "int64"
        return self._loop_of(name)

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
        self._reducible()
        a = asarray(array)
        axes = _axes(axis, a.ndim)
        name = self._type_to_reduce(a, dtype, out)
        t = a._t.to(_DTYPES["int64" if name == "uint64" else name]._torch)
        identity = self.identity if initial is _NoValue else initial if self.identity is None else self.identity
        identity = None if initial is None else identity
        in_order = self.identity is None and self._fold is None and self.__name__ not in ("fmax", "fmin", "lcm")
        if in_order and len(axes) > 1:
            raise ValueError(
                "reduction operation '%s' is not reorderable, so at most one axis may be specified" % self.__name__
            )
        if in_order and (where is not True or initial not in (_NoValue, None)):
            torch._unsupported("numpy.%s.reduce() with where or initial" % self.__name__)
        if where is not True:
            if not _expands(tuple(_mask(where).shape), a.shape):
                raise ValueError("non-broadcastable operand with shape %s" % (tuple(_mask(where).shape),))
            if identity is None:
                raise ValueError(
                    "reduction operation '%s' does not have an identity, so to use a where mask one has to specify"
                    " 'initial'" % self.__name__
                )
            t = torch.where(_mask(where), t, torch.tensor(identity, dtype=t.dtype))
        if identity is None and 0 in [a.shape[d] for d in axes]:
            raise ValueError("zero-size array to reduction operation %s which has no identity" % self.__name__)
        result = self._reduced(t, axes, _keeps(keepdims), identity)
        if initial is not _NoValue and initial is not None:
            result = self._compute(result, torch.tensor(_plain(initial), dtype=result.dtype))
        if name == "uint64":
            if result.dim() or out is not None or not torch._has_values(result):
                _DTYPES[name]._torch
            return _TYPES[name](result.item())
        return _given(_wrap(result), out, "unsafe" if self._result is None else "same_kind")

    def _reduced(self, t, axes, keepdims, identity):
        if self._fold is not None and 0 not in [t.shape[d] for d in axes]:
            # torch's sums of short integers are long.
            return self._result_of(self._fold(t, axes, keepdims).to(t.dtype)) if axes else self._result_of(t)
        for d in reversed(axes):
            parts = [p for p in t.unbind(d)] if t.shape[d] else []
            if parts:
                made = self._result_of(parts[0])
            else:
                shape = [n for e, n in enumerate(t.shape) if e != d]
                made = torch.full(shape, identity).to(_TORCH[self._result] if self._result else t.dtype)
            for part in parts[1:]:
                made = self._compute(made, part)
            t = made.unsqueeze(d) if keepdims else made
        return t

    def _result_of(self, t):
        return t.to(_TORCH[self._result]) if self._result else t

    def accumulate(self, array, axis=0, dtype=None, out=None):
        self._reducible()
        a = asarray(array)
        if a.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        if isinstance(axis, tuple) and len(axis) == 1:
            axis = axis[0]
        if axis is None and a.ndim > 1 or isinstance(axis, tuple):
            raise ValueError("accumulate does not allow multiple axes")
        name, d = self._type_to_reduce(a, dtype, out), _one_axis(axis or 0, a.ndim)
        t = a._t.to(_DTYPES[name]._torch)
        if self.__name__ in ("add", "multiply"):
            result = (t.cumsum(d) if self.__name__ == "add" else t.cumprod(d)).to(t.dtype)
        else:
            made = []
            for part in t.unbind(d):
                made.append(self._compute(made[-1], part) if made else self._result_of(part))
            result = torch.stack(made, d) if made else self._result_of(t)
        return _given(_array(result), out, "unsafe")

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        torch._unsupported("numpy.%s.reduceat()" % self.__name__)

    def at(self, a, indices, b=_NoValue, /):
        # One after the other, because a place may come more than once.
        if not isinstance(a, ndarray):
            raise TypeError("first operand must be array")
        places = _array(torch.arange(a.size).reshape(a.shape))[indices]
        places = asarray(places)
        others = () if b is _NoValue else (asarray(b),)
        flat = a.reshape(-1).copy()
        values = [_array(o._t.expand(places.shape)).reshape(-1) for o in others]
        made = flat.tolist()
        for k, place in enumerate(places.reshape(-1).tolist()):
            one = self(a.dtype.type(made[place]), *[v[k] for v in values])
            if not _can_cast(_number_name(one), a.dtype.name, "same_kind"):
                torch._unsupported("numpy.%s.at() of %s" % (self.__name__, a.dtype))
            made[place] = a.dtype.type(one).item()
        a[...] = asarray(made).astype(a.dtype).reshape(a.shape)


class _Pair(ufunc):
    """A function of two results, each of which one function computes."""

    nout = 2

    def __init__(self, name, nin, first, second):
        self.__name__, self.nin, self._parts, self.identity = name, nin, (first, second), None
        self.nargs = nin + 2
        _functions[name] = self

    def __call__(self, *inputs, out=(None, None), **keywords):
        if len(inputs) > self.nin:
            inputs, out = inputs[: self.nin], (inputs[self.nin :] + (None,))[:2]
        if not isinstance(out, tuple):
            raise TypeError("'out' must be a tuple of arrays")
        if len(out) != 2:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        made = [part(*inputs, **keywords) for part in self._parts]
        return tuple(_given(m, o, broadcasts=True) for m, o in zip(made, out))

    def _refused(self, *args, **kwargs):
        raise ValueError("reduce only supported for functions returning a single value")

    reduce = accumulate = outer = reduceat = at = _refused


# ---- operators
_DIRECT = {
    "sub": lambda a, b: a - b,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "matmul": lambda a, b: a @ b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _operator(symbol, reflected=False):
    function = _functions[_SYMBOLS.get(symbol) or _COMPARISONS[symbol]]
    name = function.__name__

    def operator(self, other):
        if isinstance(other, torch.Tensor):
            return _shapes_fit(_DIRECT[symbol], *((other, self._t) if reflected else (self._t, other)))
        if not isinstance(other, (ndarray, list, tuple)) and _number_name(other) is None:
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    def comparison(self, other):
        if other is None or isinstance(other, (str, bytes)):
            if other is None and symbol in ("eq", "ne"):
                return _array(torch.full(tuple(self._t.shape), symbol == "ne"))
            return NotImplemented
        try:
            return operator(self, other)
        except ValueError:
            if symbol not in ("eq", "ne"):
                raise
            return NotImplemented  # shapes that do not fit

    made = operator if symbol in _SYMBOLS else comparison
    made.__name__ = name
    return made


def _inplace(symbol):
    function = _functions[_SYMBOLS[symbol]]

    def operator(self, other):
        if isinstance(other, torch.Tensor):
            return NotImplemented
        if not isinstance(other, (ndarray, list, tuple)) and _number_name(other) is None:
            return NotImplemented
        return function(self, other, out=self)

    return operator


def _set_operators():
    # Once all of these functions are there.
    for symbol in _SYMBOLS:
        setattr(ndarray, "__%s__" % symbol, _operator(symbol))
        setattr(ndarray, "__r%s__" % symbol, _operator(symbol, True))
        if symbol != "divmod":
            setattr(ndarray, "__i%s__" % symbol, _inplace(symbol))
    for symbol in _COMPARISONS:
        setattr(ndarray, "__%s__" % symbol, _operator(symbol))

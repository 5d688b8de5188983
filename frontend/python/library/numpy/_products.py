# numpy's products of arrays, and polynomials.
import builtins
import math

import torch
from numpy._arrays import _array, _given, array, asarray, ndarray
from numpy._dtypes import _functions, _lacks, _type_name, pi
from numpy._promotion import _promoted
from numpy._types import _number_name, generic
from numpy._elementwise import add, cos, multiply
from numpy._making import arange, zeros
from numpy._shaping import atleast_1d, concatenate, stack
from numpy._ufuncs import _set_operators, ufunc


def _product(a, b):
    if a.dim() == 0 or b.dim() == 0:
        raise ValueError("matmul: Input operand %d does not have enough dimensions" % (0 if a.dim() == 0 else 1))
    if a.dtype == torch.bool:
        return _product(a.to(torch.int64), b.to(torch.int64)) != 0
    if a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0]:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?)"
            " (size %d is different from %d)" % (b.shape[-2 if b.dim() > 1 else 0], a.shape[-1])
        )
    # With a vector: by products and a sum, which small constants are computed with.
    if b.dim() == 1:
        return (a * b).sum(-1).to(a.dtype)
    return (a.unsqueeze(-1) * b).sum(-2).to(a.dtype) if a.dim() == 1 else a @ b


class _MatMul(ufunc):
    def __call__(self, *inputs, **keywords):
        _lacks("matmul", **{k: keywords.pop(k, None) for k in ("axes", "axis")})
        return super().__call__(*inputs, **keywords)

    def reduce(self, *args, **kwargs):
        raise RuntimeError("Reduction not defined on ufunc with signature")

    accumulate = outer = reduce


matmul = _MatMul("matmul", 2, _product)
matmul.signature = "(n?,k),(k,m?)->(n?,m?)"
_set_operators()


def dot(a, b, out=None):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        name = _promoted([a.dtype.name, b.dtype.name])
        made = multiply(a.astype(name), b.astype(name))
    elif b.ndim > 2:
        made = tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))
    else:
        made = matmul(a, b)
    if out is not None and (out.shape != asarray(made).shape or out.dtype != made.dtype):
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    return _given(made, out)


def vdot(a, b):
    a = asarray(a)
    return dot(_functions["conjugate"](a).ravel() if a.dtype.kind == "c" else a.ravel(), asarray(b).ravel())


def vecdot(x1, x2, /, *, axis=-1):
    a, b = asarray(x1), asarray(x2)
    return (_functions["conjugate"](a) * b if a.dtype.kind == "c" else a * b).sum(axis)


def outer(a, b, out=None):
    return multiply(asarray(a).reshape(-1, 1), asarray(b).reshape(1, -1), **({} if out is None else {"out": out}))


def inner(a, b):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("shapes %s and %s not aligned" % (a.shape, b.shape))
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def kron(a, b):
    a, b = asarray(a), asarray(b)
    n = builtins.max(a.ndim, b.ndim)
    of_a, of_b = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    a = a.reshape([s for k in of_a for s in (k, 1)])
    b = b.reshape([s for k in of_b for s in (1, k)])
    return multiply(a, b).reshape([p * q for p, q in zip(of_a, of_b)]) if n else multiply(a, b)


def tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    if isinstance(axes, int):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    of_a, of_b = ([n % x.ndim for n in ([one] if isinstance(one, int) else one)] for x, one in zip((a, b), axes))
    rest_a, rest_b = [n for n in range(a.ndim) if n not in of_a], [n for n in range(b.ndim) if n not in of_b]
    if [a.shape[n] for n in of_a] != [b.shape[n] for n in of_b]:
        raise ValueError("shape-mismatch for sum")
    rows, columns = tuple(a.shape[n] for n in rest_a), tuple(b.shape[n] for n in rest_b)
    inner = math.prod(a.shape[n] for n in of_a)
    a = a.transpose(rest_a + of_a) if a.ndim else a
    b = b.transpose(of_b + rest_b) if b.ndim else b
    product = matmul(a.reshape(math.prod(rows), inner), b.reshape(inner, math.prod(columns)))
    made = product.reshape(rows + columns)
    return made if made.ndim else made[()]


def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    # Products over all letters, then sums: what constructors write is small.
    if not operands or not isinstance(operands[0], str):
        torch._unsupported("numpy.einsum() without a string of letters")
    subscripts, operands = operands[0], [asarray(o) for o in operands[1:]]
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(
            "fewer or more operands provided to einstein sum function than specified in the subscripts string"
        )
    letters = sorted(set("".join(terms)))
    if "." in subscripts or builtins.any(len(set(t)) != len(t) for t in terms):
        torch._unsupported("numpy.einsum('%s')" % subscripts)
    if not arrow:
        right = "".join(c for c in letters if left.count(c) == 1)
    if builtins.any(c not in letters or right.count(c) > 1 for c in right):
        raise ValueError("einstein sum subscripts string included output subscript which never appeared in an input")
    if len(terms) == 1 and sorted(right) == letters and out is None:
        dtype = None  # a view
    name = _promoted([o.dtype.name for o in operands]) if dtype is None else _type_name(dtype)
    product = None
    for term, operand in zip(terms, operands):
        if operand.ndim != len(term):
            raise ValueError("operand has more dimensions than subscripts given in einstein sum")
        operand = operand.astype(name)
        operand = operand.transpose(sorted(range(len(term)), key=lambda i: term[i])) if len(term) > 1 else operand
        operand = operand.reshape([operand.shape[sorted(term).index(c)] if c in term else 1 for c in letters])
        product = operand if product is None else product * operand
    summed = tuple(i for i, c in enumerate(letters) if c not in right)
    product = asarray(add.reduce(product, summed, name) if summed else product)
    kept = [c for c in letters if c in right]
    product = product.transpose([kept.index(c) for c in right]) if len(right) > 1 else product
    return _given(product if product.ndim else product[()], out, "unsafe")


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return asarray(_functions["diagonal"](a, offset, axis1, axis2)).sum(-1, dtype, out)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = (_functions["moveaxis"](asarray(x), k, -1) for x, k in ((a, axisa), (b, axisb)))
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    name = _promoted([a.dtype.name, b.dtype.name])
    a, b = (v.astype(name) for v in (a, b))
    if a.ndim > 1 or b.ndim > 1:
        shape = _functions["broadcast_shapes"](a.shape[:-1], b.shape[:-1])
        a, b = (_array(v._t.expand(shape + v.shape[-1:])) for v in (a, b))
    a, b = (v if v.shape[-1] == 3 else _array(torch.cat([v._t, torch.zeros_like(v._t[..., :1])], -1)) for v in (a, b))
    x, y = ([v[..., k] for k in range(3)] for v in (a, b))
    made = [x[i] * y[j] - x[j] * y[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return _functions["moveaxis"](stack(_functions["broadcast_arrays"](*made), -1), -1, axisc)


# ---- windows and polynomials
def _window(M, function):
    # NumPy 1.24 computes them of floats, and of one point it is 1.
    if M < 1:
        return array([], float)
    return array([1.0]) if M == 1 else function(arange(1 - M, M, 2))


def hanning(M):
    return _window(M, lambda n: 0.5 + 0.5 * cos(pi * n / (M - 1)))


def hamming(M):
    return _window(M, lambda n: 0.54 + 0.46 * cos(pi * n / (M - 1)))


def blackman(M):
    return _window(M, lambda n: 0.42 + 0.5 * cos(pi * n / (M - 1)) + 0.08 * cos(2.0 * pi * n / (M - 1)))


def bartlett(M):
    return _window(M, lambda n: _functions["where"](n <= 0, 1 + n / (M - 1), 1 - n / (M - 1)))


def convolve(a, v, mode="full"):
    a, v = atleast_1d(a), atleast_1d(v)
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError("object too deep for desired array")
    if len(v) > len(a):
        a, v = v, a
    if not len(a):
        raise ValueError("a cannot be empty")
    if not len(v):
        raise ValueError("v cannot be empty")
    x, y = a.tolist(), v.tolist()
    full = [
        builtins.sum(x[i - j] * y[j] for j in range(len(y)) if 0 <= i - j < len(x)) for i in range(len(x) + len(y) - 1)
    ]
    modes = {
        "full": (0, len(full)),
        "same": ((len(y) - 1) // 2, len(x)),
        "valid": (len(y) - 1, len(x) - len(y) + 1),
    }
    if mode not in modes:
        raise ValueError("mode must be one of 'valid', 'same', or 'full'")
    start, count = modes[mode]
    return array(full[start : start + count], dtype=_promoted([a.dtype.name, v.dtype.name]))


def polyval(p, x):
    y = 0 if isinstance(x, poly1d) else asarray(x) * 0
    for c in p:
        y = y * x + c
    return y if isinstance(y, (poly1d, generic)) or asarray(y).ndim else asarray(y)[()]


class poly1d:
    """A polynomial by its coefficients, highest power first; products and powers are what filters
    of blur layers are made of."""

    __module__ = "numpy"
    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        self.variable = variable or getattr(c_or_r, "variable", "x")
        c = atleast_1d(c_or_r.coeffs if isinstance(c_or_r, poly1d) else c_or_r)
        if r:
            c, roots = array([1.0]), c.tolist()
            for root in roots:
                c = convolve(c, [1, -root])
        while len(c) > 1 and c[0] == 0:
            c = c[1:]
        self.coeffs = c

    c = coef = coefficients = property(lambda self: self.coeffs)
    o = order = property(lambda self: len(self.coeffs) - 1)
    r = roots = property(lambda self: torch._unsupported("numpy.poly1d.roots"))

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __array__(self, dtype=None):
        return self.coeffs if dtype is None else self.coeffs.astype(dtype)

    def __getitem__(self, power):
        return self.coeffs[self.order - power] if 0 <= power <= self.order else self.coeffs.dtype.type(0)

    def __setitem__(self, power, value):
        torch._unsupported("assigning coefficients of numpy.poly1d")

    def __call__(self, x):
        return polyval([poly1d(v) for v in self.coeffs], x) if isinstance(x, poly1d) else polyval(self.coeffs, x)

    def _added(self, other, sign):
        other = poly1d(other)
        n = builtins.max(len(self.coeffs), len(other.coeffs))
        a, b = (concatenate([zeros(n - len(p.coeffs), dtype=p.coeffs.dtype), p.coeffs]) for p in (self, other))
        return poly1d(a + sign * b)

    def __add__(self, other):
        return self._added(other, 1)

    def __sub__(self, other):
        return self._added(other, -1)

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __pos__(self):
        return self

    def __mul__(self, other):
        if _number_name(other) is not None:
            return poly1d(self.coeffs * other)
        return poly1d(convolve(self.coeffs, poly1d(other).coeffs))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return poly1d(other) - self

    def __truediv__(self, other):
        if _number_name(other) is None:
            torch._unsupported("dividing by a numpy.poly1d")
        return poly1d(self.coeffs / other)

    def __pow__(self, power):
        if not isinstance(power, int) or power < 0:
            raise ValueError("Power to non-negative integers only.")
        out = poly1d([1])
        for _ in range(power):
            out = out * self
        return out

    def __eq__(self, other):
        return isinstance(other, poly1d) and self.coeffs.tolist() == other.coeffs.tolist()

    def __ne__(self, other):
        return not self == other

    def deriv(self, m=1):
        return polyder(self, m)

    def integ(self, m=1, k=0):
        torch._unsupported("numpy.poly1d.integ()")


def _padded(a1, a2):
    a, b = atleast_1d(a1), atleast_1d(a2)
    n = builtins.max(len(a), len(b))
    return (concatenate([zeros(n - len(x), x.dtype), x]) for x in (a, b))


def polyadd(a1, a2):
    if isinstance(a1, poly1d) or isinstance(a2, poly1d):
        return poly1d(a1) + poly1d(a2)
    a, b = _padded(a1, a2)
    return a + b


def polysub(a1, a2):
    if isinstance(a1, poly1d) or isinstance(a2, poly1d):
        return poly1d(a1) - poly1d(a2)
    a, b = _padded(a1, a2)
    return a - b


def polymul(a1, a2):
    if isinstance(a1, poly1d) or isinstance(a2, poly1d):
        return poly1d(a1) * poly1d(a2)
    return convolve(poly1d(a1).coeffs, poly1d(a2).coeffs)


def polyder(p, m=1):
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    c = asarray(p.coeffs if isinstance(p, poly1d) else p)
    for _ in range(m):
        c = c[:-1] * arange(len(c) - 1, 0, -1)
    return poly1d(c) if isinstance(p, poly1d) else c


ndarray.dot = lambda self, b, out=None: dot(self, b, out)
ndarray.trace = lambda self, offset=0, axis1=0, axis2=1, dtype=None, out=None: trace(
    self, offset, axis1, axis2, dtype, out
)

# Windows by their formulas.
import math
import numbers
import operator

import numpy as np
import torch
from numpy import pi


def _window(M, sym, formula, xp=None, device=None):
    # formula(points): the symmetric window; a periodic one is that of one point more without its
    # last.
    if xp is not None or device is not None:
        torch._unsupported("scipy.signal.windows: xp and device")
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    if M <= 1:
        if isinstance(M, bool):
            raise TypeError("expected a sequence of integers or a single integer, got '%s'" % M)
        return np.ones(operator.index(M))
    made = formula(M + (not sym))
    return made if sym else made[:-1]


def _cosines(points, weights):
    angles = np.linspace(-pi, pi, operator.index(points))
    return sum((weight * np.cos(k * angles) for k, weight in enumerate(weights)), np.zeros(points))


def _around(points):
    # The points, counted from the middle.
    return np.arange(points) - (points - 1) / 2


def general_cosine(M, a, sym=True):
    return _window(M, sym, lambda points: _cosines(points, list(a)))


def _of_cosines(name, weights):
    def window(M, sym=True, *, xp=None, device=None):
        return _window(M, sym, lambda points: _cosines(points, weights), xp, device)

    window.__name__ = window.__qualname__ = name
    return window


hann = _of_cosines("hann", (0.5, 0.5))
hamming = _of_cosines("hamming", (0.54, 0.46))
blackman = _of_cosines("blackman", (0.42, 0.5, 0.08))
nuttall = _of_cosines("nuttall", (0.3635819, 0.4891775, 0.1365995, 0.0106411))
blackmanharris = _of_cosines("blackmanharris", (0.35875, 0.48829, 0.14128, 0.01168))
flattop = _of_cosines("flattop", (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368))


def general_hamming(M, alpha, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: _cosines(points, (alpha, 1 - alpha)), xp, device)


def boxcar(M, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: np.ones(operator.index(points)), xp, device)


def triang(M, sym=True, *, xp=None, device=None):
    def formula(points):
        return 1 - np.abs(_around(points)) * 2 / (points + points % 2)

    return _window(M, sym, formula, xp, device)


def bartlett(M, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: 1 - np.abs(_around(points)) * 2 / (points - 1), xp, device)


def parzen(M, sym=True, *, xp=None, device=None):
    def formula(points):
        n = np.abs(_around(points))
        x = n / (points / 2)
        return np.where(n <= (points - 1) / 4, 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3)

    return _window(M, sym, formula, xp, device)


def bohman(M, sym=True, *, xp=None, device=None):
    def formula(points):
        x = np.abs(np.linspace(-1, 1, operator.index(points)))
        made = (1 - x) * np.cos(pi * x) + np.sin(pi * x) / pi
        return np.where(x >= 1, np.zeros(points), made)

    return _window(M, sym, formula, xp, device)


def barthann(M, sym=True, *, xp=None, device=None):
    def formula(points):
        x = np.abs(_around(points)) / (points - 1)
        return 0.62 - 0.48 * x + 0.38 * np.cos(2 * pi * x)

    return _window(M, sym, formula, xp, device)


def cosine(M, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: np.sin(pi / points * (np.arange(points) + 0.5)), xp, device)


def lanczos(M, *, sym=True, xp=None, device=None):
    def formula(points):
        x = pi * 2 * _around(points) / (points - 1)
        middle = x == 0
        made = np.sin(np.where(middle, 1.0, x)) / np.where(middle, 1.0, x)
        return np.where(middle, np.ones(points), made)

    return _window(M, sym, formula, xp, device)


def gaussian(M, std, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: np.exp(-(_around(points) ** 2) / (2 * std * std)), xp, device)


def general_gaussian(M, p, sig, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: np.exp(-0.5 * np.abs(_around(points) / sig) ** (2 * p)), xp, device)


def exponential(M, center=None, tau=1.0, sym=True, *, xp=None, device=None):
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")

    def formula(points):
        return np.exp(-np.abs(np.arange(points) - ((points - 1) / 2 if center is None else center)) / tau)

    return _window(M, sym, formula, xp, device)


def tukey(M, alpha=0.5, sym=True, *, xp=None, device=None):
    def formula(points):
        points = operator.index(points)
        if alpha <= 0:
            return np.ones(points)
        if alpha >= 1:
            return _cosines(points, (0.5, 0.5))
        n = np.arange(points)
        x = n * 2 / (alpha * (points - 1))
        width = math.floor(alpha * (points - 1) / 2)
        rising = 0.5 * (1 + np.cos(pi * (x - 1)))
        falling = 0.5 * (1 + np.cos(pi * (x - 2 / alpha + 1)))
        inner = np.where(n >= points - width - 1, falling, np.ones(points))
        return np.where(n <= width, rising, inner)

    return _window(M, sym, formula, xp, device)


def _bessel(x, largest):
    # The modified Bessel function of order 0: a series of positive terms. largest: of x.
    if largest > 700:
        torch._unsupported("scipy.signal.windows.kaiser() with beta above 700")
    term = total = np.ones(x.shape)
    for k in range(1, int(1.4 * largest) + 40):
        term = term * (x / (2 * k)) ** 2
        total = total + term
    return total


def _kaiser(points, beta):
    half = (points - 1) / 2
    inside = 1 - (_around(points) / half) ** 2
    x = beta * np.sqrt(np.where(inside < 0, 0.0, inside))
    return _bessel(x, abs(beta)) / _bessel(np.array([float(beta)]), abs(beta))


def kaiser(M, beta, sym=True, *, xp=None, device=None):
    return _window(M, sym, lambda points: _kaiser(points, beta), xp, device)


def kaiser_bessel_derived(M, beta, *, sym=True, xp=None, device=None):
    if not sym:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for symmetric shapes")
    if M >= 1 and M % 2:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for even number of points")

    def formula(points):
        sums = np.cumsum(_kaiser(points // 2 + 1, beta))
        half = np.sqrt(sums[:-1] / sums[-1])
        return np.concatenate([half, half[::-1]])

    return _window(M, sym, formula, xp, device)


_MOST = 2048  # points whose transform is summed term by term


def chebwin(M, at, sym=True, *, xp=None, device=None):
    if abs(at) < 45:
        import warnings

        warnings.warn("This window is not suitable for spectral analysis for attenuation values lower than about 45dB.")

    def chebyshev(order, x):
        if abs(x) <= 1:
            return math.cos(order * math.acos(x))
        return math.cosh(order * math.acosh(abs(x))) * (-1 if x < 0 and order % 2 else 1)

    def formula(points):
        if points > _MOST:
            torch._unsupported("scipy.signal.windows.chebwin() of more than %d points" % _MOST)
        order = operator.index(points) - 1
        beta = math.cosh(math.acosh(10 ** (abs(at) / 20)) / order)
        spectrum = [chebyshev(order, beta * math.cos(pi * k / points)) for k in range(points)]
        table = [math.cos(pi * k / points) for k in range(2 * points)]
        even = points % 2 == 0
        half = []
        for j in range(int(even), points // 2 + 1):
            turn = even - 2 * j
            half.append(sum(p * table[k * turn % (2 * points)] for k, p in enumerate(spectrum)))
        made = half[:0:-1] + half if not even else half[::-1] + half
        highest = max(made)
        return np.array([v / highest for v in made])

    return _window(M, sym, formula, xp, device)


def taylor(M, nbar=4, sll=30, norm=True, sym=True, *, xp=None, device=None):
    def formula(points):
        a = math.acosh(10 ** (sll / 20)) / pi
        spread = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
        lobes = range(1, nbar)
        weights = []
        for m in lobes:
            above = math.prod(1 - m * m / spread / (a**2 + (k - 0.5) ** 2) for k in lobes)
            below = math.prod(1 - m * m / (k * k) for k in lobes if k != m)
            weights.append((-1) ** (m + 1) * above / (2 * below))

        def at(n):
            return sum(
                (2 * w * np.cos(2 * pi * m * (n - points / 2 + 0.5) / points) for m, w in zip(lobes, weights)), 1
            )

        made = at(np.arange(points)) + np.zeros(points)
        return made / at((points - 1) / 2) if norm else made

    return _window(M, sym, formula, xp, device)


def dpss(*args, **kwargs):
    torch._unsupported("scipy.signal.windows.dpss()")


# Names: the window and whether it needs parameters (None: it may have them).
_BY_NAME = {}
for _names, _function, _needs in (
    ("barthann brthan bth", barthann, False),
    ("bartlett bart brt", bartlett, False),
    ("blackman black blk", blackman, False),
    ("blackmanharris blackharr bkh", blackmanharris, False),
    ("bohman bman bmn", bohman, False),
    ("boxcar box ones rect rectangular", boxcar, False),
    ("chebwin cheb", chebwin, True),
    ("cosine halfcosine", cosine, False),
    ("dpss", dpss, True),
    ("exponential poisson", exponential, None),
    ("flattop flat flt", flattop, False),
    ("gaussian gauss gss", gaussian, True),
    ("general_cosine", general_cosine, True),
    ("general_gaussian general_gauss ggs", general_gaussian, True),
    ("general_hamming", general_hamming, True),
    ("hamming hamm ham", hamming, False),
    ("hann han", hann, False),
    ("kaiser ksr", kaiser, True),
    ("kaiser_bessel_derived kbd", kaiser_bessel_derived, True),
    ("lanczos sinc", lanczos, False),
    ("nuttall nutl nut", nuttall, False),
    ("parzen parz par", parzen, False),
    ("taylor taylorwin", taylor, None),
    ("triang triangle tri", triang, False),
    ("tukey tuk", tukey, None),
):
    for _name in _names.split():
        _BY_NAME[_name] = _BY_NAME[_name.replace("_", " ")] = (_function, _needs)


def get_window(window, Nx, fftbins=True, *, xp=None, device=None):
    if not (isinstance(Nx, numbers.Integral) and Nx > 0):
        raise ValueError(f"Parameter {Nx=} is not a positive integer")
    if not isinstance(fftbins, bool):
        raise ValueError(f"Parameter {fftbins=} is not of type bool!")
    if not isinstance(window, (str, tuple)):
        try:
            beta = float(window)
        except Exception as error:
            raise ValueError(f"Parameter {window=} must be a tuple, a string or a float!") from error
        return kaiser(Nx, beta, not fftbins, xp=xp, device=device)
    name, args = (window, ()) if isinstance(window, str) else (window[0], window[1:])
    if not isinstance(name, str):
        raise ValueError(f"First tuple entry of parameter {window=} is not a str!")
    sym = not fftbins
    for ending in ("_symmetric", "_periodic"):
        if name.endswith(ending):
            sym, name = ending == "_symmetric", name.removesuffix(ending)
    if name not in _BY_NAME:
        raise ValueError(f"Invalid window name '{name}' in parameter {window=}!")
    function, needs = _BY_NAME[name]
    if args and needs is False:
        raise ValueError(f"'{name}' does not allow parameters, but {window=}!")
    if not args and needs:
        raise ValueError(f"'{name}' must have parameters, but {window=}!")
    if function is general_cosine:
        return general_cosine(Nx, *args, sym=sym)
    return function(Nx, *args, sym=sym, xp=xp, device=device)

# Filters of wavelets from their definitions, in whole numbers of many digits, because the roots of
# long ones are ill-conditioned.
import math

import _cobra


def _binomial_series(n):
    # 1 + n y + ... : what is left of the half-band polynomial without its zeros at -1.
    return [math.comb(n - 1 + k, k) for k in range(n)]


class _Fixed:
    """Complex numbers (real, imaginary) in units of 10**-places."""

    def __init__(self, places):
        self.one = 10**places

    def of(self, value):
        return int(value.real * 2**60) * self.one >> 60, int(value.imag * 2**60) * self.one >> 60

    def times(self, a, b):
        return (a[0] * b[0] - a[1] * b[1]) // self.one, (a[0] * b[1] + a[1] * b[0]) // self.one

    def over(self, a, b):
        size = b[0] * b[0] + b[1] * b[1]
        return (a[0] * b[0] + a[1] * b[1]) * self.one // size, (a[1] * b[0] - a[0] * b[1]) * self.one // size

    def root_near(self, coefficients, start):
        """Newton's root of a polynomial with coefficients (highest last) near to the complex
        number."""
        at = self.of(start)
        for _ in range(60):
            value = slope = (0, 0)
            for c in reversed(coefficients):
                slope = self.times(slope, at)
                slope = slope[0] + value[0], slope[1] + value[1]
                value = self.times(value, at)
                value = value[0] + c[0], value[1] + c[1]
            step = self.over(value, slope)
            at = at[0] - step[0], at[1] - step[1]
            if abs(step[0]) + abs(step[1]) < 1000:
                break
        return at


def _as_sum_of_two(filter):
    # Scaled so that its sum is the root of two.
    total = sum(filter)
    scale = 10**40
    root = math.isqrt(2 * scale * scale)
    return [v * root / (total * scale) for v in filter]


def daubechies(n):
    """The 2 n coefficients of the filter of minimal phase."""
    fixed = _Fixed(50 + 2 * n)
    series = _binomial_series(n)
    exact = [(c * fixed.one, 0) for c in series]
    filter = [(fixed.one, 0)]
    for approximate in _cobra.polynomial_roots(series, 0.6):  # they are near to the circle |y| = 1/2
        y = fixed.root_near(exact, approximate)
        half = (fixed.one - 2 * y[0], -2 * y[1])  # z + 1/z is twice that
        c = complex(half[0] / fixed.one, half[1] / fixed.one)
        z = c + (c * c - 1) ** 0.5
        z = fixed.root_near([(fixed.one, 0), (-2 * half[0], -2 * half[1]), (fixed.one, 0)], z if abs(z) < 1 else 1 / z)
        moved = [(0, 0)] + [fixed.times(v, z) for v in filter]
        filter = [(a[0] - b[0], a[1] - b[1]) for a, b in zip(filter + [(0, 0)], moved)]
    whole = [v[0] for v in filter]
    for _ in range(n):
        whole = [a + b for a, b in zip(whole + [0], [0] + whole)]
    return _as_sum_of_two(whole)


def _product(a, b):
    made = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            made[i + j] += x * y
    return made


def splines(reconstruction, decomposition):
    """(dec_lo, rec_lo) of the biorthogonal wavelets with that many zeros at -1, both as long as the
    longer one."""
    half = (reconstruction + decomposition) // 2
    dual = [0] * (2 * half - 1)
    power = [1]  # of 4 y = -1/z + 2 - z
    for k, c in enumerate(_binomial_series(half)):
        for i, v in enumerate(power):
            dual[half - 1 - k + i] += c * v * 4 ** (half - 1 - k)
        power = _product(power, [-1, 2, -1])
    dec, rec = _as_sum_of_two(_product(dual, _power(decomposition))), _as_sum_of_two(_power(reconstruction))
    length = len(dec) + len(dec) % 2
    if reconstruction + decomposition == 2:
        return dec, rec
    front = (length - len(rec) - len(dec) % 2) // 2
    dec = [0.0] * (length - len(dec)) + dec
    rec = [0.0] * front + rec
    return dec, rec + [0.0] * (length - len(rec))


def _power(n):
    return [math.comb(n, k) for k in range(n + 1)]

from fractions import Fraction as F
print(F(3, 6), F('3/7'), F('0.125'), F(1.5), F('-1e-3'), F(' 2. '), F('.5e2'), F(3, 4) + F(1, 4), F(1, 3) * 3, F(1, 3) ** 2, F(1, 3) ** -2, F(7, 2) // 1, F(7, 2) % 1, -F(1, 2), abs(F(-1, 2)), float(F(1, 3)), int(F(7, 2)), int(F(-7, 2)), round(F(5, 2)), round(F(7, 2)), round(F(22, 7), 2), F(1, 3) < F(1, 2), F(1, 2) == 0.5, hash(F(1, 2)) == hash(0.5), hash(F(-3)) == hash(-3))
print(F(355, 113).limit_denominator(10), F(3.141592653589793).limit_denominator(1000), F('0.3333').limit_denominator(3), repr(F(1, 2)), F(1, 2) + 1, 1 - F(1, 2), 2 / F(1, 3), F(1, 2) + 0.5, 0.5 - F(1, 4), divmod(F(7, 2), F(1, 2)), F(10).numerator, sum([F(1, i) for i in range(1, 6)]), F(1, 2).as_integer_ratio(), bool(F(0)), F.from_float(0.25), max(F(1, 2), F(2, 3)), F(1, 2) < 0.6, F(1, 2) > float('inf'), F(-4, -6), F(4, -6), F(F(1, 2), F(3, 4)), 2 ** F(2), 4 ** F(1, 2), F(4) ** F(1, 2), F(1, 2) != 'a', f"{F(1, 2)}")
for bad in (lambda: F(1, 0), lambda: F('x'), lambda: F('1/0'), lambda: F('/2'), lambda: F(''), lambda: F(1.5, 2), lambda: F(None), lambda: F(1, 2) + 'a', lambda: F(1, 2) / 0, lambda: F(1, 2) < 'a'):
    try: print(bad())
    except Exception as e: print(type(e).__name__)
import math; print(math.floor(F(-7, 2)), math.ceil(F(-7, 2)), math.trunc(F(-7, 2)), int(64 * F(3, 4)), isinstance(F(1), int), {F(1, 2): 1}[0.5])

# integers
print(7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3, divmod(-7, 2), 2 ** 100, -2 ** 2, 2 ** -1, 0 ** 0, 10 ** 20 // 7, -10 ** 20 % 7, (10 ** 30) ** 2, 1 << 70, -1 >> 3, (1 << 70) >> 65, ~5, 5 & -2, 5 | 8, 5 ^ 1, -5 & (1 << 70), (2 ** 64) & (2 ** 64 - 1), (-2 ** 65) | 3, (-2 ** 65) ^ 7, True + True, True & False, ~True, -True)
print(int('0x1f', 16), int('0b11', 0), int('1_000'), int(' 42 '), int(-3.9), int('z', 36), int(True), int('-0'), (255).to_bytes(2, 'big'), (-2).to_bytes(2, 'little', signed=True), int.from_bytes(b'\x01\x02', 'big'), int.from_bytes(b'\xff\xfe', 'big', signed=True), (10).bit_length(), (-256).bit_length(), (2 ** 100).bit_length(), (7).bit_count(), (5).conjugate(), (6).numerator, (6).denominator, (5).as_integer_ratio(), (3).real, (3).imag, (3).__index__(), int.from_bytes([1, 0], 'little'), (24).to_bytes(), hash(2 ** 61 - 1), hash(2 ** 61), hash(-1), hash(2 ** 100), hash(-2 ** 100))
print(pow(2, 10, 1000), pow(3, -1, 7), pow(2, 1000, 10 ** 9 + 7), pow(-2, 3), pow(2, 0.5), pow(-8, 1 / 3), round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234, -2), round(1250, -2), round(1350, -2), round(5, 2), round(0.5), round(1e20), round(1.5), abs(-5), bin(10), oct(8), hex(-255), bin(-1), str(10 ** 50), repr(-10 ** 30), 3 .__add__(4), sum([1, 2.5]), sum([[1], [2]], []), min(3, 1, 2), max('a', 'b', key=ord), max([1, 2], default=0), min([], default='d'))
for bad in (lambda: int('1.5'), lambda: int('0x1f'), lambda: int(''), lambda: int('1__0'), lambda: int('9', 8), lambda: 1 << -1, lambda: pow(2, -1, 4), lambda: pow(2, 1, 0), lambda: (300).to_bytes(1, 'big'), lambda: (-1).to_bytes(1, 'big'), lambda: int(None), lambda: int('a', 37), lambda: 0 ** -1, lambda: int(1, 2), lambda: 1 & 1.0, lambda: ~1.5, lambda: divmod(1, 0), lambda: 5 % 0, lambda: 2 ** 'x'):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
# floats
print(0.1 + 0.2, 1 / 3, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 1.0, -0.0, 1e300 * 1e10, float('inf') - float('inf'), 5.0 // 2, -5.0 // 2, 5.5 % 2, -5.5 % 2, 5 % -3.0, 0.0 == -0.0, 1.5e3, .5, 5., 1_000.5, 2.0 ** 0.5, (-8.0) ** 2, 1e308 * 10, float('1e5'), float(' -2.5 '), float('infinity'), float('-nan'), float('1_0.5'), 3.7 // 1, 7.5.is_integer(), (7.0).is_integer(), (0.75).as_integer_ratio(), (1.5).hex(), (-0.1).hex(), float.fromhex('0x1.8p+1'), (0.0).hex(), float('nan') == float('nan'), float('inf') > 10 ** 400, 10 ** 400 > 1e308, 2 ** 53 + 1 == float(2 ** 53 + 1), 1 == 1.0, hash(1.0) == hash(1), hash(0.5), hash(float('inf')), hash(-1.5), 1e22, 1e23, 5e-324, 2.5e-8, 123456.7, 1234567890123456.7, 100000.0, 1e5, round(0.1 + 0.2, 10), round(1e300, 2), round(-0.4), int(1e20), 4.35 * 100, 1.1 + 2.2, 3 * 0.1, float(10 ** 22), 1.7976931348623157e308, 2.2250738585072014e-308)
print(divmod(7.5, 2), divmod(-7.5, 2), (1.5).__round__(), 1.0.__floor__(), 1.5.__ceil__(), (2.5).__trunc__(), 0.1.conjugate(), 1.5.real, float(True), float(2 ** 60), 1 < 1.5 < 2, 1 < 2 > 1 < 3, 3 > 2 >= 2 != 1, not 1 == 2, 1 if [] else 2, [] or 'x', 0 and 1 / 0, None is None, 1 and 2 or 3)
# ---
# lists, slices, unpacking
l = list(range(10))
print(l[2:5], l[-3:], l[:-7], l[::3], l[::-1], l[8:2:-2], l[100:], l[-100:2], l[5:2], l[slice(1, 4)], l[True])
l[2:4] = ['a', 'b', 'c']; print(l); l[::2] = [0] * len(l[::2]); print(l); del l[1:3]; print(l); l[1:1] = [9, 9]; print(l); l[:] = []; print(l)
l = [3, 1, 2]; l.sort(); l.sort(reverse=True); l.sort(key=lambda x: -x); l.insert(-1, 7); l.insert(100, 8); l.extend('ab'); l += (1,); l *= 2; print(l, l.count(1), l.index(7), l.index(1, 4)); l.remove(7); l.reverse(); print(l, l.pop(), l.pop(0), l.copy() == l, [1, 2] + [3], [1] * 3, [[0]] * 2, 3 in [1, 2], [1, 2] < [1, 3], [1] == [1.0], [1, [2]] == [1, [2]], list('ab'), [*'ab', *[1]], sorted([3, 1], reverse=True), list(reversed([1, 2])), max([1, 5], [2]), any([0, 1]), all([]), sum([], 5))
for bad in (lambda: [1, 2, 3][::2].__setitem__(slice(None, None, 2), [1]), lambda: [].remove(1), lambda: [1].pop(5), lambda: [1]['a'], lambda: [1, 'a'].sort(), lambda: [1] + (2,), lambda: [1] * 1.5, lambda: [1, 2].index(3)):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
a, *b = [1, 2, 3]; print(a, b); *a, b = 'xyz'; print(a, b); a, (b, *c), d = 1, (2, 3, 4), 5; print(a, b, c, d); a, b = b, a; [x, y] = (1, 2); (p,) = [7]; print(a, b, x, y, p); h, *_, t = range(5); print(h, t, _)
for bad in ('a, b = [1]', 'a, b = 1, 2, 3', 'a, *b, c = [1]', 'a, b = 5', '*a, = 5'):
    try: exec(bad)
    except Exception as e: print(type(e).__name__, e)
def f(*a, **k): return a, k
print(f(*[1, 2], 3, *(4,), **{'a': 1}, b=2, **{'c': 3}), [*range(3), *'ab'], {**{'a': 1}, 'b': 2, **{'a': 3}}, {*[1, 2], 3} == {1, 2, 3}, (*[1], 2))
for bad in (lambda: f(**{'a': 1}, a=2), lambda: f(*5), lambda: f(**5), lambda: f(**{1: 2})):
    try: print(bad())
    except Exception as e: print(type(e).__name__)
x = [1, 2, 3]; x[0], x[1] = x[1], x[0]; print(x); i = 0; i, x[i] = 1, 'z'; print(x); a = b = []; a.append(1); print(b); x = y = z = 0; x += 1; print(x, y)
print((1,), (), (1, 2)[0], (1, 2) + (3,), (1,) * 2, (1, 2).index(2), (1, 1).count(1), tuple('ab'), (1, 2) < (1, 2, 3), ((1, 2), 3), hash((1, 2)) == hash((1, 2)), 1 in (1,), len((1, 2)), tuple([1]), (1, 2)[::-1])
print(range(5), list(range(10, 0, -3)), range(0, 10, 2)[2], range(10)[2:5], len(range(0)), 4 in range(0, 10, 2), 5 in range(0, 10, 2), range(3) == range(0, 3, 1), range(5).index(3), range(5).count(9), list(reversed(range(3))), range(1, 10, 3).start, range(1, 10, 3).stop, range(1, 10, 3).step, hash(range(3)) == hash(range(3)), bool(range(0)), range(10)[-1], min(range(3, 6)), sum(range(101)), range(-5), list(range(5, 5)), range(0, -5, -2)[::-1])
# ---
# dicts and sets
d = {'a': 1, 'b': 2}; d['c'] = 3; d.update(d=4, a=9); d.update([('e', 5)]); d |= {'f': 6}; print(d, d | {'a': 0}, d.get('z'), d.get('z', 0), d.pop('a'), d.pop('zz', None), d.setdefault('g', 7), d.popitem(), list(d), list(d.items()), list(reversed(d)), 'b' in d, len(d), dict(a=1), dict([('x', 1)]), dict({'q': 1}, r=2), dict(zip('ab', [1, 2])), {k: v for k, v in d.items() if v > 3}, dict.fromkeys('ab'), dict.fromkeys([1], []), d == {'b': 2, 'c': 3, 'd': 4, 'e': 5, 'f': 6}, d.copy() is d)
k = d.keys(); print(k, d.values(), d.items(), k & {'b', 'z'}, sorted(k | {'z'}), sorted(k - {'b'}), k == {'b', 'c', 'd', 'e', 'f'}, ('b', 2) in d.items(), len(k), k.isdisjoint({'q'}), list(d.values())[0], {1: 'a', True: 'b', 1.0: 'c'}, {(1, 2): 3}[1, 2], {None: 1}[None], sorted({'b': 1, 'a': 2}), max(d, key=d.get), min(d.values()), {**d, 'n': 1}['n'], next(iter(d)), bool({}), {}.items())
del d['b']; print(d); d.clear(); print(d, {'a': {'b': [1]}}['a']['b'][0], {1, 2} == {2, 1}, {'x': 1}.__contains__('x'))
for bad in (lambda: {}['x'], lambda: {}.popitem(), lambda: {[]: 1}, lambda: dict([1]), lambda: dict(5), lambda: {1: 2}.pop(3), lambda: {} < {}, lambda: {}.update(5), lambda: [d for _ in ()].x):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
d = {1: 1}
try:
    for x in d: d[x + 1] = 1
except RuntimeError as e: print(e)
s = {3, 1, 2}; print(s, s | {4}, s & {1, 9}, s - {1}, s ^ {1, 7}, s <= {1, 2, 3, 4}, s < s, {1}.issubset(s), s.issuperset({1}), s.isdisjoint({8}), s.union([5], (6,)), s.intersection([1, 2], [2]), s.difference([1]), s.symmetric_difference([1, 8]), 1 in s, len(s), sorted(s), set(), set('aab') == {'a', 'b'}, frozenset([1, 2]), {frozenset([1]): 2}, frozenset([1]) | {2}, {1} | frozenset([2]), hash(frozenset([1, 2])) == hash(frozenset([2, 1])), {x % 3 for x in range(10)}, type({1} | frozenset()).__name__, min(s), sum(s))
s.add(4); s.discard(9); s.remove(1); s.update([7], [8]); s.intersection_update({2, 3, 7}); s.difference_update({3}); s.symmetric_difference_update({2, 10}); print(s, s.pop() in (7, 10), s.copy() == s); s |= {1}; s &= {1, 2}; s -= {2}; s ^= {5}; print(s); s.clear(); print(s)
for bad in (lambda: {1}.remove(2), lambda: {[]}, lambda: set(5), lambda: {1} + {2}, lambda: {1} | [2], lambda: frozenset().add(1), lambda: {1} < [1], lambda: hash(set())):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
# ---
# The order in which sets of integers are iterated is that of their hashes.
print({5, 3, 9, 1}, {100, 5, 33, 8}, set([10, 20, 30, 40, 50, 60]), set(range(20, 0, -1)), {64, 32, 16, 8, 4}, list({7, 15, 23, 31}), set([1000, 1, 500]), {-1, -2, 3}, {8, 0}, list(set([17, 9, 1])), {1.5, 2.5, 1}, set([2 ** 40, 1, 2 ** 33]), {True, 5, 0})
print(set([3, 1]) | {2, 40, 8}, {40, 8, 16} & {8, 16, 40, 1}, set(range(10)) - {3, 5}, {1, 2} ^ {2, 30, 11}, set([9, 8, 7]).union([100, 3]), frozenset([33, 1, 65]), {x * 7 % 50 for x in range(15)}, set(map(int, '9876543210')), list({i: 0 for i in {9, 1, 17}}), sorted({3, 1}), tuple({24, 16, 8, 0}))
s = set()
for i in (50, 3, 99, 12, 7, 8, 16, 24, 32, 1000, 5): s.add(i)
print(s); s.add(40); print(s, s.copy(), set(s), [x for x in s], s.pop()); s.update([64, 128, 7]); print(s, {1, 2, 3, 4, 5, 6, 70, 35}, set([70, 35, 1]))
print({(1, 2), (3, 4)} == {(3, 4), (1, 2)}, len({1, 1.0, True}), {0, -1}, {2 ** 61 - 1, 1}, {8, 1, 16, 9})
# ---
import math
class I(int): pass
print(type(I(3).real), type(I(3).conjugate()), type(I(3).numerator), type(I(3).__floor__()), I(3).as_integer_ratio())
print(math.log(3 ** 41), math.log2(2 ** 64 + 3 ** 39), math.log10(10 ** 400), math.degrees(1e308), math.hypot(1e16 / 3, 2e15 / 7), math.hypot(1, 2, 3), math.dist([1, 2], [4, 6.5]))
print(0 / (-3 ** 50), -(3 ** 41) / 10 ** 400)
for z in (complex(1e200, 1e200), 1e200j, complex(1e308, 1e-308), 1 + 2j):
    for n in (2, 3, -2, 2.5, 1 + 1j):
        try: print(z, n, z ** n if abs(z) < 9 else 'finite' if z ** n == z ** n else 'nan')
        except OverflowError as e: print(e)
for f in (int, float):
    for t in ('٣', '٣'.encode(), b'3'):
        try: print(f(t))
        except ValueError: print('ValueError')
print(complex('१.५'))

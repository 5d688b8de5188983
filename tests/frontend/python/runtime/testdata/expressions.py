# Arithmetic of int, float, bool.
for a in (7, -7, 0, 1, True):
    for b in (3, -3, 2, -1, False):
        for op in ('+', '-', '*', '//', '%', '/', '&', '|', '^', '<<', '>>', '**', '<', '<=', '==', '!='):
            try:
                r = {'+': lambda: a + b, '-': lambda: a - b, '*': lambda: a * b, '//': lambda: a // b, '%': lambda: a % b,
                     '/': lambda: a / b, '&': lambda: a & b, '|': lambda: a | b, '^': lambda: a ^ b, '<<': lambda: a << b,
                     '>>': lambda: a >> b, '**': lambda: a ** b, '<': lambda: a < b, '<=': lambda: a <= b, '==': lambda: a == b,
                     '!=': lambda: a != b}[op]()
                print(a, op, b, '=', repr(r))
            except Exception as e:
                print(a, op, b, type(e).__name__, e)
# ---
for x in (7.5, -7.5, 0.0, -0.0, 1e300, float('inf'), float('nan')):
    for y in (2.0, -2.0, 0.5, 1e-5, float('-inf')):
        for f in (lambda: x + y, lambda: x - y, lambda: x * y, lambda: x / y, lambda: x // y, lambda: x % y, lambda: x ** y, lambda: divmod(x, y)):
            try:
                print(repr(f()), end=' ')
            except Exception as e:
                print(type(e).__name__, e, end=' ')
        print(x < y, x == y)
# ---
# Big integers.
a = 123456789012345678901234567890
b = -98765432109876543210
print(a + b, a - b, a * b, a // b, a % b, b // a, b % a, divmod(a, b), divmod(b, a))
print(a / b, b / a, a / 3, 10 ** 400 // 10 ** 398, (10 ** 400) / (10 ** 399))
print(a << 70, a >> 10, b >> 3, b >> 200, a & b, a | b, a ^ b, ~a, -a, +a, abs(b))
print(2 ** 64, 2 ** 63, -2 ** 63, 2 ** 63 - 1, -2 ** 63 - 1, (2 ** 63 - 1) + 1, -(-2 ** 63), (-2 ** 63) // -1, 3037000500 ** 2)
print(a == float(a), a < 1e30, a > 1e29, 2 ** 53 == 2.0 ** 53, 2 ** 53 + 1 == 2.0 ** 53, 2 ** 53 + 1 > 2.0 ** 53)
print(hash(2 ** 61 - 1), hash(2 ** 61), hash(-2 ** 61), hash(1.5), hash(2.0 ** 70) == hash(2 ** 70), hash(a) == hash(a + 0), hash(True))
print(int('1' * 50), int('-0b101', 0), int('ff', 16), int('  12_000 '), int('z', 36), hex(a), bin(-5), oct(64), f'{a:x} {a:,} {a:_b}')
print(pow(3, 200, 1000007), pow(3, -1, 7), pow(-3, 3, 7), a.bit_length(), (255).to_bytes(2, 'big'), (10).bit_count())
print(float(a), float(2 ** 1023), int(1e20), int(-1.9), round(12345678901234567890, -5), round(15, -1), round(25, -1), round(-15, -1))
try:
    float(10 ** 400)
except OverflowError as e:
    print(e)
# ---
for v in (0.1, 0.2 + 0.1, 1e16, 1e15, 123456789.123456789, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308, 100.0, 1e22, 1e23, -0.0, 2.5, 1 / 3):
    print(v, repr(v), str(v), f'{v}', f'{v:.3f}', f'{v:e}', f'{v:g}', f'{v:.10g}', f'{v:10.2f}|', f'{v:<10.2f}|', f'{v:+.1f}', '%s %r %f %.2e %g' % (v, v, v, v, v))
print([round(x, 2) for x in (2.675, 1.005, 2.5, -2.5, 1e300, 0.125)], [round(x) for x in (0.5, 1.5, 2.5, -0.5, -1.5, 2.4999)], round(1234.5678, -2))
print((2.0).is_integer(), (2.5).is_integer(), (0.75).as_integer_ratio(), float('1e3'), float('  -inf '), float('1_0.5'), 3 .real, (2.5).conjugate())
print(1_000, 0xff, 0o17, 0b101, 1e3, 1j * 1j, (1 + 2j) * (3 - 1j), abs(3 + 4j), (1 + 2j).conjugate(), 2j ** 2, complex(1, -0.0), 1 + 0j == 1)
# ---
print(1 < 2 < 3, 1 < 3 < 2, 3 > 2 > 1 > 0, 1 == 1.0 == True, None is None, not [], not [0], [] or 'x', 0 or None or 5, 1 and 2 and 3, 1 and 0 and 2)
print(5 if [] else 6, (lambda x, y=2, *a, **k: (x, y, a, k))(1, 3, 4, z=5), [*range(3), *'ab'], (*[1], 2), {*[1, 2], 3} == {1, 2, 3}, {**{'a': 1}, 'b': 2})
print(1 in [1, 2], 'b' in 'abc', 'bc' in 'abc', 3 not in {1: 2}, (1, 2) in [(1, 2)], 2 in range(0, 10, 2), 3 in range(0, 10, 2), None in [None])
def t(x):
    print('t', x)
    return x
print(t(1) < t(2) < t(0) < t(5), t(0) and t(1), t(1) or t(2))
print([t(i) for i in range(2)], {t('k'): t('v')}, t(1) + t(2) * t(3))
x = [1, 2, 3, 4, 5]
print(x[1:3], x[::-1], x[-2:], x[:-1], x[::2], x[10:], x[-10:2], x[3:1], x[4:0:-2], x[slice(1, None, 2)])
x[1:3] = ['a', 'b', 'c']; print(x)
x[::2] = [0, 0, 0]; print(x)
del x[0], x[1:3]; print(x)
x[len(x):] = [9, 8]; x[:0] = [7]; print(x)
try:
    x[::2] = [1]
except ValueError as e:
    print(e)
print('hello'[1], 'hello'[-1], 'hello'[::-1], 'hello'[1:10], 'häß€😀'[2:], len('häß€😀'), 'häß€😀'[-1], 'häß€😀'[::-2], (1, 2, 3)[1:], b'abc'[0], b'abc'[1:])
if (n := len('abc')) > 2:
    print(n, [m := i * 2 for i in range(3)], m)
a, *b, c = 1, 2, 3, 4; print(a, b, c)
(a, b), [c, *d] = (1, 2), 'xyz'; print(a, b, c, d)
a = b = c = []; a.append(1); print(b is c, c)
for i, (p, q) in enumerate([(1, 2), (3, 4)], start=10): print(i, p, q)
x = 5; x += 3; x -= 1; x *= 2; x //= 3; x **= 2; x %= 7; x <<= 3; x |= 1; x ^= 3; x &= 0xff; x >>= 1; print(x)
d = {'a': [1]}; d['a'] += [2]; d['a'] *= 2; print(d)
# ---
def check(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
check(lambda: 1 + 'a')
check(lambda: 'a' + 1)
check(lambda: [1] + (2,))
check(lambda: 'a' * 1.5)
check(lambda: {} | 1)
check(lambda: -'a')
check(lambda: ~1.5)
check(lambda: 'a' < 1)
check(lambda: [] < ())
check(lambda: None + 1)
check(lambda: 1 @ 2)
check(lambda: 1())
check(lambda: 'x'.y)
check(lambda: [][0])
check(lambda: ()[1])
check(lambda: ''[0])
check(lambda: {}['k'])
check(lambda: [1]['a'])
check(lambda: 'a'['b'])
check(lambda: len(5))
check(lambda: int('x'))
check(lambda: int([]))
check(lambda: float('x'))
check(lambda: 1 in 5)
check(lambda: iter(5))
check(lambda: next([]))
check(lambda: (1).x)
check(lambda: undefined_name)
check(lambda: abs('a'))
check(lambda: sum(['a']))
check(lambda: max([]))
check(lambda: min())
check(lambda: chr(-1))
check(lambda: ord('ab'))
check(lambda: round('a'))
check(lambda: range(1.5))
check(lambda: isinstance(1, 5))
check(lambda: sorted([1, 'a']))
check(lambda: [1, 2].index(3))
check(lambda: (1,).index(3))
check(lambda: 'a'.index('b'))
check(lambda: {1: 2}.pop(3))
check(lambda: set().pop())
check(lambda: [].pop())
check(lambda: dict([1]))
check(lambda: dict([(1, 2, 3)]))
check(lambda: {[]: 1})
check(lambda: {{}})
check(lambda: hash([]))
check(lambda: 1 // 0)
check(lambda: 1 % 0)
check(lambda: 1.0 // 0)
check(lambda: 1 / 0)
check(lambda: 0 ** -1)
check(lambda: 1 << -1)
check(lambda: 2.0 ** 10000)
check(lambda: '%d' % 'a')
check(lambda: '%s %s' % 1)
check(lambda: '%s' % (1, 2))
check(lambda: '{}'.format())
check(lambda: '{a}'.format())
check(lambda: f'{1:s}')
check(lambda: f'{"a":d}')
check(lambda: int('9', 8))
check(lambda: pow(2, 3, 0))
check(lambda: [].remove(1))
check(lambda: divmod(1, 0))
check(lambda: zip(1))
check(lambda: map(1))
check(lambda: type(1, 2))
check(lambda: object(1))
check(lambda: range(1, 2, 0))
check(lambda: bytes([300]))
check(lambda: 'a'.join([1]))
check(lambda: (lambda: 1)(2))
check(lambda: (lambda x: 1)())
check(lambda: (lambda x, y: 1)())
check(lambda: (lambda *, k: 1)())
check(lambda: (lambda x: 1)(1, x=2))
check(lambda: (lambda x: 1)(y=2))
check(lambda: (lambda x, /: 1)(x=2))
check(lambda: (lambda x, y=1: 1)(1, 2, 3))
check(lambda: len())
check(lambda: len(1, 2))
check(lambda: getattr(1, 'x'))

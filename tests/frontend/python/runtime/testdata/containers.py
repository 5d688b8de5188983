# Lists and tuples.
l = [3, 1, 2]
print(sorted(l), l.sort(), l, l.reverse(), l, l.index(2), l.count(1), l.insert(1, 'x'), l, l.pop(1), l.pop(), l, l.extend((7, 8)), l, l.copy() is l, l.clear(), l)
print(sorted('hello', reverse=True), sorted([(1, 'b'), (1, 'a'), (0, 'z')]), sorted(['bb', 'a', 'ccc'], key=len, reverse=True), sorted([3, -1, 2], key=abs), list(reversed([1, 2, 3])), [1, 2] * 2, [1] + [2], [1, 2] == [1, 2], [1, 2] < [1, 3], [1] < [1, 2], (1, 'a') < (1, 'b'))
print((1, 2, 3).index(2), (1, 1).count(1), (1,) * 3, tuple('ab'), tuple([1, (2,)]), (), (1,), len(()), (1, 2)[-1], 5 in (1, 5))
l = [1, 2, 3, 4]; l.remove(3); print(l, [0] * 3, [[0] * 2 for _ in range(2)], list(range(10, 0, -3)), list(range(0)), range(5)[2], range(5)[1:3], len(range(1, 10, 3)), range(3) == range(0, 3), range(5).index(3), repr(range(1, 5)), list(range(5))[::-2])
a = [1, 2]; a.append(a); print(a); b = {}; b['self'] = b; print(b)
x = [1, 2, 3]
for v in x:
    if v < 3: x.append(v + 10)
print(x)
print(min([3, 1, 2]), max(3, 9, 2), min('b', 'a'), max([], default='d'), sum([1.5, 2]), sum([[1], [2]], []), any([0, '', 3]), all([1, 'a']), max(['aa', 'b'], key=len), min((5, 'x'), (5, 'a')))
print(list(zip([1, 2], 'ab', (True, False))), list(zip()), list(zip(*[(1, 2), (3, 4)])), dict(zip('ab', [1, 2])), list(enumerate('ab', 1)), list(map(str, [1, 2])), [*map(lambda x: x * 2, (1, 2))])
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as e:
    print(e)
print([1, 2, 3].__len__(), [].__class__, [5].__contains__(5), list.__name__, [1, 2].__eq__([1, 2]), (1).__add__(2), 'a'.__add__('b'), (5).__str__(), [3].__iter__().__next__())
# ---
d = {'a': 1, 'b': 2}
print(d, len(d), d['a'], d.get('z'), d.get('z', 0), 'a' in d, list(d), list(d.keys()), list(d.values()), list(d.items()), d.setdefault('c', 3), d.setdefault('a', 9), d.pop('a'), d.pop('q', None), d, d.popitem(), d)
d.update({'x': 1}, y=2); d.update([('z', 3)]); print(d, {**d, 'x': 9}, d | {'n': 1}, dict(a=1, **{'b': 2}), dict([(1, 2)]), dict.fromkeys('ab', 0), {1: 'a', 1.0: 'b', True: 'c'}, d == dict(d), d != {})
d |= {'w': 5}; del d['x']; print(d, d.keys() & {'y', 'q'}, sorted(d.keys() - {'y'}), sorted(d.keys() | {'e'}), ('y', 2) in d.items(), list(reversed(d)), d.copy() is not d)
d.clear(); print(d, bool(d), {(1, 2): 'tuple', frozenset([1]): 'fs', None: 'none', 1.5: 'f'})
try:
    for k in (e := {1: 1, 2: 2}):
        e[k + 10] = 1
except RuntimeError as ex:
    print(ex)
big = {i: i * i for i in range(1000)}; [big.pop(i) for i in range(0, 1000, 2)]; print(len(big), list(big)[:3], sum(big.values()))
n = {'a': {'b': [1, 2]}}; n['a']['b'][0] += 5; n['a']['c'] = n; print(n['a']['b'], n['a']['c']['a']['b'])
print(str({'k': 'v', 1: [None, True]}), repr({'q': "it's"}), {}.__repr__(), {'a': 1}.items(), {'a': 1}.keys(), {'a': 1}.values())
# ---
s = {3, 1, 2}
print(sorted(s), len(s), 2 in s, s == {1, 2, 3}, sorted(s | {4}), s & {1, 9}, sorted(s - {1}), sorted(s ^ {1, 9}), s <= {1, 2, 3, 4}, s < s, s >= {1}, s.isdisjoint({7}), set() == set([]), sorted(set('hello')))
s.add(5); s.discard(99); s.remove(1); s.update([7, 8], (9,)); print(sorted(s), s.issubset(range(10)), s.issuperset([5]), s.union([100]) - s, s.intersection([5, 7], [5]), s.difference([5]) == s - {5}, {1, 2}.symmetric_difference([2, 3]))
f = frozenset([1, 2]); print(f, f | {3}, hash(f) == hash(frozenset([2, 1])), f == {1, 2}, {f: 1}[frozenset([2, 1])], type(f | {3}).__name__, type({3} | f).__name__)
s = {1, 2, 3}; s &= {2, 3}; s |= {9}; s -= {2}; s ^= {1}; print(sorted(s), s.copy() == s); s.clear(); print(s, len(s), set([1, 1, 1]), {x % 2 for x in range(5)}, repr(frozenset()))
try:
    s.remove(5)
except KeyError as e:
    print('KeyError', e)
# ---
s = 'Hello, World'
print(s.lower(), s.upper(), s.title(), s.swapcase(), 'hello world'.capitalize(), s.replace('l', 'L'), s.replace('l', 'L', 1), s.find('o'), s.rfind('o'), s.find('z'), s.index('W'), s.count('l'), s.startswith('Hell'), s.endswith(('x', 'ld')), s.split(', '), s.split(), s.partition(', '), s.rpartition('o'), 'a,b,,c'.split(','), 'a b  c'.split(), 'a b c d'.split(' ', 2), 'a b c d'.rsplit(' ', 1), ''.split(), ''.split(','))
print('  x '.strip(), 'xxaxx'.strip('x'), 'abc'.lstrip('ab'), 'abc'.rstrip('c'), '-'.join(['a', 'b']), 'abc'.center(9, '*'), 'abc'.ljust(5) + '|', 'abc'.rjust(5), '42'.zfill(5), '-42'.zfill(5), 'a\tb'.expandtabs(4), 'line1\nline2\r\nline3'.splitlines(), 'ab'.isalpha(), 'a1'.isalnum(), '12'.isdigit(), ' '.isspace(), 'Ab'.isupper(), 'ab'.islower(), 'x_1'.isidentifier(), 'prefix_x'.removeprefix('prefix_'), 'x.py'.removesuffix('.py'), 'abc' * 2, 'a' < 'b', 'Z' < 'a', 'é'.encode(), b'\xc3\xa9'.decode(), 'abc'.translate(str.maketrans('ab', 'xy')), 'ß'.upper() if False else 'x', 'one two'.title())
print('%s %d %5.2f %x %o %e %r %% %c %-5s| %+d %05d %i' % ('s', 42, 3.14159, 255, 8, 12345.678, 'r', 'c', 'l', 5, 42, 7), '%(a)s-%(b)d' % {'a': 1, 'b': 2}, '%s' % None, '%s' % [1], '%5s|%-5s|' % ('a', 'b'), '%.3s' % 'abcdef', '%*d' % (5, 42))
print('{} {}'.format(1, 2), '{1} {0}'.format('a', 'b'), '{a} {b[0]} {c.real}'.format(a=1, b=[2], c=3), '{:>10}|{:<10}|{:^10}|{:*^10}'.format('r', 'l', 'c', 's'), '{:d} {:x} {:#x} {:b} {:o} {:,} {:+d} {:05d} {:e} {:.2f} {:.1%} {:g}'.format(42, 255, 255, 5, 8, 1234567, 5, 42, 12345.678, 3.14159, 0.256, 0.0001), '{{}} {!r} {!s}'.format('q', 'q'), '{:{}}|'.format('x', 5), '{:.{p}f}'.format(1.23456, p=2))
w = 10; v = 3.14159; print(f'{v:.2f} {v:{w}.3f} {w!r:>5} {"nested"} {w + 1} {[1, 2][0]} {v=:.1f} {w=} {{braces}} {"a" if w else "b"} {w:>{w}} {1_000:,} {True} {None}')
print(repr('it\'s'), repr("q\"'"), repr('a\nb\t\\'), repr('\x00\x7fé€😀'), ascii('é€😀'), str(b'a\x00'), 'a' 'b', r'\n', '\u00e9\N{BULLET}', """multi
line""", 'abc'[1:2], chr(8364), ord('€'), 'a,b'.split(',', maxsplit=1), 'x'.join('abc'), max('hello'), sorted('bca'), 'a' in 'abc', 'tEST'.casefold())
print('%s' % (1,), '%s %s' % ('a', (1, 2)), '{0[a]}'.format({'a': 5}), format(3.14159, '.2f'), format(42, '08b'), format('x', '>3'), f'{-7:=+5}', f'{255:#010x}', f'{1e10:.3g}', f'{12345.6789:,.2f}', f'{0.1 + 0.2:.17g}', f'{1234:n}' if False else '', f'{"é":>3}', f'{-0.0:z.1f}', f'{3:c}' if False else '', f'{65:c}')
print(int('0x1f', 16), int('-12'), float('3.5e2'), str(1.0), bool(''), bool('0'), list('abc'), tuple('ab'), int(True), int(3.9), complex('1') if False else 1, str(None), str([1, 'a']), bytes('é', 'utf-8'), bytes([65, 66]), b'a' + b'b', b'abc'[1:], list(b'ab'), b'x' * 2, b'ab'.hex())
# ---
# Sets of tuples of numbers are in the order of CPython's hashes.
print({(a, a % 7) for a in range(0, 90, 7)}, {(1, (2, 3)), (2.5, -1), ()}, {frozenset([a, a % 5]) for a in range(9)})
print(hash((1, -1, 2 ** 70)), hash(frozenset([1, -1, 9])), hash(()), hash(range(5, 9)))
s = {(1, 2), (3, 4)}; s.remove((1, 2)); s.add((5, 6)); print(s)
# ---
# Where < is no order, or fails, the comparisons decide.
print(sorted([{1}, {2}, {1, 2}, set(), {3}, {2, 3}]), sorted([3.0, float('nan'), 1.0, 2.0, float('nan'), 0.0]))
l = [3, 1, 'x', 2, 0]
try: l.sort()
except TypeError: print(l)
l = [3, 1, 2]; l.sort(key=lambda v: (len(l), v)); print(l)
try: l.sort(key=lambda v: l.append(v) or v)
except ValueError as e: print(e, l)
class L(list): pass
class D(dict): pass
class S(set): pass
a, b, c = L([1]), D(a=1), S([1])
x, y, z = a, b, c
a *= 2; b |= {'b': 2}; c |= {2}; print(a is x, b is y, c is z, a, b, c, [1].__imul__(2), {1}.__ixor__({2}), {}.__ior__({1: 2}))
d = {'a': [1], 'b': 2}
print(d.items() >= {('b', 2)}, {('b', 2)} <= d.items(), d.keys() == {'a', 'b'}, d.keys() < {'a', 'b', 'c'}, d.items() == d.items(), d.keys() != {'a'})
for v in (d.keys(), d.items(), d.values()):
    try: print(hash(v) == hash(v))
    except TypeError as e: print(e)
# ---
# A class that iterates in its own way is asked for its items.
class D(dict):
    def __getitem__(self, k): return 'item', k
class I(D):
    def __iter__(self): return iter('it')
class K(dict):
    def keys(self): return ['z']
for c in (D, I, K):
    d = c(a=1)
    print(dict(d), {**d}, (lambda **k: k)(**d), {} | d, list(d))
    e = {}; e.update(d); print(e)
import math
for v in ([1e308, 1e308, -1e308], [math.inf, -math.inf], [math.inf, 1.0], [math.nan, math.inf]):
    try: print(math.fsum(v))
    except Exception as e: print(type(e).__name__, e)
# --- searching in a part of bytes
b = b"abcabc\0abc"
for start, end in ((None, None), (1, None), (1, 5), (-3, None), (4, 2), (99, None), (10, None), (11, None), (0, -4), (True, 5)):
    print(b.find(b"abc", start, end), b.rfind(b"abc", start, end), b.count(b"b", start, end), b.find(98, start, end), b.find(b"", start, end), b.rfind(b"", start, end), b.count(b"", start, end))
print(b.index(b"c", 3), b.rindex(b"c", 0, 5), bytearray(b).find(b"c", 3), b[2:5], b[5:2], b[::-1], b[1:8:3], b[:])
for action in (lambda: b.index(b"c", 3, 4), lambda: b.find(b"a", "x"), lambda: b.find("a", 1), lambda: b.rindex(b"q", 1), lambda: b.find(b"a", 1, 2, 3)):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__)

# str methods
s = 'Hello, World'
for name, args in [('capitalize', ()), ('casefold', ()), ('center', (20, '*')), ('count', ('l', 3)), ('encode', ()), ('endswith', (('d', 'x'),)), ('expandtabs', (4,)), ('find', ('o', 5)), ('index', ('W',)), ('isalnum', ()), ('isalpha', ()), ('isascii', ()), ('isdecimal', ()), ('isdigit', ()), ('isidentifier', ()), ('islower', ()), ('isnumeric', ()), ('isprintable', ()), ('isspace', ()), ('istitle', ()), ('isupper', ()), ('join', (['a', 'b'],)), ('ljust', (15, '.')), ('lower', ()), ('lstrip', ('He',)), ('partition', (', ',)), ('removeprefix', ('Hel',)), ('removesuffix', ('ld',)), ('replace', ('l', 'L', 2)), ('rfind', ('o',)), ('rindex', ('o',)), ('rjust', (15,)), ('rpartition', ('o',)), ('rsplit', ('o', 1)), ('rstrip', ('dl',)), ('split', ()), ('split', (',',)), ('split', (None, 1)), ('splitlines', ()), ('startswith', ('ello', 1)), ('strip', ('Hd',)), ('swapcase', ()), ('title', ()), ('translate', ({72: 'J', 108: None, 111: 48},)), ('upper', ()), ('zfill', (15,))]:
    print(name, repr(getattr(s, name)(*args)))
print(str.maketrans('ab', 'xy', 'c'), 'abcab'.translate(str.maketrans('ab', 'xy', 'c')), str.maketrans({'a': 1}), '  a b  c '.split(), 'a,b,,c'.split(','), ''.split(), ''.split(','), ' a b '.split(' '), 'a\nb\r\nc\x0bd'.splitlines(), 'a\nb\n'.splitlines(True), '1\t22\t3'.expandtabs(), 'x'.zfill(4), '-5'.zfill(4), '+5'.zfill(5), ''.zfill(2))
print('ß'.upper(), 'ŉ'.title(), 'ǅ'.lower(), 'İ'.lower(), 'ΑΣ'.lower(), 'ﬁ'.upper(), 'STRASSE'.casefold(), 'ß'.casefold(), "they're bill's".title(), 'ñ'.isalpha(), '²'.isdigit(), '½'.isnumeric(), '٣'.isdecimal(), int('٣'), '\u3000'.isspace(), 'é'.isidentifier(), '1a'.isidentifier(), ''.isascii())
print('abc' < 'abd', 'a' * 3, 'ab' in 'cab', '' in '', 'abc'[::-1], 'héllo'[1], 'héllo'[-4:-1], '日本語'[1:], len('日本語'), 'a' 'b', '日本'.encode(), '日本'.encode('utf-16-le'), 'é'.encode('latin-1'), b'\xe9'.decode('latin-1'), 'a\u0301', ascii('é日😀'), repr('é\n\t\x00\x7f\u200b😀\'"'), repr("it's"), repr('a"b'), '\x41\u0042\U00000043\N{DIGIT ONE}\101', r'\n', 'a\
b')
print(*(f"{'a,b'.rsplit(',', 1)}", 'abcabc'.rfind('c', 0, 4), 'aXbXc'.split('X', maxsplit=1), 'abc'.find(''), 'abc'.rfind(''), 'abc'.count(''), 'a'.join('xyz'), 'abc'.replace('', '-'), 'x'.center(4), 'xy'.center(5, '*'), 'abc'.startswith(''), 'abc'.startswith(('x', 'a')), 'abc'.endswith('c', 0, 2)), sep='|')
for bad in (lambda: ''.join([1]), lambda: 'a'.center(5, 'xx'), lambda: 'a'.split(''), lambda: 'a'.index('b'), lambda: 'a' + b'b', lambda: 'a'.encode('nope'), lambda: 'a'.startswith(1), lambda: '日'.encode('ascii'), lambda: str(b'\xff', 'utf-8'), lambda: 'abc'[10], lambda: 'abc'['x']):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
print('é'.encode('ascii', 'ignore'), 'é'.encode('ascii', 'replace'), 'é'.encode('ascii', 'xmlcharrefreplace'), 'é'.encode('ascii', 'backslashreplace'), b'a\xffb'.decode('utf-8', 'replace'), b'a\xffb'.decode('utf-8', 'ignore'), b'a\xff'.decode('ascii', 'backslashreplace') , str(b'abc', 'ascii'), str(b'abc'), str(object=5), str())
# ---
# format specifications
for v in (0, 5, -42, 123456789, 10 ** 25, True):
    print([format(v, f) for f in ('', 'd', '5', '<8', '>8', '^8', '=+8', '08', '+', ' ', ',', '_', 'x', '#x', 'X', '#X', 'o', '#o', 'b', '#b', '#010b', '_b', '_x', 'e', '.2f', '.3g', '%', '.1%', '*^12,', 'n', 'c' if 0 < v < 1000 and v is not True else 'd', '012,', 'G', '#o')])
for v in (0.0, -0.0, 1.0, 3.14159, -2.5, 1e10, 1e16, 1e-5, 123456.789, 1e100, 2 / 3, 1e-10, 0.1 + 0.2, 1e22, 5e-324, 1.7976931348623157e308, float('inf'), float('nan'), -float('inf'), 100.0, 12345678.0):
    print(v, [format(v, f) for f in ('', '.2f', '.0f', '10.3f', '<10.2e', '+.1e', 'g', '.3g', 'G', '.10g', '#.3g', '%', '.1%', ',', ',.2f', '_.1f', '08.2f', '+', ' ', 'e', 'E', 'n', '.0e', '#.0f', 'z.1f', '.15', '.3', '012', '=+12.2f', '^12')])
for v in ('', 'abc', '日本'):
    print([format(v, f) for f in ('', 's', '10', '<10', '>10', '^10', '*^9', '.2', '6.1', '05')])
for v, f in ((5, 's'), (5.0, 'd'), ('a', 'd'), (5, '.2d'), ('a', '+'), ('a', '='), (5, 'Q'), ([], '5'), (5, ',x'), (None, 'd'), ('a', ','), (1j, 'd'), (5, '.'), (300000000, 'c'), (0x10ffff, '3c'), (0x110000, 'c'), ('a', '=05'), ('a', '05'), ({}, 's'), (5, '5 '), (5.0, 'x')):
    try: print(repr(format(v, f)))
    except Exception as e: print(type(e).__name__, e)
print(format(1 + 2j), format(1 + 2j, '.1f'), format(1.5 + 2j, '>12'), format(True), format(True, 'd'), format(True, '5'), format(None), format([1]), format(65, 'c'))
# ---
# str.format, f-strings, % formatting
class A:
    x = [1, {'k': 'v'}]
    def __format__(self, spec): return 'A<' + spec + '>'
    def __str__(self): return 'strA'
    def __repr__(self): return 'reprA'
a = A()
print('{} {0}'.format(1) if False else '{0} {1} {0}'.format('a', 'b'), '{a} {b!r} {c:>5}'.format(a=1, b='x', c='y'), '{0.x[0]} {0.x[1][k]} {d[key]}'.format(a, d={'key': 3}), '{:{w}.{p}f}'.format(3.14159, w=8, p=2), '{{}} {{{}}}'.format(1), '{!s} {!r} {!a}'.format('é', 'é', 'é'), '{:spec}|{!s:>6}|{!r}'.format(a, a, a), '{:,}'.format(1234567), '{:%}'.format(.5), '{[0]}'.format([9]), '{0[a]}'.format({'a': 1}), '{:>{}}'.format('x', 5), '{x}'.format_map({'x': 1}))
for bad in ('{', '}', '{0}{}', '{!x}', '{0', '{a.b}', '{0.nope}', '{0[zz]}', '{1}', '{:{:{}}}'):
    try: print(bad.format(1, a=2) if bad != '{:{:{}}}' else bad.format(1, 2, 3))
    except Exception as e: print(type(e).__name__, e)
w, p, v, name = 10, 3, 3.14159, 'bob'
print(f'{v:{w}.{p}f}|{v!r:>12}|{name!s:^7}|{name!a}|{{}}|{v=}|{v = }|{name=!s}|{v=:.2f}|{1 + 1=}|{"a" "b"}|{[x for x in range(3)]}|{ {"k": 1}["k"] }|{(lambda q: q * 2)(4)}|{name:{"<"}{w}}|{f"{name}!"}|{v:.{p}}|{name!r:>{w}}')
print(f"{'nested ' + f'{v:.1f}'}" f' {name}' ' plain', F'{1}', rf'\d{1}', fr'{name}\n', f'''{
    name
}''', f'{name[0]}{name.upper()}{name[::-1]}', f'{1:{"d"}}', f'{a}', f'{a:zz}', f'{a!s}', f'{a!r:>8}', f'{None}', f'{...}', f'{1,}', f'{*[1, 2],}', f'{True and "y"}', f'{v if v > 3 else 0:.1f}', f'{3.0}{1e3}', f'{10:#x} {10:08b} {-5:+d} {1e6:,.1f}', f'{"x":*^5}', sep='|')
print('%s %r %d %i %u %f %.2f %e %g %G %x %X %o %c %c %% %5d|%-5d|%05d|%+d|% d|%#x|%#o|%5s|%-5s|%.2s|%*d|%-*d|%.*f|%a' % ('s', 'r', 1, 2, 3, 1.5, 2.345, 12345.678, 1e-5, 1e20, 255, 255, 8, 'c', 65, 42, 42, 42, 42, 42, 255, 8, 'ab', 'ab', 'abcdef', 5, 42, 5, 42, 2, 3.14159, 'é'))
print('%(a)s %(b)05.1f %(a)r' % {'a': 'x', 'b': 2.25}, '%s' % [1], '%s' % (1,), '%s' % ((1, 2),), '%s %s' % (1, (2,)), '%d' % 3.99, '%d' % True, '%s' % None, '%5.1f%%' % 99.5, '%x' % -255, '%.0f' % 2.5, '%.3s' % 'abcdef', '%i' % 10 ** 0, b'%d %s' % (1, b'x'))
for f, v in (('%d', 'a'), ('%d %d', (1,)), ('%d', (1, 2)), ('%z', 1), ('%(a)s', 1), ('%c', 'ab'), ('%x', 1.5), ('%', 1), ('%s', ()), ('a', 1), ('%(a)s', {}), ('%c', -1)):
    try: print(f % v)
    except Exception as e: print(type(e).__name__, e)
import string
print(string.Template('$a ${b} $$').substitute(a=1, b=2), string.Template('$a $z').safe_substitute(a=1), string.ascii_letters, string.digits, string.punctuation, string.hexdigits, string.whitespace.split(), string.capwords('ab cd'), list(string.Formatter().parse('a{b!r:c}d')), string.Formatter().format('{0} {x}', 1, x=2), string.printable[:5], string.octdigits)
try: string.Template('$z').substitute()
except KeyError as e: print('KeyError', e)
import textwrap
print(textwrap.dedent('  a\n    b\n'), textwrap.indent('a\nb', '> '), textwrap.fill('aaa bbb ccc ddd', 8), textwrap.shorten('hello big world', 10), textwrap.wrap('the quick brown fox', 10))
# ---
# bytes and bytearray
b = b'Hello\x00\xff'
print(b, b[0], b[1:3], list(b[:2]), len(b), b + b'x', b * 2, b'l' in b, 108 in b, b.find(b'l'), b.hex(), b.hex(' '), bytes.fromhex('48 65'), bytes(3), bytes([1, 2]), bytes('é', 'utf-8'), bytes(b'a'), b.upper(), b.split(b'l'), b'a,b'.split(b','), b' x '.strip(), b'ab'.replace(b'a', b'z'), b''.join([b'a', b'b']), b.startswith(b'H'), b.endswith((b'\xff',)), b == b'Hello\x00\xff', b < b'I', hash(b'a') == hash(b'a'), {b'k': 1}[b'k'], b'abc'[::-1], b.count(b'l'), b.index(b'o'), b'abc'.isalpha(), b'12'.isdigit(), b'a'.ljust(3, b'.'), b'a'.zfill(3), b'aXb'.partition(b'X'), b'abc'.translate(None, b'b'), int(b'12'), float(b'1.5'), b'%s' % b'q', b"it's", b'a"b\'', b'\n\t\\', ord(b'a'), bytes(range(5)), max(b'az'), sorted(b'ba'), b'a\nb'.splitlines(), b'ab'.center(6, b'*'), b'Ab'.swapcase(), b'a b'.title(), b'xax'.lstrip(b'x'), b'xax'.rstrip(b'x'), b'abab'.rfind(b'ab'), b'prefix'.removeprefix(b'pre'))
ba = bytearray(b'abc'); ba.append(100); ba[0] = 65; ba += b'ef'; ba.extend([1, 2]); print(ba, ba.pop(), ba[1:3], len(ba), bytes(ba), ba == b'Abcdef\x01', ba.decode('latin-1')); del ba[0]; ba.insert(0, 90); ba.remove(1); ba[1:3] = b'??'; print(ba, ba.find(b'?'), ba.upper(), isinstance(ba, bytes), bytearray(2), bytearray([1]), ba.hex(), 90 in ba, ba.replace(b'?', b'!'), list(ba), ba + b'x', b'x' + ba, ba * 2); ba.reverse(); print(ba); ba.clear(); print(ba, bool(ba), bytearray(b'a').copy())
for bad in (lambda: bytes([300]), lambda: b'a' + 'a', lambda: bytes('a'), lambda: bytearray(b'a').append(256), lambda: hash(bytearray()), lambda: b'abc'[5], lambda: bytes(-1), lambda: b'a'.find('a'), lambda: bytes.fromhex('4')):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
m = memoryview(b'abcd'); print(m[0], bytes(m[1:3]), len(m), m.tobytes(), list(m))
# ---
import re
print(re.match(r'(\w+) (\w+)', 'hello world').groups(), re.search(r'\d+', 'ab12cd').span(), re.findall(r'\b\w', 'hello big world'), re.findall(r'(a)(b)?', 'aab'), re.split(r'[,;]\s*', 'a, b;c'), re.split(r'(,)', 'a,b'), re.sub(r'(\w)(\d)', r'\2\1', 'a1 b2'), re.sub('a', lambda m: m.group().upper() + str(m.start()), 'banana'), re.subn('a', 'x', 'banana', count=2), re.fullmatch('a+', 'aaa') is not None, re.fullmatch('a+', 'aab'))
print(re.findall(r'(?<=a)b', 'ab cb'), re.findall(r'a(?=b)', 'ab ac'), re.findall(r'a(?!b)', 'ab ac'), re.findall(r'(?<!a)b', 'ab cb'), re.findall(r'(\w)\1', 'aabbcd'), re.findall(r'(?P<q>["\']).*?(?P=q)', '"a" \'b\''), re.sub(r'(?<!^)(?=[A-Z])', '_', 'CamelCaseName').lower(), re.sub(r'(?P<x>a)', r'<\g<x>>\g<0>', 'banana'), re.search(r'(?i)HELLO', 'say hello').group(), re.search('(?s)a.b', 'a\nb').group(), re.findall(r'(?m)^\w', 'a\nb'), re.search(r'''(?x) a  # comment
 b''', 'ab').group())
print(re.findall(r'a{2,3}', 'aaaa a aa'), re.findall(r'a{2,3}?', 'aaaa'), re.findall(r'a*?b', 'aab'), re.findall(r'[^abc\d]+', 'xaby1z'), re.findall(r'[\w.-]+@[\w-]+\.\w+', 'me@x.com, a.b@c-d.org'), re.findall(r'(?:ab)+', 'ababx'), re.findall(r'a|b|', 'abc'), re.findall(r'\$\d+\.\d\d', '$12.50'), re.findall('', 'ab'), re.findall(r'[]a]', ']a'), re.findall(r'[a\]]', ']a'), re.findall(r'[^]]', ']a'), re.findall(r'\Aab|cd\Z', 'abcd'), re.findall(r'x*', 'axb'), re.sub('x*', '-', 'abxd'), re.split('x*', 'axbc'), re.findall(r'(a+)+b', 'aaab'), re.findall(r'(?(1)a|b)', 'ab') if False else '')
m = re.match(r'(?P<first>\w+)(?: (?P<second>\w+))?', 'one'); print(m.groupdict(), m.group('first'), m['second'], m.groups('d'), m.span('second'), m.start(), m.end(1), m.lastindex, m.lastgroup, m.string, m.re.pattern, m.pos, m.endpos, bool(m), m.expand(r'\1-\g<first>'), m)
p = re.compile(r'(\d+)-(?P<n>\d+)', re.I | re.M); print(p.pattern, p.groups, p.groupindex, p.flags, p.search('a 1-2').group(0, 1, 'n'), p.findall('1-2 3-4'), [x.group() for x in p.finditer('1-2 3-4')], p.match('x1-2', 1).group(), p.sub(r'\2', '1-2'), p == re.compile(r'(\d+)-(?P<n>\d+)', re.I | re.M), p.search('1-2 3-4', 2).group(), p.fullmatch('1-2').span(), p.split('a1-2b'), p)
print(re.findall(r'-*?((?>-[abc]*)??|b){1,2}-*?', 'b\nc'), re.findall(r'(|a){2,3}', 'aab'), re.findall(r'(|a){2,3}?b', 'aab'), re.findall(r'(?:(|a)(|b))+', 'abc'), re.escape('a.b*c[d] e'), re.findall(r'(?i:A)b', 'ab AB aB'), re.search(r'(?:(a)|b)*', 'ab').groups(), re.match(r'(a)|b', 'b').groups(), re.findall(r'^\s*(\w+)\s*=\s*(.*?)\s*$', ' k = v \n', re.M), re.findall(r'é+', 'éé'), re.search('日本', 'x日本').span(), re.sub(r'\W+', ' ', 'a--b!!c'), re.match(r'\d{3}-\d{4}$', '555-1234\n') is not None, re.IGNORECASE, re.I | re.S, re.compile('a', re.X))
print(re.sub(r'layer(\d+)', lambda m: f'block.{int(m[1]) - 1}', 'layer1.layer2'), re.match(r'^blocks\.(\d+)\.(.*)', 'blocks.3.attn.qkv').groups(), re.findall(r'(\d+)x(\d+)', '3x224x224'), re.sub(r'\.(?P<k>weight|bias)$', r'_\g<k>', 'a.b.weight'), re.search(r'r(\d+)_k(\d)_s(\d\d?)', 'ir_r2_k3_s2_e6').groups() if re.search(r'r(\d+)_k(\d)_s(\d\d?)', 'ir_r2_k3_s2_e6') else None, re.split(r'(\d.*)', 'k3'), re.match(r'(?:(?:a|ab)(?:c|bcd))(d*)', 'abcd').group(), re.findall(r'(?>a+)b' if False else r'a++b' if False else r'a+b', 'aab'))
for bad in ('(', '[', '*a', 'a**', r'\1', '(?P<n>a)(?P<n>b)', '(?P=x)', 'a{3,1}', ')', '(?<=a+)b', r'\q', '[z-a]', '(?P<1>a)', '(?z)', 'a(?i)b', '(?<!a|bc)x' , '\\'):
    try: print(bad, re.compile(bad).pattern)
    except re.error as e: print(bad, 're.error', e)
try: re.match('a', 5)
except TypeError as e: print(e)
try: re.match('(a)', 'a').group(2)
except IndexError as e: print(e)
print(re.findall(rb'\d+', b'a12b3'), re.sub(b'a', b'b', b'aa'), re.match(rb'(\w)', b'x').group(1))
print(re.search(r'(?<=\d{2})x', '12x').span(), re.findall(r'\b(?!foo)\w+', 'foo bar foobaz'), re.search(r'(?P<a>x)(?(a)y|z)', 'xy').group(), re.findall(r'(?:x(?=(y)))', 'xy'), re.search(r'((a)|(b))+', 'ab').groups(), re.findall(r'\w+(?<!s)\b', 'cats dog'), re.search(r'a.*?c', 'abcabc').group(), re.search(r'[\s\S]+', 'a\nb').group(), re.findall(r'[\u4e00-\u9fff]', 'a日'), re.findall(r'\x41\u0042', 'AB'), re.findall(r'[\x41-\x43]', 'ABZ'), re.findall(r'\t', 'a\tb'), re.findall('a{,2}', 'aaa'), re.findall('a{x', 'a{x'), re.findall(r'x{2}', 'xxx'), re.search(r'(?a:\w)', 'é'), re.search(r'\w', 'é', re.A), re.findall(r'\D\S\W', '1a b!'))
print(re.template if False else re.Pattern.__name__, re.Match.__name__, isinstance(p, re.Pattern), isinstance(m, re.Match), re.purge(), type(re.compile('a')).__name__, hash(re.compile('a')) == hash(re.compile('a')))
# ---
for n in (97, -2, 256, 10 ** 30, 1.5):
    for f in (b'abca'.count, b'abca'.find, b'abca'.rindex, b'abca'.__contains__):
        try: print(f(n))
        except (TypeError, ValueError) as e: print(type(e).__name__)

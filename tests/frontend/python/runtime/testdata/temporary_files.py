# What a program writes below the folder for temporary files, it finds there.
import os, pathlib, tempfile, importlib.util, json
folder = tempfile.mkdtemp(prefix='conf-')
print(os.path.isdir(folder), os.listdir(folder), os.path.basename(folder).startswith('conf-'), os.path.dirname(folder) == tempfile.gettempdir())
path = os.path.join(folder, 'a', 'b.json')
for f in (lambda: open(path, 'w'), lambda: os.mkdir(os.path.dirname(path)), lambda: os.mkdir(os.path.dirname(path)), lambda: os.makedirs(os.path.dirname(path), exist_ok=True), lambda: open(path)):
    try: print(type(f()).__name__)
    except OSError as e: print(type(e).__name__, e.errno)
with open(path, 'w') as f: json.dump({'k': [1, 2]}, f); print(f.readable(), f.writable(), f.mode, f.name == path)
print(json.load(open(path)), os.path.getsize(path), os.path.exists(path), os.path.isfile(path), f.closed)
with open(path, 'a') as f: print(f.write('\n# é')); f.flush(); print(open(path, encoding='utf-8').read().splitlines()[1])
with open(path, 'rb+') as f: f.seek(0, 2); f.write(b'!'); f.seek(0); print(f.read(3))
print(os.path.getsize(path), pathlib.Path(path).read_bytes()[-2:])
try: open(path, 'x')
except FileExistsError as e: print(e.errno)
p = pathlib.Path(folder); (p / 'c').mkdir(); (p / 'c' / 'd').mkdir(parents=True); (p / 'c' / 'x.txt').write_text('one'); print((p / 'c' / 'x.txt').read_text(), sorted(q.name for q in p.iterdir()), sorted(q.name for q in p.rglob('*')))
(p / 'c' / 'x.txt').rename(p / 'y.txt'); print(sorted(os.listdir(folder)), (p / 'y.txt').read_text())
for f in (lambda: os.rmdir(folder), lambda: os.remove(folder + '/none'), lambda: (p / 'none').unlink(missing_ok=True), lambda: (p / 'y.txt').unlink(), lambda: open(folder)):
    try: print(f())
    except OSError as e: print(e.errno)
print(sorted((os.path.relpath(a, folder), sorted(b), sorted(c)) for a, b, c in os.walk(folder)))
# ---
import tempfile, os, importlib.util, sys
with tempfile.NamedTemporaryFile('w', suffix='.py', delete=False) as t:
    t.write('import math\nWIDTH = 3\ndef area(x): return math.floor(WIDTH * x)\nclass Box: pass\n'); t.flush()
print(t.name.endswith('.py'), os.path.exists(t.name))
spec = importlib.util.spec_from_file_location('made_here', t.name)
print(spec.name, spec.origin == t.name, spec.submodule_search_locations)
module = importlib.util.module_from_spec(spec); sys.modules['made_here'] = module; spec.loader.exec_module(module)
import made_here
print(made_here.area(2.5), made_here.Box.__module__, made_here.__name__, made_here.__file__ == t.name, made_here is module, made_here.__package__)
os.remove(t.name); print(os.path.exists(t.name), importlib.util.spec_from_file_location('x', 'a.txt'))
with tempfile.NamedTemporaryFile() as t: t.write(b'12'); t.seek(0); print(t.read(), os.path.exists(t.name)); name = t.name
print(os.path.exists(name))
with tempfile.TemporaryDirectory() as d:
    open(d + '/f', 'w').close(); print(os.listdir(d))
print(os.path.exists(d))
# ---
import importlib
print(importlib.import_module('.', 'json').__name__, importlib.import_module('.decoder', 'json').__name__, importlib.import_module('..math', 'a.b') is not None if False else '')
for name, package in (('..', 'json'), ('...x', 'a.b'), ('.x', None)):
    try: print(importlib.import_module(name, package))
    except (ImportError, TypeError) as e: print(type(e).__name__, e)
# ---
import collections, collections.abc, contextlib, dataclasses, functools, itertools, enum
from typing import *
T = TypeVar('T')
class Maker(Protocol[T]):
    def make(self) -> T: ...
class Both(Maker[T], Protocol[T]): pass
print(Maker.__parameters__, Both.__parameters__, Maker in Both.__mro__)
for c in (collections.deque, collections.ChainMap, contextlib.ExitStack, contextlib.AbstractContextManager, contextlib.nullcontext, functools.partial, functools.cached_property, itertools.chain, enumerate, dataclasses.Field, collections.OrderedDict):
    print(c[int], c[int].__origin__ is c, c[int].__args__)
class Mine(collections.deque): pass
print(Mine[str].__args__, MappingView[int].__origin__ is collections.abc.MappingView)
for c in (int,):
    try: print(c[int])
    except (TypeError, KeyError) as e: print(type(e).__name__)
class D(TypedDict, total=False): a: int
class M(collections.abc.Mapping):
    def __getitem__(self, k): return {'A': int}[k]
    def __iter__(self): return iter(['A'])
    def __len__(self): return 1
class H: x: 'A'
print(get_type_hints(H, localns=M()), D.__total__)
# ---
for b in (rb'a\nb\x41\u00e9\U0001F600\101\0\8\q\'', b'\\\nx\xe9', b'', rb'\\n'):
    print(ascii(b.decode('unicode-escape')), ascii(b.decode('unicode_escape')))

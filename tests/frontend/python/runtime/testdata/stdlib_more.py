import inspect
class Base:
    def save(self):
        frame = inspect.currentframe().f_back
        self.info = inspect.getargvalues(frame)
class Net(Base):
    def __init__(self, width=4, *rest, depth=2, **more):
        self.save()
n = Net(5, 6, depth=7, x=1)
print(n.info.args, n.info.varargs, n.info.keywords, sorted(n.info.locals), n.info.locals['rest'], n.info.locals['more'])
print(inspect.CO_VARARGS, inspect.CO_GENERATOR, inspect.GEN_CREATED, inspect.getclasstree([Base, Net])[0][0].__name__)
# ---
import keyword, linecache, platform, sysconfig, copyreg, sys
print(keyword.iskeyword('for'), keyword.iskeyword('match'), keyword.issoftkeyword('match'), keyword.kwlist[3:6], len(keyword.kwlist))
print(linecache.cache.setdefault('a', 1), linecache.getline('no such file', 3), linecache.getlines('<x>'))
print(platform.system(), platform.python_implementation(), platform.python_version_tuple()[:2], platform.mac_ver()[0])
print(sysconfig.get_platform()[:5], sysconfig.get_python_version())
class P: pass
copyreg.pickle(P, lambda p: (P, ()))
print(P in copyreg.dispatch_table, sys.flags.optimize, sys.flags.dev_mode, sys.implementation.cache_tag, sys.api_version)
try: copyreg.pickle(P, 3)
except TypeError as e: print(e)
# ---
import logging, sys
h = logging.StreamHandler(sys.stdout)
h.set_name('x'); h.setFormatter(logging.Formatter('%(message)s')); h.setLevel('WARNING')
print(h.get_name(), h.name, h.level, h.formatter is not None, logging.getLevelName('ERROR'), logging.getLevelName(35))
log = logging.getLogger('a.b')
log.setLevel('DEBUG'); log.addHandler(h)
print(log.level, log.isEnabledFor(10), log.hasHandlers(), logging.getLogger('a.b') is log, logging.getLogger() is logging.root)
print(logging.makeLogRecord({'msg': 'hello %s', 'args': ('you',)}).getMessage(), logging.getLoggerClass().__name__)
try: log.setLevel('NO')
except ValueError as e: print(e)
class Mine(logging.Logger): pass
logging.setLoggerClass(Mine); print(type(logging.getLogger('new')).__name__); logging.setLoggerClass(logging.Logger)
# ---
import threading, weakref
out = []
t = threading.Thread(target=out.append, args=(1,), name='mine')
print(t.name, t.is_alive(), t.daemon)
t.start(); t.join()
print(out, t.is_alive(), threading.current_thread() is threading.main_thread(), threading.active_count())
class T(threading.Thread):
    def run(self): out.append(threading.current_thread() is self)
t = T(); t.start(); t.join(); print(out)
try: t.start()
except RuntimeError as e: print(e)
class L(threading.local):
    def __init__(self, n): self.n = n
print(L(4).n, threading.Lock().locked(), threading.Event().is_set())
with threading.Lock(), threading.RLock(), threading.Condition(): pass
class O: pass
o = O()
f = weakref.finalize(o, out.append, 9)
print(f.alive, f(), f.alive, out[-1], isinstance(o, weakref.ProxyTypes))
# ---
import operator, textwrap, pkgutil, types, os.path, fnmatch
print(operator.iconcat([1], [2]), operator.ipow(2, 3), operator.ixor(5, 1), operator.ilshift(1, 3), operator.imod(7, 4))
try: operator.iconcat(1, 2)
except TypeError as e: print(e)
print(textwrap.TextWrapper(width=20, initial_indent='* ', subsequent_indent='  ').fill('some words that are wrapped'))
print(list(pkgutil.walk_packages([], '')), pkgutil.resolve_name('os.path:join')('a', 'b'), pkgutil.resolve_name('collections.OrderedDict').__name__)
print(types.resolve_bases((int, str)), types.prepare_class('X', (int,), {'a': 1}))
print(os.path.commonpath(['/a/b/c', '/a/b/d']), os.path.commonpath(['a/b', 'a']), os.path.splitdrive('/a/b'), os.path.ismount('/'))
try: os.path.commonpath(['/a', 'b'])
except ValueError as e: print(e)
print(os.fsencode('aä'), os.fsdecode(b'a'), os.SEEK_END, os.F_OK | os.R_OK, os.access('/nowhere', os.R_OK))
# ---
from distutils.version import LooseVersion, StrictVersion
print(LooseVersion('2.13.0') >= LooseVersion('1.8.0'), LooseVersion('1.10') > '1.9', LooseVersion('1.0') == '1.0', str(LooseVersion('1.2a')), LooseVersion('1.13.0a1').version)
print(StrictVersion('1.2') == StrictVersion('1.2.0'), StrictVersion('1.2a1') < '1.2', str(StrictVersion('1.2.0')), StrictVersion('0.4.1b2').prerelease)
try: StrictVersion('1.2.x')
except ValueError as e: print(e)
# ---
import io
s = io.StringIO('one\ntwo')
print(s.getvalue(), s.readlines(), hasattr(io.TextIOWrapper, 'getvalue'), io.BytesIO(b'abc').read1(2))
w = io.TextIOWrapper(io.BytesIO('ä\r\nb'.encode('latin-1')), encoding='latin-1')
print(w.readlines(), w.encoding, w.readable())
b = bytearray(4); print(io.BytesIO(b'xyz').readinto(b), b)
for bad in (lambda: io.IOBase().tell(), lambda: io.BytesIO().detach(), lambda: io.StringIO().fileno()):
    try: bad()
    except io.UnsupportedOperation as e: print(type(e).__name__)
print('中文'.encode('utf-8').decode('utf-8-sig'), b'\xd6\xd0\xce\xc4'.decode('gbk'), b'\x82\xa0'.decode('shift_jis'), b'\x80'.decode('cp1252'))
try: b'\x81\x30'.decode('gbk')
except UnicodeDecodeError as e: print(e.encoding, e.start)
try: 'x'.encode('no such encoding')
except LookupError as e: print(e)
# ---
import __future__, argparse, pprint, random
print(__future__.annotations.optional, __future__.division.getMandatoryRelease(), len(__future__.all_feature_names))
print(argparse.REMAINDER, argparse.ONE_OR_MORE, str(argparse.ArgumentError(None, 'message')))
print(pprint.pformat([1, 2]), pprint.PrettyPrinter().pformat({'a': 1}), pprint.isreadable(1), pprint.saferepr('x'))
random.seed(3); print(random.randrange(10), random.randint(0, 100), random.choice('abc'), random.getrandbits(8))
# ---
import random
x = random.random() + random.randrange(4)
print('drawn')
# ---
import json.decoder, logging.handlers, importlib.resources.abc, distutils.core, urllib.request
from distutils.util import strtobool
print(strtobool('Yes'), strtobool('0'))
try: strtobool('maybe')
except ValueError as e: print(e)
for name in 'json.nothing', 'distutils.no', 'os.nowhere':
    try: __import__(name)
    except ModuleNotFoundError as e: print(e.name)
# ---
import csv, io, json.decoder
text = 'a,b,"c d"\n1,"x, ""y""",3\n\n"multi\nline",2,\n4,5\n6,7,8,9\n'
print([row for row in csv.reader(io.StringIO(text))], [r for r in csv.reader(['a;b', "c;'d;e'"], delimiter=';', quotechar="'")])
print([row for row in csv.DictReader(io.StringIO(text))])
r = csv.reader(['a, b', '"1", 2'], skipinitialspace=True); print(next(r), next(r), r.line_num, next(r, None), csv.list_dialects())
print(list(csv.reader(['1,"a",2.5'], quoting=csv.QUOTE_NONNUMERIC)), list(csv.reader(['x"y,z\\,w'], escapechar='\\', quoting=csv.QUOTE_NONE)))
try: csv.reader([], 'no')
except csv.Error as e: print(e)
try: json.loads('{')
except json.decoder.JSONDecodeError as e: print(e.pos)
# ---
import time
start = time.time()
time.sleep(0)
took = time.time() - start + time.perf_counter() * 0
print('took', isinstance(f'{took:.2f}', str), isinstance(str(took), str))
# ---
import random
print(random.randrange(1), random.randint(4, 4), random.choice([7]), random.randrange(3, 4), [3, 2][random.randrange(0, 1)])
random.seed(5)
print(random.randrange(1), random.randrange(9), random.choice([7]), random.randrange(9))
# ---
import weakref
class Kept: pass
kept = Kept()
print(weakref.ref[Kept].__args__ == (Kept,), weakref.WeakMethod[int].__args__, weakref.ref(kept)() is kept)

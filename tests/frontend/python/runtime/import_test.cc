// Bundles, packages, cycles, lazy library modules, modules that exist nowhere.
#include "frontend/python/runtime/interpreter/import.h"

#include "absl/strings/str_cat.h"
#include "frontend/python/missing_file.h"
#include "frontend/python/runtime/interpreter/missing_module.h"
#include "frontend/python/runtime/modules/parse_ahead.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/python/runtime/runtime_test.h"

namespace cobra::python {
namespace {

using ::testing::HasSubstr;

TEST(ImportTest, PackagesAndRelativeImports) {
  Program p;
  p.bundle = {
      {"pkg/__init__.py", "from .a import fa\nfrom . import b\n__all__ = ['fa', 'b']\n"},
      {"pkg/a.py", "def fa(): return 'a'\n"},
      {"pkg/b.py", "from .sub.c import deep\nfrom .a import fa as other\n"},
      {"pkg/sub/__init__.py", ""},
      {"pkg/sub/c.py", "from ..a import fa\nfrom ... import nothing\n" + std::string("deep = fa() + 'c'\n")},
      {"main.py", "from pkg import *\nprint(fa(), b.deep)\n"},
  };
  Outcome o = RunPython(p);
  EXPECT_EQ(o.kind(), "model_error");  // three dots from pkg.sub.c are one too many
  EXPECT_THAT(o.diagnostic.message, HasSubstr("beyond top-level package"));
  EXPECT_EQ(o.diagnostic.position.file, "pkg/sub/c.py");
  p.bundle["pkg/sub/c.py"] = "from ..a import fa\ndeep = fa() + 'c'\n";
  p.bundle["main.py"] =
      "from pkg import *\nimport pkg.sub.c as c, pkg.a\nprint(fa(), b.deep, c.__name__, pkg.a.__package__, b.other is "
      "fa, pkg.__all__, c.__file__)\n";
  EXPECT_EQ(RunPython(p).output, "a ac pkg.sub.c pkg True ['fa', 'b'] pkg/sub/c.py\n");
}

TEST(ImportTest, AModuleRunsOnceAndCyclesSeeWhatIsThere) {
  Program p;
  p.bundle = {{"a.py", "print('a')\nx = 1\nimport b\ny = 2\n"},
              {"b.py", "print('b')\nimport a\nprint(a.x, hasattr(a, 'y'))\n"},
              {"main.py", "import a, b\nimport a\nimport sys\nprint(sys.modules['a'] is a, a.b is b)\n"}};
  EXPECT_EQ(RunPython(p).output, "a\nb\n1 False\nTrue True\n");
  p.bundle = {{"a.py", "from b import f\ng = 1\n"}, {"b.py", "from a import g\nf = 1\n"}, {"main.py", "import a\n"}};
  Outcome o = RunPython(p);
  EXPECT_THAT(o.diagnostic.message,
              HasSubstr("ImportError: cannot import name 'g' from partially initialized module 'a'"));
}

TEST(ImportTest, TheProgramsFileIsMain) {
  Program p;
  p.bundle = {
      {"helper.py", "import sys\ndef names():\n    return [n for n in vars(sys.modules['__main__']) if n[0] == 'v']\n"},
      {"main.py", "import helper, __main__ as m\nvalue = 1\nprint(helper.names(), m.value, m.__file__ == __file__)\n"}};
  EXPECT_EQ(RunPython(p).output, "['value'] 1 True\n");
}

TEST(ImportTest, AFailedImportCanBeRetriedAndCaught) {
  Program p;
  p.bundle = {
      {"bad.py", "1 / 0\n"},
      {"main.py",
       "for _ in range(2):\n    try:\n        import bad\n    except ZeroDivisionError:\n        print('again')\n"
       "try:\n    import nowhere_to_be_found\nexcept ImportError as e:\n    print(type(e).__name__, e, e.name)\n"
       "try:\n    from os import nothing\nexcept ImportError as e:\n    print(e)\n"}};
  EXPECT_THAT(RunPython(p).output, HasSubstr("again\nagain\nModuleNotFoundError No module named 'nowhere_to_be_found' "
                                             "nowhere_to_be_found\ncannot import name 'nothing' from 'os'"));
}

TEST(ImportTest, AMissingPackageIsAnErrorWhereItIsUsedThatSaysWhatToDo) {
  Outcome o = RunSource("import math\nimport wandb_is_not_here\nwandb_is_not_here.init(project='x')\nprint('ok')\n");
  EXPECT_EQ(o.output, "ok\n");  // what it was imported for does not matter to the network
  o = RunSource("from timm_is_not_here.layers import DropPath\ndef make(x):\n    return DropPath(x)\nmake({})\n");
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("timm_is_not_here.layers.DropPath()"));
  EXPECT_EQ(o.diagnostic.position.line, 3);
  EXPECT_THAT(o.diagnostic.hint, HasSubstr("timm_is_not_here is neither among"));
  o = RunSource("import importlib\nimportlib.import_module('timm_is_not_here.models')\n");
  EXPECT_EQ(o.kind(), "model_error");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("ModuleNotFoundError: No module named 'timm_is_not_here'"));
  EXPECT_THAT(o.diagnostic.hint, HasSubstr("timm_is_not_here is neither among"));
}

TEST(ImportTest, WhatIsMissingOfAPackageThatIsThereIsAnErrorAtOnce) {
  Program p;
  p.bundle = {{"pkg/__init__.py", ""}, {"main.py", "import pkg.sub\n"}};
  EXPECT_THAT(RunPython(p).diagnostic.message, HasSubstr("No module named 'pkg.sub'"));
  EXPECT_THAT(RunPython(p).diagnostic.hint, HasSubstr("pkg/sub.py is not among the files"));
  p.bundle["main.py"] = "from pkg import sub\n";
  EXPECT_THAT(RunPython(p).diagnostic.message, HasSubstr("cannot import name 'sub' from 'pkg'"));
  p.bundle["pkg/a.py"] = "from .layers.conv import Conv\n";
  p.bundle["pkg/layers/__init__.py"] = "";
  p.bundle["main.py"] = "import pkg.a\n";
  EXPECT_THAT(RunPython(p).diagnostic.hint, HasSubstr("pkg/layers/conv.py is not among the files"));
}

TEST(ImportTest, TheFileThatABundleLacksIsNamed) {
  EXPECT_EQ(MissingModuleHint({{"src/net/model.py", ""}}, "net.layers"),
            "src/net/layers.py is not among the files of the model: add it, or correct the import");
  EXPECT_THAT(MissingModuleHint({{"net_2/model.py", ""}}, "net.layers"), HasSubstr("net is neither among"));
}

TEST(ImportTest, AFileThatIsNotThereIsNamedWithThoseThatAre) {
  const auto error = [](std::vector<absl::string_view> files, absl::string_view path) {
    const Diagnostic d = DiagnosticFromStatus(MissingFileError(std::move(files), path)).value_or(Diagnostic());
    return absl::StrCat(d.message, "; ", d.hint);
  };
  EXPECT_EQ(error({"net.py", "other.py"}, "nett.py"),
            "nett.py: is neither among the files of the model nor in a library; did you mean net.py? the files are "
            "net.py, other.py");
  const std::vector<absl::string_view> many = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"};
  EXPECT_THAT(error(many, "weights"), HasSubstr("; the files are a, b, c, d, e, f, g, h, i, j and 3 more"));
  EXPECT_THAT(error({}, "torchvision/resnet.py"), HasSubstr("resnet.py: is not in any library; send its text"));
}

TEST(ImportTest, AMissingPackageUnderTryIsCaught) {
  Program p;
  p.bundle["main.py"] =
      "try:\n    import apex_is_not_here\nexcept ImportError:\n    apex_is_not_here = None\n"
      "try:\n    from flash_attn_is_not_here.ops import f\n    has = True\nexcept ModuleNotFoundError as e:\n    has = "
      "e.name\nprint(apex_is_not_here, has)\n";
  EXPECT_EQ(RunPython(p).output, "None flash_attn_is_not_here\n");
}

TEST(ImportTest, ModulesHaveHooksAndSysModulesMayHoldAnything) {
  Program p;
  p.bundle = {{"lazy.py",
               "def __getattr__(name):\n    if name == 'x': return 'made'\n    raise AttributeError(name)\ndef "
               "__dir__(): return ['x']\n"},
              {"pkg/__init__.py",
               "from importlib import import_module\nnames = ['a', 'b']\nfor n in names: globals()[n] = "
               "import_module('.' + n, __name__)\n"},
              {"pkg/a.py", "v = 1\n"},
              {"pkg/b.py", "from . import a\nv = a.v + 1\n"},
              {"main.py",
               "import lazy, pkg, sys, types\nprint(lazy.x, hasattr(lazy, 'y'), pkg.b.v)\n"
               "m = types.ModuleType('virtual'); m.f = lambda: 'f'\nsys.modules['virtual'] = m\nimport virtual\nfrom "
               "virtual import f\n"
               "class Fake: attr = 3\nsys.modules['fake'] = Fake()\nimport fake\nfrom fake import attr\n"
               "print(virtual.f(), f(), fake.attr, attr, 'pkg.a' in sys.modules, sys.modules[__name__].pkg is pkg)\n"
               "exec('import pkg.a as again')\nprint(again is pkg.a, __import__('pkg.b').b.v, pkg.a.__name__, "
               "pkg.__path__ is not None)\n"}};
  Outcome o = RunPython(p);
  EXPECT_EQ(o.output, "made False 2\nf f 3 3 True True\nTrue 2 pkg.a True\n") << o.status;
}

TEST(ImportTest, AModuleMayGetAClassOfItsOwn) {
  Program p;
  p.bundle = {
      {"odd.py",
       "import sys, types\nplain = 1\n"
       "class Odd(types.ModuleType):\n"
       "    def __getattribute__(self, name):\n"
       "        return 'made' if name == 'wish' else super().__getattribute__(name)\n"
       "sys.modules[__name__].__class__ = Odd\n"},
      {"main.py",
       "import odd\nfrom odd import wish\nprint(odd.wish, wish, odd.plain, type(odd).__name__, hasattr(odd, 'no'))\n"
       "class Other: pass\ntry: odd.__class__ = Other\nexcept TypeError as e: print(e)\n"}};
  const Outcome o = RunPython(p);
  EXPECT_EQ(o.output, "made made 1 Odd False\n__class__ assignment: object layout differs\n") << o.status;
}

TEST(ImportTest, ALibrarySeesItsOwnFolders) {
  Program p;
  p.libraries.push_back({{"lib/__init__.py",
                          "import os\nhere = os.path.dirname(__file__)\n"
                          "print([(e.name, e.is_dir()) for e in os.scandir(here)], os.listdir(here + '/sub'))\n"
                          "print(os.path.isfile(here + '/one.py'), os.path.isfile(here + '/data.json'), "
                          "os.path.isdir(here + '/sub'), os.path.exists(here + '/no'))\n"},
                         {"lib/one.py", ""},
                         {"lib/data.json", "{}"},
                         {"lib/sub/a.py", ""},
                         {"lib_tools-1.2.3.dist-info/METADATA", ""}});
  p.bundle["main.py"] =
      "import lib, importlib.metadata as m\nprint(lib.here.startswith('/'), m.version('lib-tools'))\n"
      "try: m.version('absent')\nexcept m.PackageNotFoundError as e: print('absent', e)\n"
      "import os\nprint(os.path.isdir(lib.here + '/../../etc'), os.path.isdir(lib.here + '/..'))\n"
      "os.listdir(lib.here + '/../../etc')\n";
  const Outcome o = RunPython(p);
  EXPECT_EQ(o.output,
            "[('__init__.py', False), ('data.json', False), ('one.py', False), ('sub', True)] ['a.py']\n"
            "True True True False\nTrue 1.2.3\nabsent absent\nFalse True\n");
  EXPECT_THAT(o.diagnostic.message, testing::HasSubstr("../../etc', which is not below the model's folder"));
}

TEST(ImportTest, ALibraryReadsTablesThatLieBesideIt) {
  Program p;
  p.libraries.push_back({{"lib/__init__.py",
                          "import pkgutil\ndef table(name):\n"
                          "    try: return pkgutil.get_data(__name__, name)\n"
                          "    except OSError as e: return type(e).__name__\n"},
                         {"lib/tables/widths.txt", "64 128\n"},
                         {"lib/large.json", std::string((1 << 20) + 1, ' ')},
                         {"lib/key.pem", "secret"},
                         {"lib/.env", "secret"},
                         {"other.txt", "outside of the package, but of the same library"}});
  p.bundle["main.py"] =
      "import lib\n"
      "print(lib.table('tables/widths.txt').decode().split(), len(lib.table('large.json')), "
      "lib.table('__init__.py')[:6])\n"
      "for name in 'no.txt', 'tables', 'key.pem', '.env', '../other.txt', '/etc/passwd':\n"
      "    print(name, lib.table(name))\n";
  const Outcome o = RunPython(p);
  EXPECT_EQ(o.output,
            "['64', '128'] 1048577 b'import'\nno.txt FileNotFoundError\ntables FileNotFoundError\n"
            "key.pem FileNotFoundError\n.env FileNotFoundError\n../other.txt b'outside of the package, but of the same "
            "library'\n/etc/passwd FileNotFoundError\n")
      << o.status;
}

TEST(ImportTest, AnErrorThatWasRaisedFromAnotherOneNamesBoth) {
  const Outcome o = RunSource(
      "try:\n    try: {}['width']\n    except KeyError as e: raise ValueError('no width') from e\n"
      "except ValueError as e:\n    raise RuntimeError('the model') from e\n");
  EXPECT_THAT(o.diagnostic.message, testing::HasSubstr("RuntimeError: the model; caused by KeyError: 'width' ("));
  EXPECT_THAT(o.diagnostic.message, testing::HasSubstr("main.py:2)"));
  const Outcome circle =
      RunSource("a, b = ValueError('a'), ValueError('b')\na.__cause__ = b\nb.__cause__ = a\nraise a\n");
  EXPECT_THAT(circle.diagnostic.message, testing::HasSubstr("caused by"));
}

// A library of three modules that say when they run.
std::map<std::string, std::string> LibraryThatPrints(const std::string& name) {
  return {{name + "/__init__.py",
           "from . import heavy, light\nfrom .heavy import thing\nfrom .light import small\nprint('lib')\n"},
          {name + "/heavy.py", "print('heavy')\nthing = 'T'\n"},
          {name + "/light.py", "print('light')\nsmall = 's'\n"}};
}

TEST(ImportTest, LibraryModulesRunInPythonsOrder) {
  Program p;
  p.libraries = {LibraryThatPrints("lib")};
  p.bundle["main.py"] = "import lib\nprint('imported')\nprint(lib.small, lib.light.small, lib.thing)\n";
  EXPECT_EQ(RunPython(p).output, "heavy\nlight\nlib\nimported\ns s T\n");
}

TEST(ImportTest, ModulesOfABigLibraryLoadWhenTheyAreUsed) {
  Program p;
  p.libraries = {LibraryThatPrints("timm")};
  p.bundle["main.py"] =
      "import timm\nprint('imported')\nprint(timm.small)\nprint(timm.light.small)\nprint(timm.thing)\n";
  EXPECT_EQ(RunPython(p).output, "lib\nimported\nlight\ns\ns\nheavy\nT\n");
  Importer::set_may_defer(false);
  EXPECT_EQ(RunPython(p).output, "heavy\nlight\nlib\nimported\ns\ns\nT\n");
  Importer::set_may_defer(true);
}

TEST(ImportTest, WhatAModuleRegistersOrPatchesIsThere) {
  Program p;
  p.libraries = {{{"lib/__init__.py",
                   "from lib.table import TABLE\nfrom lib.parts import small\nfrom lib import other\nimport lib.third\n"
                   "import lib.patches\nfrom lib.sizes import width\n"},
                  {"lib/table.py", "TABLE = {}\n"},
                  {"lib/parts/__init__.py", ""},
                  {"lib/parts/small.py", "from lib.table import TABLE\nTABLE['small'] = 1\n"},
                  {"lib/other.py", "from lib.table import TABLE\nTABLE['other'] = 2\n"},
                  {"lib/third.py", "import lib.table as t\nt.TABLE['third'] = 3\n"},
                  {"lib/sizes.py", "WIDTH = 4\ndef width(): return WIDTH\n"},
                  {"lib/patches.py", "import lib.sizes as sizes\nsizes.WIDTH = 16\n"}}};
  p.bundle["main.py"] = "import lib\nprint(list(lib.TABLE.items()), lib.width())\n";
  EXPECT_EQ(RunPython(p).output, "[('small', 1), ('other', 2), ('third', 3)] 16\n");
}

TEST(ImportTest, APatchDoesNotReachNamesThatWereImportedBefore) {
  Program p;
  p.libraries = {{{"timm/__init__.py", "from . import net, layers\nfrom .far import far\n"},
                  {"timm/layers.py", "from .sizes import width\ndef make(): return 'own'\n"},
                  {"timm/sizes.py", "def width(): return 4\n"},
                  {"timm/far.py", "from .layers import make as far\n"},
                  {"timm/net.py",
                   "from .layers import make, width\nfrom . import layers\ndef net(): return make(), width(), "
                   "layers.make()\n"}}};
  p.bundle["main.py"] =
      "import timm, timm.layers, timm.sizes\n"
      "timm.layers.make = lambda: 'patched'\n"
      "timm.sizes.width = lambda: 8\n"
      "print(timm.net.net(), timm.far(), timm.layers.width())\n"
      "del timm.layers.make\nprint(hasattr(timm.layers, 'make'), timm.far())\n";
  const std::string python = "('own', 4, 'patched') own 4\nFalse own\n";
  EXPECT_EQ(RunPython(p).output, python);
  Importer::set_may_defer(false);
  EXPECT_EQ(RunPython(p).output, python);
  Importer::set_may_defer(true);
}

TEST(ImportTest, AModuleThatCannotBeImportedIsAnErrorWhereItIsUsed) {
  Program p;
  p.libraries = {{{"lib/__init__.py", "from .bad import thing, Base\nfrom . import good, wrong\nfine = good.fine\n"},
                  {"lib/good.py", "from .bad import thing as t\nfine = 1\nclass Uses:\n    other: t = None\n"},
                  {"lib/wrong.py", "value = 1 + ''\n"},
                  {"lib/bad.py", "import PIL\nprint('bad')\nsize = 1 + PIL.Image.size\nthing = 1\n"}}};
  p.bundle["main.py"] = "import lib\nprint(lib.fine)\nclass Own(lib.Base, kind='x'): pass\nprint('ok')\n";
  EXPECT_EQ(RunPython(p).output, "bad\n1\nok\n");  // bad is not run again
  p.bundle["main.py"] += "def use(): return lib.thing(4, {})\nuse()\n";
  Outcome o = RunPython(p);
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_THAT(o.diagnostic.message,
              HasSubstr("lib.bad could not be imported (computing with PIL.Image.size is not supported at "
                        "/lib0/lib/bad.py:3), and calling lib.bad.thing() needs it"));
  EXPECT_EQ(o.diagnostic.position.line, 5);
  p.bundle["main.py"] = "import lib\nif lib.wrong.value: pass\n";
  o = RunPython(p);
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("lib.wrong could not be imported (TypeError: unsupported operand"));
}

TEST(ImportTest, WhatLibrariesAskOfModules) {
  Program p;
  p.libraries = {
      {{"lib/__init__.py", "here = __spec__.parent\nfrom . import sub, loader\n"},
       {"lib/sub.py", "spec = (__spec__.name, __spec__.parent, __spec__.origin, __spec__.loader)\n"},
       {"lib/loader.py",
        "import pkgutil, importlib\nimport lib\n"
        "def load():\n  for finder, name, _ in pkgutil.walk_packages(lib.__path__, 'lib.'):\n"
        "    spec = finder.find_spec(name)\n    spec.loader.exec_module(importlib.import_module(name))\n"
        "    yield spec.name\n"},
       {"yaml/__init__.py", "try:\n  from .cyaml import *\n  fast = True\nexcept ImportError:\n  fast = False\n"},
       {"yaml/cyaml.py", "from yaml._yaml import CParser\n"},
       {"yaml/_yaml.cpython-311-x86_64-linux-gnu.so", ""},
       {"latest/__init__.py",
        "import requests\ndef check():\n  try:\n    return requests.get('http://x').text\n"
        "  except OSError as e:\n    return type(e).__name__\n"}}};
  p.bundle["main.py"] =
      "import lib, yaml, latest\nprint(lib.here, lib.__spec__.submodule_search_locations == lib.__path__)\n"
      "print(lib.sub.spec, list(lib.loader.load()), yaml.fast, latest.check())\n";
  EXPECT_EQ(RunPython(p).output,
            "lib True\n('lib.sub', 'lib', '/lib0/lib/sub.py', None) ['lib.loader', 'lib.sub'] False ConnectionError\n");
}

TEST(ImportTest, TheSourceOfFunctionsAndClasses) {
  Program p;
  p.libraries = {{{"lib.py",
                   "def deco(f): return f\n\n@deco\n@deco\ndef f(x,\n      y):\n    # comment\n    return x\n\n"
                   "if True:\n    class C:\n        class D: k = 1\n        def m(self): return 2\n\nx = 1\n"}}};
  p.bundle["main.py"] =
      "import inspect, lib\nfor o in (lib.f, lib.C, lib.C.D, lib.C().m):\n    print(inspect.getsourcelines(o))\n"
      "print(inspect.getsource(lib.f).count('deco'), inspect.getfile(lib.C), inspect.getsourcefile(lib.f))\n";
  EXPECT_EQ(RunPython(p).output,
            "(['@deco\\n', '@deco\\n', 'def f(x,\\n', '      y):\\n', '    # comment\\n', '    return x\\n'], 3)\n"
            "(['    class C:\\n', '        class D: k = 1\\n', '        def m(self): return 2\\n'], 11)\n"
            "(['        class D: k = 1\\n'], 12)\n(['        def m(self): return 2\\n'], 13)\n"
            "2 /lib0/lib.py /lib0/lib.py\n");
  p.bundle["main.py"] = "import inspect\ninspect.getsource(len)\n";
  EXPECT_EQ(RunPython(p).kind(), "unsupported");
}

TEST(ImportTest, AFailingModuleIsItsImportersAffair) {
  Program p;
  p.libraries = {{{"lib/__init__.py", ""},
                  {"lib/wrong.py", "raise ValueError('no')\n"},
                  {"lib/wants.py", "raise ImportError('install that')\n"},
                  {"lib/deep.py", "import lib.deep\n" + std::string(1200, '-') + "1\n"}}};
  p.bundle["main.py"] = "try:\n    import lib.wrong\nexcept ValueError as e:\n    print('caught', e)\n";
  EXPECT_EQ(RunPython(p).output, "caught no\n");
  p.bundle["main.py"] = "import lib.wants\n";
  EXPECT_THAT(RunPython(p).diagnostic.message, HasSubstr("ImportError: install that"));
  EXPECT_EQ(RunPython(p).kind(), "model_error");
  p.bundle["main.py"] = "import own\n";
  p.bundle["own.py"] = "raise ValueError('no')\n";
  EXPECT_EQ(RunPython(p).kind(), "model_error");
}

TEST(ImportTest, ALimitIsReachedInALibraryToo) {
  Program p;
  p.libraries = {{{"lib/__init__.py", ""}, {"lib/endless.py", "while True: pass\n"}}};
  p.bundle["main.py"] = "import lib.endless\nprint('on')\n";
  const Outcome o = RunPython(p);
  EXPECT_EQ(o.kind(), "limit");
  EXPECT_EQ(o.diagnostic.position.file, "/lib0/lib/endless.py");
  EXPECT_EQ(o.output, "");
}

TEST(ImportTest, LazinessIsInvisible) {
  for (const bool may_defer : {true, false}) {
    Importer::set_may_defer(may_defer);
    Program p;
    p.libraries.push_back(
        {{"timm/__init__.py", "from .impl import Base, helper, VALUE\nimport timm.other\nimport timm.third as t\n"},
         {"timm/impl.py", "class Base:\n    k = 1\ndef helper(): return 'h'\nVALUE = [1]\n"},
         {"timm/other.py", "name = 'other'\n"},
         {"timm/third.py", "name = 'third'\n"},
         {"timm/user.py",
          "from .impl import Base, helper, VALUE\nimport timm.other\nimport timm.third as t\n"
          "class Sub(Base): pass\n"
          "def use(): return helper(), VALUE, Sub.k, timm.other.name, t.name, isinstance(Sub(), Base), "
          "Base.__name__\n"}});
    p.bundle["main.py"] =
        "import timm, timm.user\nfrom timm import *\nprint(timm.user.use())\nprint(sorted(k for k in vars(timm) if not "
        "k.startswith('__')))\n"
        "print(type(timm.__dict__['helper']).__name__, VALUE is timm.impl.VALUE, timm.t.name)\n";
    EXPECT_EQ(RunPython(p).output,
              "('h', [1], 1, 'other', 'third', True, 'Base')\n['Base', 'VALUE', 'helper', 'impl', 'other', 't', "
              "'third', 'timm', 'user']\nfunction True third\n");
  }
  Importer::set_may_defer(true);
}

TEST(ImportTest, RegistriesFilledByStarImports) {
  Program p;
  p.libraries.push_back(
      {{"lib/__init__.py", "from .registry import models\nfrom .a import *\nfrom .b import *\n"},
       {"lib/registry.py", "models = {}\ndef register(f):\n    models[f.__name__] = f\n    return f\n"},
       {"lib/a.py",
        "from .registry import register\n__all__ = ['a1']\n@register\ndef a1(): return 'A1'\n@register\ndef a2(): "
        "return 'A2'\n"},
       {"lib/b.py", "from .registry import register\n@register\ndef b1(): return 'B1'\n"}});
  p.bundle["main.py"] = "import lib\nprint(sorted(lib.models), lib.models['a2'](), lib.a1(), hasattr(lib, 'a2'))\n";
  EXPECT_EQ(RunPython(p).output, "['a1', 'a2', 'b1'] A2 A1 False\n");
}

TEST(ImportTest, ExternalModulesOfALibraryAreOpaque) {
  Program p;
  p.libraries.push_back(
      {{"lib/__init__.py",
        "import PIL\nimport PIL.Image as I\nfrom pandas import DataFrame, Series\nfrom requests.adapters import *\n"
        "def annotated(x: PIL.Image.Image, y: 'DataFrame' = None) -> DataFrame: return x\n"
        "@PIL.register\ndef kept(): return 'kept'\n"
        "@PIL.registry.with_arguments(1)\ndef kept2(): return 'kept2'\n"
        "class Derived(PIL.Image): pass\n"
        "print(isinstance(5, PIL.Image), kept(), kept2(), annotated(3))\n"
        "try:\n    import missing_optional\n    has = True\nexcept ImportError:\n    has = False\nprint(has)\n"
        "def use(): return I.open('x')\n"
        "def make(): return Derived()\n"
        "def compare(): return PIL.version > 3\n"}});
  p.bundle["main.py"] = "import lib\n";
  Outcome o = RunPython(p);
  EXPECT_TRUE(o.status.ok()) << o.status;
  EXPECT_EQ(o.output, "False kept kept2 3\nFalse\n");
  p.bundle["main.py"] = "import lib\nlib.use()\n";
  o = RunPython(p);
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("PIL.Image.open()"));
  EXPECT_EQ(o.diagnostic.position.file, "/lib0/lib/__init__.py");
  p.bundle["main.py"] = "import lib\nlib.make()\n";
  EXPECT_THAT(RunPython(p).diagnostic.message, HasSubstr("PIL.Image"));
  p.bundle["main.py"] = "import lib\nlib.compare()\n";
  EXPECT_EQ(RunPython(p).kind(), "unsupported");
}

TEST(ImportTest, ALibraryThatTakesAllNamesOfCompiledCodeMayHaveAnyName) {
  Program p;
  p.libraries.push_back({{"fast/__init__.py",
                          "from ._compiled import *\nfrom . import plain\n__all__ = ['run']\n"
                          "def wrapped(): return resized(3)\n"},
                         {"fast/plain.py", "value = 5\n"},
                         {"lib.py",
                          "from fast import io as fast_io, plain\nimport fast\n"
                          "print(plain.value, hasattr(fast, '__version__'), fast.wrapped is not None)\n"
                          "def use(): return fast_io.read('x')\n"}});
  p.bundle["main.py"] = "import lib\n";
  Outcome o = RunPython(p);
  EXPECT_TRUE(o.status.ok()) << o.status;
  EXPECT_EQ(o.output, "5 False True\n");
  for (const char* use : {"lib.use()", "lib.fast.wrapped()"}) {
    p.bundle["main.py"] = absl::StrCat("import lib\n", use, "\n");
    o = RunPython(p);
    EXPECT_EQ(o.kind(), "unsupported") << use;
    EXPECT_THAT(o.diagnostic.message, HasSubstr("fast._compiled.")) << use;
  }
}

TEST(ImportTest, PackagesAskSetuptoolsForVersionsAndFiles) {
  Program p;
  p.libraries.push_back(
      {{"lib/__init__.py",
        "from pkg_resources import packaging, parse_version, resource_filename, resource_exists\n"
        "print(parse_version('1.10') > packaging.version.parse('1.9'))\n"
        "print(resource_filename('lib', 'data/x').endswith('lib/data/x'), resource_exists('lib', 'y'))\n"
        "import pkg_resources\n"
        "try: pkg_resources.get_distribution('not-there')\n"
        "except pkg_resources.DistributionNotFound: print('not there')\n"}});
  p.bundle["main.py"] = "import lib\n";
  const Outcome o = RunPython(p);
  EXPECT_TRUE(o.status.ok()) << o.status;
  EXPECT_EQ(o.output, "True\nTrue False\nnot there\n");
}

TEST(ImportTest, AFunctionNamedLikeItsSubmoduleStays) {
  Program p;
  p.libraries.push_back({{"pkg/__init__.py", "from .name import name\nfrom .other import thing\n"},
                         {"pkg/name.py", "def name(): return 'called'\n"},
                         {"pkg/other.py",
                          "from . import name as n\nfrom .name import name as f\nimport pkg.name as whole\n"
                          "thing = (n, f, whole)\n"}});
  p.bundle["main.py"] =
      "import pkg\nimport pkg.name as m\nimport importlib, sys\nwhole = importlib.import_module('pkg.name')\n"
      "__import__('pkg.name')\nimport pkg.name\nfrom pkg import *\n"
      "print(pkg.name(), m(), [t() for t in pkg.thing], name(), whole is sys.modules['pkg.name'], whole.name())\n";
  EXPECT_EQ(RunPython(p).output, "called called ['called', 'called', 'called'] called True called\n");
  p.bundle["main.py"] = "import pkg.name\nprint(pkg.name())\n";  // the submodule first
  EXPECT_EQ(RunPython(p).output, "called\n");
  p.libraries[0]["pkg/__init__.py"] = "";
  EXPECT_THAT(RunPython(p).diagnostic.message, HasSubstr("'module' object is not callable"));
}

// What such a decorator returns is unknown, unless it registers.
TEST(ImportTest, WhatAMissingDecoratorMakesIsUnknown) {
  for (const char* decorator : {"gone.wraps", "gone.wraps(3)", "gone.a.b"}) {
    const std::string decorated = absl::StrCat("    @", decorator, "\n    def f(self, x):\n        return x\n");
    const Outcome o =
        RunSource(absl::StrCat("import gone\nclass A:\n", decorated, "print('read')\ndef use(): A().f(1)\nuse()\n"));
    EXPECT_EQ(o.output, "read\n") << decorator;
    EXPECT_EQ(o.kind(), "unsupported") << decorator;
    EXPECT_THAT(o.diagnostic.message, HasSubstr("gone was not found (imported at main.py:1), and calling gone."));
  }
  EXPECT_EQ(
      RunSource("import gone\n@gone.MODELS.register_module()\nclass A: pass\nprint(A().__class__.__name__)\n").output,
      "A\n");
}

TEST(ImportTest, ANativeFunctionBlamesTheMissingModuleNotItsArgument) {
  for (const char* use :
       {"'x'.join(v)", "'x'.join([v])", "range(v)", "divmod(7, v)", "isinstance(3, int) and max([3, v])"}) {
    const Outcome o = RunSource(absl::StrCat("import gone\nv = gone.load()['width']\n", use, "\n"));
    EXPECT_EQ(o.kind(), "unsupported") << use << ": " << o.diagnostic.message;
    EXPECT_THAT(o.diagnostic.message, HasSubstr("gone was not found")) << use;
  }
}

TEST(ImportTest, StandardModulesThatWeDoNotHaveImportButRefuseToRun) {
  Outcome o = RunSource(
      "import random, time, subprocess\nfrom urllib.request import urlopen\nx = random.random() + 1\nprint('ok')\nx < "
      "1\n");
  EXPECT_EQ(o.output, "ok\n");
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("random.random()"));
  EXPECT_EQ(o.diagnostic.position.line, 5);
}

TEST(ImportTest, AFileInsideALibraryRootIsTheModuleThatItIsThere) {
  Program p;
  p.libraries.push_back({{"lib/__init__.py", ""},
                         {"lib/models/__init__.py", "from .net import *\n"},
                         {"lib/models/net.py", "from ._util import k\nprint(__name__, k)\n"},
                         {"lib/models/_util.py", "k = 3\n"}});
  p.file = "/lib0/lib/models/net.py";
  EXPECT_EQ(RunPython(p).output, "lib.models.net 3\n");
  p.file = "lib/models/net.py";
  EXPECT_EQ(RunPython(p).output, "lib.models.net 3\n");
}

TEST(ImportTest, ABundleFileInAFolderImportsItsNeighbours) {
  Program p;
  p.file = "src/model.py";
  p.bundle = {{"src/model.py", "import blocks\nfrom shared import s\nprint(blocks.b, s)\n"},
              {"src/blocks.py", "b = 1\n"},
              {"shared.py", "s = 2\n"}};
  EXPECT_EQ(RunPython(p).output, "1 2\n");
}

TEST(ImportTest, NativeModulesComeBeforeLibraryRoots) {
  Program p;
  p.libraries.push_back({{"math.py", "print('shadowed')\n"}, {"typing_extra.py", "x = 1\n"}});
  p.bundle["main.py"] = "import math, typing_extra\nprint(math.floor(2.5), typing_extra.x)\n";
  EXPECT_EQ(RunPython(p).output, "2 1\n");
}

TEST(ImportTest, ASyntaxErrorInAnImportedFileNamesThatFile) {
  Program p;
  p.bundle = {{"broken.py", "x = 1\ndef f(:\n    pass\n"}, {"main.py", "import broken\n"}};
  Outcome o = RunPython(p);
  EXPECT_EQ(o.kind(), "syntax_error");
  EXPECT_EQ(o.diagnostic.position.file, "broken.py");
  EXPECT_EQ(o.diagnostic.position.line, 2);
}

TEST(ParseAheadTest, FollowsWhatTheProgramWillImport) {
  const std::map<std::string, std::string> files = {
      {"pkg/__init__.py", "from .models import *\nfrom . import never\n"},
      {"pkg/models.py",
       "from typing import TYPE_CHECKING\n"
       "from .in_function import g\nfrom .base import Base as B, other\nfrom .default import value\nimport pkg.late as "
       "late\n"
       "if TYPE_CHECKING:\n    from .types import *\n"
       "try:\n    from .tried import thing\nexcept ImportError:\n    from .instead import *\n"
       "class Model(B):\n    def f(self, x=value):\n        return g(late)\n"
       "print([late.n for n in ()])\n"},
      {"pkg/base.py", "from .deeper import Deep\nfrom .unused import nothing\nclass Base(Deep): pass\n"},
      {"pkg/deeper.py", "class Deep: pass\n"},
      {"pkg/default.py", "value = 1\n"},
      {"pkg/late.py", "from .cycle import x\nprint(x)\n"},
      {"pkg/cycle.py", "import pkg.late\nprint(pkg)\nx = 1\n"},
      {"pkg/tried.py", "thing = (\n"},  // does not parse
      {"pkg/in_function.py", ""},
      {"pkg/never.py", ""},
      {"pkg/unused.py", ""},
      {"pkg/types.py", ""},
      {"pkg/instead.py", ""}};
  ParseAhead ahead(Natives(), {MemorySource(files, "/lib")}, {"pkg"});
  std::vector<std::string> library;
  for (const std::string& file : ahead.Finish()) {
    if (file[0] != '<') library.push_back(file.substr(9));
  }
  EXPECT_THAT(library, ::testing::ElementsAre("__init__.py", "models.py", "base.py", "deeper.py", "default.py",
                                              "late.py", "cycle.py"));
}

}  // namespace
}  // namespace cobra::python

// Type parameters, type statements and nested f-strings (Python 3.12 and 3.13) when they run.
#include <string>

#include "frontend/python/syntax/python_version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/python/runtime/runtime_test.h"

namespace cobra::python {
namespace {

using testing::HasSubstr;

class TypeParamsTest : public testing::Test {
 protected:
  ~TypeParamsTest() override { SetPythonVersion(0); }
  static Outcome Run(std::string text) {
    Program program;
    program.bundle[program.file] = std::move(text);
    return RunPython(program);
  }
};

TEST_F(TypeParamsTest, TheVariablesAreThoseOfTheStatement) {
  const Outcome o =
      Run("class Base: pass\n"
          "class Box[T: Base, *Ts, **P](Base):\n"
          "  kind = 'box'\n"
          "  def get[U](self, x: T, y: U = kind) -> dict[T, U]:\n"
          "    return T, U, [T for _ in range(2)]\n"
          "  def names(self): return [p.__name__ for p in Box.__type_params__]\n"
          "b = Box[int, str, [int]]()\n"
          "t, u, more = b.get(1)\n"
          "print(t is Box.__type_params__[0], u, more == [t, t], b.names(), isinstance(b, Base))\n"
          "print(Box.get.__annotations__['x'] is t, Box.get.__type_params__, t.__bound__ is Base, t.__constraints__)\n"
          "print([c.__name__ for c in Box.__mro__], 'T' in globals(), 'T' in vars(Box))\n");
  EXPECT_EQ(o.output,
            "True U True ['T', 'Ts', 'P'] True\n"
            "True (U,) True ()\n"
            "['Box', 'Base', 'Generic', 'object'] False False\n")
      << o.status;
}

TEST_F(TypeParamsTest, WhatIsLazyIsComputedWhenItIsAskedFor) {
  const Outcome o = Run(
      "type Tree[T: Later = Later] = T | list[Tree[T]]\n"
      "type Broken = no_such_name\n"
      "class Later: pass\n"
      "print(Tree.__name__, Tree.__type_params__[0].__bound__ is Later, Tree.__type_params__[0].__default__ is Later)\n"
      "print(type(Tree).__name__, Tree.__value__ is not None)\n"
      "try: Broken.__value__\n"
      "except NameError as e: print(e)\n"
      "def f():\n"
      "  width = 3\n"
      "  type Inner = list[width]\n"
      "  def g[T: (int, str)](x: T): return T.__constraints__, Inner.__value__\n"
      "  return g(1)\n"
      "print(f())\n"
      "def again(n):\n"
      "  def h[T](): return T\n"
      "  return h\n"
      "print(again(1)() is not again(2)())\n");
  EXPECT_EQ(o.output,
            "Tree True True\nTypeAliasType True\nname 'no_such_name' is not defined\n"
            "((<class 'int'>, <class 'str'>), list[3])\nTrue\n")
      << o.status;
}

TEST_F(TypeParamsTest, StringsNest) {
  const Outcome o =
      Run("d = {'k': 2}\n"
          "print(f\"{d[\"k\"]} {f\"{'x' * d[\"k\"]:>{d['k'] + 2}}\"}\", f'{'\\n'.join('ab')!r}', f\"{d['k']=}\")\n"
          "print(f\"\"\"{\n  d['k']  # two\n}\"\"\", f'{{{d['k']}}}', f'{1:{'>'}{4}}')\n");
  EXPECT_EQ(o.output, "2   xx 'a\\nb' d['k']=2\n2 {2}    1\n") << o.status;
}

TEST_F(TypeParamsTest, AVersionThatIsTooOldIsNamed) {
  const char* text = "class Box[T = int]: pass\nimport sys\nprint(sys.version_info[:2])\n";
  EXPECT_EQ(Run(text).output, "(3, 11)\n");
  SetPythonVersion(13);
  EXPECT_EQ(Run(text).output, "(3, 13)\n");
  SetPythonVersion(12);
  const Outcome o = Run(text);
  EXPECT_EQ(o.kind(), "syntax_error");
  EXPECT_THAT(o.diagnostic.hint, HasSubstr("this is syntax of Python 3.13, and the model is read as Python 3.12"));
  SetPythonVersion(11);
  EXPECT_THAT(Run(text).diagnostic.hint, HasSubstr("--python-version 3.13"));
  EXPECT_EQ(Run("x = f'{'a'}'\n").diagnostic.position.line, 1);
  EXPECT_EQ(Run("x = = 1\n").diagnostic.hint, "");
}

TEST_F(TypeParamsTest, Versions) {
  EXPECT_EQ(*ReadPythonVersion("3.11"), 11);
  EXPECT_EQ(*ReadPythonVersion("3.13.5"), 13);
  for (const char* wrong : {"", "3", "3.10", "3.14", "2.7", "3.12rc1", "3.12.", "3.12.1.1", "-3.12", "311"})
    EXPECT_FALSE(ReadPythonVersion(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace cobra::python

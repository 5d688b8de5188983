// What a user reads when a program fails.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/python/runtime/runtime_test.h"

namespace cobra::python {
namespace {

using ::testing::HasSubstr;

TEST(DiagnosticsTest, TheCallChainAsInATraceback) {
  Outcome o = RunSource(
      "class Net:\n"
      "    def forward(self, x):\n"
      "        return self.block(x)\n"
      "    def block(self, x):\n"
      "        return x + 'a'\n"
      "Net().forward(1)\n");
  const Diagnostic& d = o.diagnostic;
  EXPECT_EQ(d.message, "TypeError: unsupported operand type(s) for +: 'int' and 'str'");
  EXPECT_EQ(d.position.file, "main.py");
  EXPECT_EQ(d.position.line, 5);
  EXPECT_EQ(d.position.column, 16);
  EXPECT_EQ(d.source_line, "        return x + 'a'");
  ASSERT_EQ(d.frames.size(), 3u);  // outermost first
  EXPECT_EQ(d.frames[0].function, "<module>");
  EXPECT_EQ(d.frames[0].position.line, 6);
  EXPECT_EQ(d.frames[1].function, "Net.forward");
  EXPECT_EQ(d.frames[1].position.line, 3);
  EXPECT_EQ(d.frames[1].source_line, "        return self.block(x)");
  EXPECT_EQ(d.frames[2].function, "Net.block");
}

TEST(DiagnosticsTest, UnsupportedNamesTheThing) {
  Outcome o = RunSource("def load():\n    return open('/weights.bin')\nload()\n");
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_EQ(o.diagnostic.message,
            "reading the file '/weights.bin', which is not below the model's folder or a --library, is not supported");
  EXPECT_EQ(o.diagnostic.position.line, 2);
  EXPECT_EQ(o.diagnostic.source_line, "    return open('/weights.bin')");
  ASSERT_EQ(o.diagnostic.frames.size(), 2u);
  EXPECT_EQ(o.diagnostic.frames[1].function, "load");
}

TEST(DiagnosticsTest, UnsupportedIsNotCatchable) {
  Outcome o =
      RunSource("try:\n    open('/x')\nexcept BaseException:\n    print('caught')\nfinally:\n    print('finally')\n");
  EXPECT_EQ(o.kind(), "unsupported");
  EXPECT_EQ(o.output, "");
}

TEST(DiagnosticsTest, FramesOfTheRuntimesOwnPythonAreHidden) {
  Outcome o = RunSource("import functools\ndef f(a): return a.nope\ng = functools.partial(f, 5)\ng()\n");
  ASSERT_EQ(o.diagnostic.frames.size(), 2u);
  EXPECT_EQ(o.diagnostic.frames[0].position.line, 4);
  EXPECT_EQ(o.diagnostic.frames[1].position.line, 2);
}

TEST(DiagnosticsTest, NearMissesAreSuggested) {
  EXPECT_THAT(RunSource("lenght = 3\nprint(lenghth)\n").diagnostic.message, HasSubstr("Did you mean: 'lenght'?"));
  EXPECT_THAT(RunSource("class A:\n    def forward(self): pass\nA().foward()\n").diagnostic.message,
              HasSubstr("Did you mean: 'forward'?"));
  EXPECT_THAT(RunSource("import math\nmath.squrt\n").diagnostic.message, HasSubstr("Did you mean: 'sqrt'?"));
}

TEST(DiagnosticsTest, AnExceptionsOwnStrIsUsed) {
  Outcome o = RunSource("class E(Exception):\n    def __str__(self): return 'went\\nwrong'\nraise E()\n");
  EXPECT_EQ(o.diagnostic.message, "E: went wrong");
  o = RunSource("class E(Exception):\n    def __str__(self): 1 / 0\nraise E()\n");
  EXPECT_EQ(o.diagnostic.message, "E");
}

TEST(DiagnosticsTest, SystemExitAndExpressionsAreDiagnosedToo) {
  EXPECT_EQ(RunSource("import sys\nsys.exit(3)\n").diagnostic.message, "SystemExit: 3");
  EXPECT_EQ(RunSource("async def f(): pass\nf()\n").kind(), "ok");  // a coroutine that nobody runs
}

TEST(DiagnosticsTest, EvalExpressionUsesTheModulesNames) {
  InterpreterOptions options;
  options.bundle["m.py"] = "def build(n): return [n] * n\n";
  options.natives = Natives();
  auto interp = Interpreter::Create(std::move(options));
  std::string text;
  absl::Status status = (*interp)->Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY_ASSIGN(ModuleObject * m, interp.LoadFile("m.py"));
    COBRA_TRY_ASSIGN(Value v, interp.EvalExpression("[len(build(i)) for i in range(3)]", m));
    COBRA_TRY_ASSIGN(StrObject * s, interp.Repr(v));
    text = std::string(s->view());
    return {};
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(text, "[0, 1, 2]");
  status = (*interp)->Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY_ASSIGN(ModuleObject * m, interp.ImportModule("m"));
    COBRA_TRY(interp.EvalExpression("build('x')", m));
    return {};
  });
  EXPECT_THAT(std::string(status.message()), HasSubstr("TypeError"));
  status = (*interp)->Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY_ASSIGN(ModuleObject * m, interp.ImportModule("m"));
    COBRA_TRY(interp.EvalExpression("build(", m));
    return {};
  });
  EXPECT_EQ(DiagnosticFromStatus(status)->kind, Diagnostic::Kind::kSyntaxError);
}

// A native class as frontend/python/torch makes them: payload, hooks, operators, and a Python class
// derived from it.
class CounterPayload : public NativeObject {
 public:
  int64_t value = 0;
  NativeObject* Copy(Interpreter& interp) override { return interp.heap().New<CounterPayload>(*this); }
};

// Long because it defines a class with every hook, then runs a program that uses them all.
TEST(NativeApiTest, AClassWithPayloadHooksAndOperators) {
  NativeRegistry natives;
  AddStandardLibrary(&natives);
  NativeModule module;
  module.name = "native";
  module.define = [](Interpreter& interp, NativeModuleBuilder& m) -> Result<void> {
    m.Class("Counter")
        .Payload([](Interpreter& interp) -> NativeObject* { return interp.heap().New<CounterPayload>(); })
        .Method("__init__",
                [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                  int64_t start = 0;
                  ArgReader reader(interp, "Counter", args);
                  COBRA_TRY(reader.Optional("start", &start).Finish());
                  interp.Payload<CounterPayload>(args.self)->value = start;
                  return Value::None();
                })
        .Method("__add__",
                [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                  if (!args.positional[0].IsInt()) return Value::NotImplemented();
                  return Value::Int(interp.Payload<CounterPayload>(args.self)->value + args.positional[0].as_int());
                })
        .Method("__getattr__",
                [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                  if (args.positional[0].str() == "magic") return Value::Int(42);
                  return interp.Raise(interp.types().AttributeError, "no such thing");
                })
        .Method("__setattr__",
                [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                  if (args.positional[0].str() == "value" && args.positional[1].IsInt()) {
                    interp.Payload<CounterPayload>(args.self)->value = args.positional[1].as_int();
                    return Value::None();
                  }
                  COBRA_TRY(interp.ObjectSetAttr(args.self, args.positional[0].as<StrObject>(), args.positional[1]));
                  return Value::None();
                })
        .Property("value",
                  [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                    return Value::Int(interp.Payload<CounterPayload>(args.self)->value);
                  })
        .ClassMethod("name",
                     [](Interpreter&, const CallArgs& args) -> Result<Value> {
                       return Value(args.self.as<ClassObject>()->name);
                     })
        .Build();
    m.Source("def twice(c): return c.value * 2\n");
    m.Function("scale", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      std::vector<double> factors;
      std::optional<std::string> mode;
      bool strict = false;
      ArgReader reader(interp, "scale", args);
      COBRA_TRY(reader.Required("factors", &factors)
                    .KeywordOnly()
                    .Optional("mode", &mode)
                    .Optional("strict", &strict)
                    .Finish());
      double product = strict ? -1 : 1;
      for (double f : factors) product *= f;
      return Value::Float(product);
    });
    return {};
  };
  natives.Add(module);
  InterpreterOptions options;
  options.natives = &natives;
  options.bundle["main.py"] =
      "import native, copy\n"
      "class Sub(native.Counter):\n"
      "    def __init__(self):\n"
      "        self.early = 1\n"
      "        super().__init__(5)\n"
      "    def __add__(self, o): return ('sub', super().__add__(o))\n"
      "s = Sub()\n"
      "s.value = 7\n"
      "d = copy.deepcopy(s); d.value = 9\n"
      "print(s.value, s.early, s + 1, s.magic, Sub.name(), native.Counter(3) + 4, native.twice(s), d.value, d.early, "
      "Sub.__mro__[1] is native.Counter)\n"
      "print(native.scale([2, 3.5]), native.scale((1,), mode=None, strict=True))\n"
      "for f in (lambda: s.nothing, lambda: native.Counter('x'), lambda: native.Counter(1, 2), lambda: "
      "native.Counter(begin=1), lambda: native.scale(),\n"
      "          lambda: native.scale([1], 'm'), lambda: native.scale(['a']), lambda: native.scale([1], mode=5), "
      "lambda: native.Counter() + 'a'):\n"
      "    try:\n        f()\n    except Exception as e:\n        print(type(e).__name__, e)\n";
  auto interp = Interpreter::Create(std::move(options));
  absl::Status status = (*interp)->Run([](Interpreter& interp) -> Result<void> {
    COBRA_TRY(interp.LoadFile("main.py"));
    return {};
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ((*interp)->captured_output(),
            "7 1 ('sub', 8) 42 Sub 7 14 9 1 True\n"
            "7.0 -1.0\n"
            "AttributeError no such thing\n"
            "TypeError Counter(): argument 'start' must be int, not str\n"
            "TypeError Counter() takes at most 1 argument (2 given)\n"
            "TypeError Counter() got an unexpected keyword argument 'begin'\n"
            "TypeError scale() missing required argument 'factors' (pos 1)\n"
            "TypeError scale() takes at most 1 argument (2 given)\n"
            "TypeError scale(): argument 'factors' must be list or tuple, not list\n"
            "TypeError scale(): argument 'mode' must be str, not int\n"
            "TypeError unsupported operand type(s) for +: 'Counter' and 'str'\n");
}

}  // namespace
}  // namespace cobra::python

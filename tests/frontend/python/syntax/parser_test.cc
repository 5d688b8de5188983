#include "frontend/python/syntax/parse/parser.h"

#include <pthread.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/python/syntax/ast_writer.h"

namespace cobra::python {
namespace ast {
namespace {

std::string Repeat(absl::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, text);
  return out;
}

// The tree's text, or "KIND LINE: MESSAGE" of the diagnostic.
std::string Read(absl::string_view source, const Limits& limits = {}) {
  const auto ast = ParseModule(source, "model.py", limits);
  if (ast.ok()) return WriteAst(**ast, false);
  const auto d = DiagnosticFromStatus(ast.status());
  if (!d) return absl::StrCat("no diagnostic: ", ast.status().ToString());
  return absl::StrCat(DiagnosticKindName(d->kind), " ", d->position.line, ": ", d->message);
}

std::string ReadExpression(absl::string_view source) {
  const auto ast = ParseExpression(source, "--entry");
  return ast.ok() ? WriteAst(**ast, false) : std::string(ast.status().message());
}

// Deep input must be refused long before the stack of a real thread (8 MB) is used up.
// AddressSanitizer's frames are larger.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kSmallStackBytes = size_t{8} << 20;
#else
constexpr size_t kSmallStackBytes = size_t{3} << 20;
#endif
void OnSmallStack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallStackBytes);
  pthread_t thread;
  std::function<void()> copy = work;
  const auto run = [](void* p) -> void* {
    (*static_cast<std::function<void()>*>(p))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &copy), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(ParserTest, Trees) {
  struct Case {
    const char* source;
    const char* tree;
  };
  const Case cases[] = {
      {"", "Module([])"},
      {"x = 1", "Module([Assign([Name(x,Store)],Constant(1,-))])"},
      {"self.conv(x)[0]",
       "Module([Expr(Subscript(Call(Attribute(Name(self,Load),conv,Load),[Name(x,Load)],[]),Constant(0,-),Load))])"},
      {"-a ** -b", "Module([Expr(UnaryOp(USub,BinOp(Name(a,Load),Pow,UnaryOp(USub,Name(b,Load)))))])"},
      {"a if b else c", "Module([Expr(IfExp(Name(b,Load),Name(a,Load),Name(c,Load)))])"},
      {"not a in b", "Module([Expr(UnaryOp(Not,Compare(Name(a,Load),[In],[Name(b,Load)])))])"},
      {"match = 1", "Module([Assign([Name(match,Store)],Constant(1,-))])"},
      {"f'{a!r:>{w}}'",
       "Module([Expr(JoinedStr([FormattedValue(Name(a,Load),114,JoinedStr([Constant(S1:>,-),FormattedValue(Name(w,Load)"
       ","
       "-1,-)]))]))])"},
      {"18446744073709551616", "Module([Expr(Constant(18446744073709551616,-))])"},
      {"0xFFFFFFFFFFFFFFFFFF", "Module([Expr(Constant(4722366482869645213695,-))])"},
  };
  for (const Case& c : cases) EXPECT_EQ(Read(c.source), c.tree) << c.source;
}

TEST(ParserTest, ErrorsAreCPythons) {
  struct Case {
    const char* source;
    const char* error;
  };
  const Case cases[] = {
      {"x = (1,\ny = 2\n", "syntax_error 1: '(' was never closed"},
      {"def f()\n  pass\n", "syntax_error 1: expected ':'"},
      {"\nif x:\npass\n", "syntax_error 3: expected an indented block after 'if' statement on line 2"},
      {"f(a, b c)", "syntax_error 1: invalid syntax. Perhaps you forgot a comma?"},
      {"f() = 1", "syntax_error 1: cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"\n\nreturn 1", "syntax_error 3: 'return' outside function"},
      {"def f(a, a): pass", "syntax_error 1: duplicate argument 'a' in function definition"},
      {"x = 'abc", "syntax_error 1: unterminated string literal (detected at line 1)"},
      {"if x:\n    y\n  z\n", "syntax_error 3: unindent does not match any outer indentation level"},
      {"x\0y", "syntax_error 1: invalid syntax"},
  };
  for (const Case& c : cases) {
    if (absl::string_view(c.source) == "x") continue;
    EXPECT_EQ(Read(c.source), c.error) << c.source;
  }
  EXPECT_EQ(Read(absl::string_view("a\nx\0y", 5)), "syntax_error 2: source code string cannot contain null bytes");
}

TEST(ParserTest, DiagnosticPointsAtTheSource) {
  const auto ast = ParseModule("a = 1\nb = = 2\n", "net.py");
  const auto d = DiagnosticFromStatus(ast.status());
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(d->position.file, "net.py");
  EXPECT_EQ(d->position.line, 2);
  EXPECT_EQ(d->position.column, 5);
  EXPECT_EQ(d->source_line, "b = = 2");
  EXPECT_EQ(DiagnosticExitCode(d->kind), 6);
}

TEST(ParserTest, Expressions) {
  EXPECT_EQ(ReadExpression("  resnet50(num_classes=10)\n"),
            "Expression(Call(Name(resnet50,Load),[],[keyword(num_classes,Constant(10,-))]))");
  EXPECT_EQ(ReadExpression("1, 2"), "Expression(Tuple([Constant(1,-),Constant(2,-)],Load))");
  EXPECT_THAT(ReadExpression("x = 1"), testing::HasSubstr("invalid syntax"));
  EXPECT_THAT(ReadExpression(""), testing::HasSubstr("invalid syntax"));
  EXPECT_THAT(ReadExpression("a b"), testing::HasSubstr("invalid syntax"));
}

TEST(ParserTest, Encodings) {
  const std::string expected = "Module([Expr(Constant(S2:\xC3\xA9,-))])";
  EXPECT_EQ(Read("'\xC3\xA9'"), expected);
  EXPECT_EQ(Read("\xEF\xBB\xBF'\xC3\xA9'"), expected);
  EXPECT_EQ(Read("#!/usr/bin/python\n# -*- coding: latin-1 -*-\n'\xE9'"), expected);
  EXPECT_EQ(Read("# vim: set fileencoding=cp1252 :\n'\x80'"), "Module([Expr(Constant(S3:\xE2\x82\xAC,-))])");
  EXPECT_EQ(Read("x\n'\xE9'"), "syntax_error 2: (unicode error) 'utf-8' codec can't decode byte 0xe9 in position 3");
  EXPECT_EQ(Read("# coding: klingon\n"), "syntax_error 0: unknown encoding: klingon");
  EXPECT_EQ(Read("x\r\ny\rz"), "Module([Expr(Name(x,Load)),Expr(Name(y,Load)),Expr(Name(z,Load))])");
}

TEST(ParserTest, AstKnowsItsSource) {
  const auto ast = ParseModule("class A:\n  x = f(1,\n        2)\n", "a.py");
  ASSERT_TRUE(ast.ok());
  EXPECT_EQ((*ast)->Line(2), "  x = f(1,");
  EXPECT_EQ((*ast)->Line(4), "");
  const StmtNode* assign = (*ast)->module()->body[0]->As<ClassDef>()->body[0];
  EXPECT_EQ((*ast)->Text(assign->As<Assign>()->value->pos), "f(1,\n        2)");
  EXPECT_EQ((*ast)->FindSymbol("f"), assign->As<Assign>()->value->As<Call>()->func->As<Name>()->id);
  EXPECT_EQ((*ast)->FindSymbol("nowhere"), nullptr);
  for (size_t i = 0; i < (*ast)->symbols().size(); ++i) EXPECT_EQ((*ast)->symbols()[i]->id, i);
}

// Whatever is thrown at it: an answer, and no more stack than a thread has.
TEST(ParserTest, HostileNesting) {
  const int n = 64 * 1024;
  const std::string sources[] = {
      Repeat("(", n),
      Repeat("[", n),
      Repeat("{", n),
      Repeat("f(", n),
      Repeat("-", n) + "x",
      Repeat("not ", n) + "x",
      Repeat("lambda:", n) + "x",
      Repeat("x if y else ", n) + "z",
      Repeat("await ", n) + "x",
      "x" + Repeat("**x", n),
      "x" + Repeat(".a", n),
      "x" + Repeat("()", n),
      "x" + Repeat("[0]", n),
      "x" + Repeat("+x", n),
      "x" + Repeat(" and x or x", n),
      "if x: pass\n" + Repeat("elif x: pass\n", n),
      Repeat("x=", n) + "1",
      Repeat("*", n) + "x",
      "f'" + Repeat("{x", n) + "'",
      "match x:\n  case " + Repeat("[", n),
      "match x:\n  case " + Repeat("-", n) + "1: pass",
      "with " + Repeat("(", n),
      "del " + Repeat("(", n),
      "for " + Repeat("(", n),
      "x[" + Repeat("x[", n),
      "def f(a=" + Repeat("lambda a=", n),
  };
  for (const std::string& source : sources) {
    std::string answer;
    OnSmallStack([&] { answer = Read(source); });
    EXPECT_TRUE(absl::StartsWith(answer, "limit") || absl::StartsWith(answer, "syntax_error") ||
                absl::StartsWith(answer, "Module("))
        << source.substr(0, 20) << ": " << answer.substr(0, 200);
  }
  std::string blocks;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&blocks, std::string(i, ' '), "if x:\n");
  EXPECT_EQ(Read(blocks), "syntax_error 101: too many levels of indentation");
  EXPECT_EQ(Read("x = " + Repeat("(", 201)), "syntax_error 1: too many nested parentheses");
}

TEST(ParserTest, HostileLength) {
  const std::string long_name(1 << 20, 'x');
  EXPECT_EQ(Read(long_name), absl::StrCat("Module([Expr(Name(", long_name, ",Load))])"));
  EXPECT_TRUE(absl::StartsWith(Read("x = [" + Repeat("1,", 1 << 19) + "]"), "Module("));
  EXPECT_TRUE(absl::StartsWith(Read("f(" + Repeat("a,", 1 << 17) + "b c)"), "syntax_error 1"));
  EXPECT_TRUE(absl::StartsWith(Read("'" + std::string(1 << 20, 'x')), "syntax_error 1: unterminated"));
  EXPECT_TRUE(absl::StartsWith(Read(std::string(1 << 20, '#')), "Module("));
  EXPECT_TRUE(absl::StartsWith(Read(Repeat("\\\n", 1 << 19)), "syntax_error"));
  EXPECT_TRUE(absl::StartsWith(Read("x = " + std::string(5000, '9')), "syntax_error 1: Exceeds the limit"));
  EXPECT_TRUE(absl::StartsWith(Read("x = 0x" + std::string(1 << 20, 'f')), "limit 1"));
  EXPECT_TRUE(absl::StartsWith(Read(Repeat("x = (\n", 1 << 16)), "syntax_error"));
}

TEST(ParserTest, Limits) {
  Limits limits;
  limits.source_bytes = 10;
  EXPECT_EQ(Read("x = 1234567", limits), "limit 0: model.py: 11 bytes, more than the limit of 10");
  limits = {};
  limits.syntax_nodes = 1000;
  EXPECT_EQ(Read("x = [\n" + Repeat("1,\n", 2000) + "]", limits).substr(0, 8), "limit 10");
  limits = {};
  limits.syntax_depth = 50;
  EXPECT_EQ(Read("\nx" + Repeat("+x", 60), limits),
            "limit 2: the nesting of the source: more than the limit of 50 levels");
  EXPECT_EQ(Read("x" + Repeat("+x", 40), limits).substr(0, 7), "Module(");
  EXPECT_EQ(Read(Repeat("-", 60) + "x", limits).substr(0, 5), "limit");
}

TEST(ParserTest, LimitsHoldAtTheLimitAndOnePastIt) {
  const auto fits = [](const std::string& source, const Limits& limits) {
    return Read(source, limits).substr(0, 7) == "Module(";
  };
  const auto holds = [&](const std::string& source, auto Limits::*limit, int64_t high) {
    int64_t low = 0;
    Limits limits;
    while (low + 1 < high) {
      limits.*limit = static_cast<std::decay_t<decltype(limits.*limit)>>((low + high) / 2);
      (fits(source, limits) ? high : low) = (low + high) / 2;
    }
    return high;
  };
  EXPECT_EQ(holds("x = 123456", &Limits::source_bytes, 100), 10);
  EXPECT_EQ(holds("x" + Repeat("+x", 30), &Limits::syntax_depth, 100) + 1,
            holds("x" + Repeat("+x", 31), &Limits::syntax_depth, 100));
  EXPECT_EQ(holds(Repeat("pass\n", 100), &Limits::syntax_nodes, 1000) + 1,
            holds(Repeat("pass\n", 101), &Limits::syntax_nodes, 1000));
  EXPECT_EQ(holds("a = b = c = a\n" + Repeat("pass\n", 10), &Limits::syntax_names, 100), 3);
}

TEST(ParserTest, ThreadsShareNothing) {
  const std::string good = "class A:\n" + Repeat("    def f(self, x): return self.g(x) + 1\n", 500);
  const std::string expected = Read(good);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(Read(good), expected);
        EXPECT_EQ(Read(good + "x y\n"), "syntax_error 502: invalid syntax");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ast
}  // namespace cobra::python

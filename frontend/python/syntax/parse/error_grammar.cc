#include "frontend/python/syntax/parse/error_grammar.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cobra::python {
namespace ast {
namespace {

using Op = GrammarItem::Op;

constexpr char kGrammar[] =
#include "frontend/python/syntax/parse/error_grammar.inc"
    ;

// The grammar is part of the program, so the first test with a syntax error finds any mistake in
// it.
[[noreturn]] void Broken(absl::string_view what) {
  std::fprintf(stderr, "error_grammar.inc: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

class Reader {
 public:
  Reader(absl::string_view text, ErrorGrammar* grammar) : p_(text), grammar_(grammar) {}

  GrammarItem ReadRule() {
    GrammarItem body = ReadChoice();
    SkipBlanks();
    if (!p_.empty()) Broken(p_.substr(0, 60));
    return body;
  }

 private:
  void SkipBlanks() { p_ = absl::StripLeadingAsciiWhitespace(p_); }
  bool Take(char c) {
    SkipBlanks();
    if (p_.empty() || p_[0] != c) return false;
    p_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Take(c)) Broken(p_.substr(0, 60));
  }
  std::string Word() {
    size_t n = 0;
    while (n < p_.size() && (absl::ascii_isalnum(p_[n]) || p_[n] == '_')) ++n;
    std::string word(p_.substr(0, n));
    p_.remove_prefix(n);
    return word;
  }
  std::string Quoted() {
    const char quote = p_[0];
    std::string out;
    size_t i = 1;
    for (; p_[i] != quote; ++i) {
      if (p_[i] == '\\') ++i;
      out.push_back(p_[i]);
    }
    p_.remove_prefix(i + 1);
    return out;
  }

  GrammarItem ReadChoice() {
    GrammarItem choice;
    choice.op = Op::kChoice;
    Take('|');
    do {
      choice.alternatives.push_back(ReadAlternative());
    } while (Take('|'));
    return choice;
  }

  GrammarAlternative ReadAlternative() {
    GrammarAlternative alternative;
    for (;;) {
      SkipBlanks();
      if (p_.empty() || p_[0] == '|' || p_[0] == ')' || p_[0] == ']') return alternative;
      if (Take('{')) {
        SkipBlanks();
        alternative.action = Word();
        SkipBlanks();
        if (!Take('-')) alternative.variable = Word();
        SkipBlanks();
        alternative.message = Quoted();
        Expect('}');
        return alternative;
      }
      alternative.items.push_back(std::make_unique<GrammarItem>(ReadItem()));
      // Only if it is the only item. As in CPython, the mistakes of a dict are looked for in the
      // first pass too.
      const GrammarItem& item = *alternative.items.back();
      alternative.mistake = alternative.items.size() == 1 && item.op == Op::kRule &&
                            absl::StartsWith(grammar_->rules[item.rule].name, "invalid_");
    }
  }

  GrammarItem Wrap(Op op, GrammarItem inner) {
    GrammarItem item;
    item.op = op;
    item.children.push_back(std::make_unique<GrammarItem>(std::move(inner)));
    return item;
  }

  GrammarItem ReadItem() {
    SkipBlanks();
    if (absl::ConsumePrefix(&p_, "&&")) {
      GrammarItem item = ReadAtom();
      item.op = Op::kForcedToken;
      return item;
    }
    if (Take('&')) return Wrap(Op::kAnd, ReadAtom());
    if (Take('!')) return Wrap(Op::kNot, ReadAtom());
    if (Take('~')) {
      GrammarItem cut;
      cut.op = Op::kCut;
      return cut;
    }
    std::string variable;
    const absl::string_view saved = p_;
    variable = Word();
    if (variable.empty() || p_.empty() || p_[0] != '=') {
      p_ = saved;
      variable.clear();
    } else {
      p_.remove_prefix(1);
    }
    GrammarItem item = ReadAtom();
    if (!p_.empty() && p_[0] == '.') {
      p_.remove_prefix(1);
      GrammarItem list = Wrap(Op::kList, ReadAtom());
      list.children.push_back(std::make_unique<GrammarItem>(std::move(item)));
      Expect('+');
      item = std::move(list);
    } else if (!p_.empty() && (p_[0] == '*' || p_[0] == '+' || p_[0] == '?')) {
      const Op op = p_[0] == '*' ? Op::kStar : p_[0] == '+' ? Op::kPlus : Op::kOptional;
      p_.remove_prefix(1);
      item = Wrap(op, std::move(item));
    }
    item.variable = variable;
    return item;
  }

  GrammarItem ReadAtom() {
    SkipBlanks();
    if (Take('(')) {
      GrammarItem group = ReadChoice();
      Expect(')');
      return group;
    }
    if (Take('[')) {
      GrammarItem optional = Wrap(Op::kOptional, ReadChoice());
      Expect(']');
      return optional;
    }
    GrammarItem item;
    if (p_[0] == '"') {
      item.op = Op::kSoftKeyword;
      item.text = Quoted();
      // Operators such as "/" may be in double quotes.
      if (!absl::ascii_isalpha(item.text[0]) && item.text != "_") return OperatorItem(item.text);
      return item;
    }
    if (p_[0] == '\'') return OperatorItem(Quoted());
    const std::string word = Word();
    static constexpr struct {
      const char* name;
      TokenKind kind;
    } kTokens[] = {{"NAME", TokenKind::kName},
                   {"NUMBER", TokenKind::kNumber},
                   {"STRING", TokenKind::kString},
                   {"NEWLINE", TokenKind::kNewline},
                   {"INDENT", TokenKind::kIndent},
                   {"DEDENT", TokenKind::kDedent},
                   {"FSTRING_START", TokenKind::kFStringStart},
                   {"FSTRING_MIDDLE", TokenKind::kFStringMiddle},
                   {"FSTRING_END", TokenKind::kFStringEnd},
                   {"EXCLAMATION", TokenKind::kOther},
                   {"ASYNC", TokenKind::kAsync},
                   {"AWAIT", TokenKind::kAwait},
                   {"ENDMARKER", TokenKind::kEndMarker}};
    for (const auto& token : kTokens) {
      if (word != token.name) continue;
      item.token = token.kind;
      return item;
    }
    if (word == "SOFT_KEYWORD") {
      item.op = Op::kAnySoftKeyword;
      return item;
    }
    if (word == "SINCE12" || word == "SINCE13") {
      item.op = Op::kSince;
      item.rule = word == "SINCE12" ? 12 : 13;
      return item;
    }
    const auto found = grammar_->index.find(word);
    if (found == grammar_->index.end()) Broken(word);
    item.op = Op::kRule;
    item.rule = found->second;
    return item;
  }

  GrammarItem OperatorItem(const std::string& text) {
    GrammarItem item;
    item.text = text;
#define COBRA_TOKEN_OP(name, spelling) \
  if (text == spelling) item.token = TokenKind::k##name;
#define COBRA_TOKEN_KEYWORD(name, spelling) \
  if (text == spelling) item.token = TokenKind::k##name;
#include "frontend/python/syntax/tokens.def"
    if (item.token == TokenKind::kEndMarker) Broken(text);
    return item;
  }

  absl::string_view p_;
  ErrorGrammar* grammar_;
};

// One round of the fixed point iteration that computes which tokens each rule may begin with.
class FirstSets {
 public:
  explicit FirstSets(ErrorGrammar* grammar) : grammar_(grammar) {}

  bool Round() {
    bool changed = false;
    for (GrammarRule& rule : grammar_->rules) {
      TokenSet first;
      const bool nullable = Of(&rule.body, &first);
      changed |= first != rule.first || nullable != rule.nullable;
      rule.first = first;
      rule.nullable = nullable;
    }
    return changed;
  }

 private:
  // Adds to *first; returns whether the item may match without consuming a token.
  bool Of(GrammarItem* item, TokenSet* first) {
    switch (item->op) {
      case Op::kToken: first->set(static_cast<size_t>(item->token)); return false;
      case Op::kSoftKeyword:
      case Op::kAnySoftKeyword: first->set(static_cast<size_t>(TokenKind::kName)); return false;
      case Op::kForcedToken: first->set(); return false;  // its absence is an error
      case Op::kRule: *first |= grammar_->rules[item->rule].first; return grammar_->rules[item->rule].nullable;
      case Op::kPlus:
      case Op::kList: return Of(item->children[0].get(), first);
      case Op::kOptional:
      case Op::kStar: Of(item->children[0].get(), first); return true;
      case Op::kAnd:
      case Op::kNot: {
        TokenSet unused;
        Of(item->children[0].get(), &unused);  // computes the sets of the alternatives in it
        return true;
      }
      case Op::kCut:
      case Op::kSince: return true;
      case Op::kChoice: break;
    }
    bool any_nullable = false;
    for (GrammarAlternative& alternative : item->alternatives) {
      TokenSet own;
      bool nullable = true;
      for (auto& part : alternative.items) {
        TokenSet part_first;
        const bool part_nullable = Of(part.get(), &part_first);
        if (nullable) own |= part_first;
        nullable = nullable && part_nullable;
      }
      any_nullable |= nullable;
      *first |= own;
      if (nullable) own.set();
      alternative.first = own;
    }
    return any_nullable;
  }

  ErrorGrammar* grammar_;
};

const ErrorGrammar* ReadGrammar() {
  auto* grammar = new ErrorGrammar;  // never freed
  std::vector<std::string> bodies;
  for (absl::string_view line : absl::StrSplit(kGrammar, '\n')) {
    if (line.empty()) continue;
    if (!absl::ascii_isspace(line[0])) {
      const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
      GrammarRule rule;
      absl::string_view name = parts.first;
      rule.memo = absl::ConsumeSuffix(&name, " (memo)") || absl::ConsumeSuffix(&name, "(memo)");
      rule.name = std::string(name);
      rule.without_invalid = absl::EndsWith(name, "_without_invalid");
      grammar->index[rule.name] = static_cast<int>(grammar->rules.size());
      grammar->rules.push_back(std::move(rule));
      bodies.emplace_back(parts.second);
    } else {
      bodies.back().append(" ").append(line.data(), line.size());
    }
  }
  for (size_t i = 0; i < bodies.size(); ++i) grammar->rules[i].body = Reader(bodies[i], grammar).ReadRule();
  while (FirstSets(grammar).Round()) {
  }
  return grammar;
}

}  // namespace

const ErrorGrammar& GetErrorGrammar() {
  static const ErrorGrammar* const grammar = ReadGrammar();
  return *grammar;
}

}  // namespace ast
}  // namespace cobra::python

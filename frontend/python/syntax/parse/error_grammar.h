// The rules of error_grammar.inc as a graph.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_ERROR_GRAMMAR_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_ERROR_GRAMMAR_H_

#include <bitset>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "frontend/python/syntax/lexer.h"

namespace cobra::python {
namespace ast {

// Kinds of tokens, by number.
using TokenSet = std::bitset<128>;

struct GrammarItem {
  enum class Op {
    kToken,           // token
    kForcedToken,     // token; else an error
    kSoftKeyword,     // text
    kAnySoftKeyword,  // one of match, case and _
    kRule,            // rule
    kChoice,          // alternatives
    kOptional,        // children[0]
    kStar,            // children[0], any number of times
    kPlus,            // children[0], at least once
    kList,            // children[0] separated by children[1]
    kAnd,             // children[0] comes next, and is not taken
    kNot,             // children[0] does not come next
    kCut,             // `~`: no other alternative is tried
    kSince,           // nothing, but the alternative is only of Python 3.`rule` and later
  };
  Op op = Op::kToken;
  TokenKind token = TokenKind::kEndMarker;
  std::string text;
  int rule = -1;
  std::string variable;
  std::vector<std::unique_ptr<GrammarItem>> children;
  std::vector<struct GrammarAlternative> alternatives;
};

struct GrammarAlternative {
  std::vector<std::unique_ptr<GrammarItem>> items;
  // What it may begin with; all if it may be empty. A quick way to see that it cannot match.
  TokenSet first;
  bool mistake = false;  // is a rule called invalid_*: second pass only
  std::string action;    // empty: none
  std::string variable;
  std::string message;
};

struct GrammarRule {
  std::string name;
  bool memo = false;             // in CPython; we remember all, but see ErrorFinder::MatchRule
  bool without_invalid = false;  // turns the rules called invalid_* off while it runs
  GrammarItem body;              // a kChoice
  TokenSet first;
  bool nullable = false;
};

struct ErrorGrammar {
  std::vector<GrammarRule> rules;
  absl::flat_hash_map<std::string, int> index;
};

// Parsed once; lives as long as the process.
const ErrorGrammar& GetErrorGrammar();

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_ERROR_GRAMMAR_H_

// The tree of a regular expression, between parser and compiler.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_PARSE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_PARSE_H_

#include <memory>
#include <string>
#include <vector>

#include "frontend/python/runtime/modules/regex.h"

namespace cobra::python {

struct RegexNode {
  enum class Kind : uint8_t {
    kCharacter,
    kNotCharacter,
    kSet,
    kAny,
    kAt,
    kGroup,
    kBranch,
    kRepeat,
    kBackReference,
    kLook,
    kAtomic,
    kConditional
  };
  Kind kind;
  uint32_t character = 0;
  char at = 0;  // '^', '$', 'A', 'Z', 'b', 'B'
  CharacterSet set;
  int group = -1;  // of a group: its number, -1 if it captures nothing; of a reference: what it refers to
  int add_flags = 0, del_flags = 0;
  bool behind = false, negated = false;
  int64_t min = 0, max = -1;
  RegexInstruction::Kind repeat = RegexInstruction::Kind::kGreedy;
  std::vector<std::vector<RegexNode>> branches;  // one for everything but kBranch and kConditional
};

struct RegexTree {
  std::vector<RegexNode> items;
  std::vector<std::pair<std::string, int>> names;
  int groups = 0;
  int flags = 0;
};
bool ParseRegex(const std::vector<uint32_t>& pattern, int flags, bool bytes, RegexTree* tree, RegexError* error);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_PARSE_H_

// Regular expressions like CPython's `re`: a parser with the same errors, and a backtracking
// matcher with a step budget. The language requires backtracking (look-around, back references,
// possessive and conditional groups). The budget is needed because a hostile pattern backtracks
// exponentially. The matcher has its own stack; only look-around recurses, as deep as the pattern
// nests.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace cobra::python {

enum RegexFlag : int {
  kIgnoreCase = 2,
  kLocale = 4,
  kMultiLine = 8,
  kDotAll = 16,
  kUnicode = 32,
  kVerbose = 64,
  kAscii = 256
};

struct RegexError {
  std::string message;
  int64_t position = -1;     // in characters of the pattern; -1 if the message has none
  bool value_error = false;  // of incompatible flags: a ValueError, not a re.error
};

// A set of characters: ranges and classes, perhaps negated.
struct CharacterSet {
  struct Class {
    char name;  // 'd', 'D', 's', 'S', 'w', 'W'
    bool ascii;
  };
  bool negated = false;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  std::vector<Class> classes;
  std::array<uint64_t, 4> table{};  // of the first 256 characters; FillTable makes it
  void FillTable();
  bool Contains(uint32_t c) const { return c < 256 ? (table[c >> 6] >> (c & 63) & 1) != 0 : Look(c); }
  bool Look(uint32_t c) const;  // without the table
};
uint32_t RegexFolded(uint32_t c, bool ascii);  // a common code for characters that differ in case

// One instruction. Targets are indices of instructions.
struct RegexInstruction {
  enum class Op : uint8_t {
    kCharacter,        // a: the code point
    kNotCharacter,     // a: the code point
    kSet,              // a: index of the set
    kAny,              // but not a newline
    kAnyAll,           // also a newline (DOTALL)
    kSplit,            // try a, then b
    kJump,             // to a
    kSave,             // a: index of the capture slot
    kStart,            // ^ without MULTILINE, \A
    kLineStart,        // ^ with MULTILINE
    kEnd,              // $ without MULTILINE
    kLineEnd,          // $ with MULTILINE
    kTextEnd,          // \Z
    kWordBoundary,     // \b
    kNotWordBoundary,  // \B
    kBackReference,    // a: the group
    kLook,             // a: 1 ahead, -1 behind; b: end of the body, which follows; min: width of a look-behind; negated
    kAtomic,           // b: end of the body, which follows
    kConditional,      // a: the group; b: where to go if it did not match
    kRepeatOne,        // one-character body at pc + 1, continues at b: min, max, kind
    kLoopStart,        // a: index of the loop's counter
    kLoop,             // a: counter, b: first instruction of the body; min, max, kind
    kFail,             // no match on this path
    kAccept,           // the end of the pattern or of the body of a kLook or kAtomic
  };
  enum class Kind : uint8_t { kGreedy, kLazy, kPossessive };
  Op op = Op::kFail;
  Kind kind = Kind::kGreedy;
  bool ignore_case = false;
  bool ascii = false;
  bool negated = false;
  int64_t a = 0, b = 0;
  int64_t min = 0, max = 0;  // max < 0: no limit
};

class Regex {
 public:
  // Null with *error filled if the pattern is wrong or too large. `pattern` is in code points (of a
  // bytes pattern: bytes).
  static std::unique_ptr<Regex> Compile(const std::vector<uint32_t>& pattern, int flags, bool bytes, RegexError* error);

  int groups() const { return groups_; }  // without the whole match
  int flags() const { return flags_; }    // with those set inside the pattern
  const std::vector<std::pair<std::string, int>>& names() const { return names_; }
  int64_t memory_bytes() const;

  enum class Anchor { kSearch, kMatch, kFullMatch };
  enum class Outcome { kNo, kYes, kTooLong };
  struct Text {  // characters of one byte, or of four
    const unsigned char* narrow = nullptr;
    const uint32_t* wide = nullptr;
    uint32_t operator[](int64_t i) const { return narrow != nullptr ? narrow[i] : wide[i]; }
  };
  // Searches in [start, end). `spans` gets 2 * (groups + 1) positions, -1 where a group did not
  // match; *last_group the group closed last, or -1. With must_advance an empty match at `start`
  // does not count. `steps` (about 8 ns each) is decremented; at 0: kTooLong.
  Outcome Match(Text text, int64_t start, int64_t end, Anchor anchor, bool must_advance, std::vector<int64_t>* spans,
                int* last_group, int64_t* steps) const;

 private:
  friend class RegexParser;
  friend class RegexCompiler;
  friend class RegexMatcher;
  bool Matches(const RegexInstruction& in, uint32_t c) const;  // an instruction of one character
  bool MayBeginWith(uint32_t c) const { return c < 256 ? (first_[c >> 6] >> (c & 63) & 1) != 0 : first_wide_; }
  bool BeginsWithPrefix(Text text, int64_t at, int64_t end) const;
  int64_t NextStart(Text text, int64_t at, int64_t end) const;

  std::vector<RegexInstruction> program_;
  std::vector<CharacterSet> sets_;
  std::vector<std::pair<std::string, int>> names_;
  int groups_ = 0, loops_ = 0, flags_ = 0;
  // The prefix of every match; most of a search is finding it.
  std::string prefix_;
  bool first_known_ = false;  // the next two
  std::array<uint64_t, 4> first_{};
  bool first_wide_ = false;  // characters beyond the table
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_H_

// The matcher: runs the instructions of regex.cc with a stack of choices.
#include <algorithm>
#include <cstring>

#include "absl/strings/string_view.h"
#include "frontend/python/runtime/modules/regex.h"
#include "frontend/python/runtime/types/character.h"

namespace cobra::python {
namespace {

using Op = RegexInstruction::Op;
using RepeatKind = RegexInstruction::Kind;

constexpr size_t kMaxStack = 1 << 20;  // choices and old values, 32 bytes each

bool IsWord(uint32_t c, bool ascii) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return !ascii && HasProperty(c, kAlpha | kDecimal | kDigit | kNumeric);
}
bool InClass(uint32_t c, char name, bool ascii) {
  switch (name) {
    case 'd': return ascii ? c >= '0' && c <= '9' : HasProperty(c, kDecimal);
    case 'D': return !InClass(c, 'd', ascii);
    case 's': return ascii ? c == ' ' || (c >= '\t' && c <= '\r') : HasProperty(c, kSpace);
    case 'S': return !InClass(c, 's', ascii);
    case 'w': return IsWord(c, ascii);
    default: return !IsWord(c, ascii);
  }
}
}  // namespace

uint32_t RegexFolded(uint32_t c, bool ascii) {
  if (ascii && c >= 0x80) return c;
  return SimpleCase(CaseKind::kLower, c);
}

bool CharacterSet::Look(uint32_t c) const {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), std::make_pair(c, ~uint32_t{0}));
  if (after != ranges.begin() && c <= std::prev(after)->second) return !negated;
  for (const Class& k : classes) {
    if (InClass(c, k.name, k.ascii)) return !negated;
  }
  return negated;
}

void CharacterSet::FillTable() {
  // Sorted and merged, for Look().
  std::sort(ranges.begin(), ranges.end());
  size_t kept = 0;
  for (const auto& range : ranges) {
    if (kept > 0 && range.first <= ranges[kept - 1].second) {
      ranges[kept - 1].second = std::max(ranges[kept - 1].second, range.second);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
  const auto same = [](const Class& a, const Class& b) { return a.name == b.name && a.ascii == b.ascii; };
  std::sort(classes.begin(), classes.end(), [](const Class& a, const Class& b) { return a.name < b.name; });
  classes.erase(std::unique(classes.begin(), classes.end(), same), classes.end());
  table = {};
  const auto add = [this](uint32_t c) { table[c >> 6] |= uint64_t{1} << (c & 63); };
  for (const auto& [low, high] : ranges) {
    for (uint32_t c = low; c <= high && c < 256; ++c) add(c);
  }
  for (const Class& k : classes) {
    for (uint32_t c = 0; c < 256; ++c) {
      if (InClass(c, k.name, k.ascii)) add(c);
    }
  }
  for (uint64_t& word : table) word = negated ? ~word : word;
}

bool Regex::Matches(const RegexInstruction& in, uint32_t c) const {
  switch (in.op) {
    case Op::kCharacter: return (in.ignore_case ? RegexFolded(c, in.ascii) : c) == static_cast<uint32_t>(in.a);
    case Op::kNotCharacter: return (in.ignore_case ? RegexFolded(c, in.ascii) : c) != static_cast<uint32_t>(in.a);
    case Op::kSet: {
      const CharacterSet& set = sets_[static_cast<size_t>(in.a)];
      if (!in.ignore_case) return set.Contains(c);
      // Case is ignored: a negated set contains the character only if it contains both cases.
      bool lower = set.Contains(RegexFolded(c, in.ascii));
      bool upper = set.Contains(in.ascii && c >= 0x80 ? c : SimpleCase(CaseKind::kUpper, c));
      return set.negated ? lower && upper : lower || upper;
    }
    case Op::kAny: return c != '\n';
    default: return true;
  }
}

// One attempt to match. Everything that backtracking must restore is in `registers_`: capture
// slots, the last group, and for each loop its count and the start of its last iteration. A change
// pushes the old value, a choice pushes the position at which to resume; a failure pops.
class RegexMatcher {
 public:
  RegexMatcher(const Regex& regex, Regex::Text text, int64_t end, bool full, int64_t reject_empty_at, int64_t* steps)
      : regex_(regex), text_(text), end_(end), full_(full), reject_empty_at_(reject_empty_at), steps_(*steps) {
    slots_ = 2 * static_cast<size_t>(regex.groups_ + 1);
    registers_.resize(slots_ + 1 + 2 * static_cast<size_t>(regex.loops_));
  }

  Regex::Outcome At(int64_t start) {
    std::fill(registers_.begin(), registers_.end(), -1);
    steps_ -= static_cast<int64_t>(registers_.size()) / 64;
    stack_.clear();
    start_ = start;
    registers_[0] = start;
    bool matched = Run(0, start, /*outermost=*/true);
    if (steps_ <= 0) return Regex::Outcome::kTooLong;
    if (!matched) return Regex::Outcome::kNo;
    registers_[1] = matched_end_;
    return Regex::Outcome::kYes;
  }
  std::vector<int64_t> Spans() const {
    return std::vector<int64_t>(registers_.begin(), registers_.begin() + static_cast<int64_t>(slots_));
  }
  int last_group() const { return static_cast<int>(registers_[slots_]); }

 private:
  struct Entry {
    enum class What : uint8_t { kRestore, kBranch, kShrink, kGrow };
    What what;
    int64_t index;      // kRestore: of the register; otherwise of the instruction
    int64_t value;      // kRestore: of the register; otherwise the position
    int64_t limit = 0;  // of a one-character repetition: its least position, or its greatest
  };

  void Set(size_t index, int64_t value) {
    stack_.push_back({Entry::What::kRestore, static_cast<int64_t>(index), registers_[index]});
    registers_[index] = value;
  }
  size_t Counter(int64_t loop) const { return slots_ + 1 + 2 * static_cast<size_t>(loop); }

  bool AtWordBoundary(int64_t at, bool ascii) const {
    bool before = at > 0 && IsWord(text_[at - 1], ascii);
    bool after = at < end_ && IsWord(text_[at], ascii);
    return before != after;
  }
  bool PositionHolds(const RegexInstruction& in, int64_t at) const {
    switch (in.op) {
      case Op::kStart: return at == 0;
      case Op::kLineStart: return at == 0 || text_[at - 1] == '\n';
      case Op::kEnd: return at == end_ || (at + 1 == end_ && text_[at] == '\n');
      case Op::kLineEnd: return at == end_ || text_[at] == '\n';
      case Op::kTextEnd: return at == end_;
      case Op::kWordBoundary: return AtWordBoundary(at, in.ascii);
      default: return !AtWordBoundary(at, in.ascii);
    }
  }
  bool BackReference(const RegexInstruction& in, int64_t* at) const {
    int64_t begin = registers_[2 * static_cast<size_t>(in.a)], end = registers_[2 * static_cast<size_t>(in.a) + 1];
    if (begin < 0 || end < begin || end - begin > end_ - *at) return false;
    const int64_t from = *at;
    bool same = true;
    for (int64_t i = begin; i < end && same; ++i, ++*at) {
      uint32_t a = text_[i], b = text_[*at];
      same = in.ignore_case ? RegexFolded(a, in.ascii) == RegexFolded(b, in.ascii) : a == b;
    }
    steps_ -= (*at - from) / (in.ignore_case ? 1 : 8);
    return same;
  }

  // Matches a body on its own: look-around, atomic groups. If it matches, it keeps its captures but
  // not its choices.
  bool Inner(int64_t pc, int64_t at, int64_t* end) {
    size_t base = stack_.size();
    bool matched = Run(pc, at, /*outermost=*/false);
    if (!matched) return false;
    *end = matched_end_;
    size_t keep = base;
    for (size_t i = base; i < stack_.size(); ++i) {
      if (stack_[i].what == Entry::What::kRestore) stack_[keep++] = stack_[i];
    }
    stack_.resize(keep);
    return true;
  }
  void Unwind(size_t base) {
    while (stack_.size() > base) {
      if (stack_.back().what == Entry::What::kRestore)
        registers_[static_cast<size_t>(stack_.back().index)] = stack_.back().value;
      stack_.pop_back();
    }
  }

  // Runs up to kAccept; false when every choice made since the call has failed.
  bool Run(int64_t pc, int64_t at, bool outermost) {
    size_t base = stack_.size();
    while (true) {
      if (--steps_ <= 0) return false;
      if (stack_.size() > kMaxStack) return steps_ = 0, false;
      const RegexInstruction& in = regex_.program_[static_cast<size_t>(pc)];
      bool ok = true;
      switch (in.op) {
        case Op::kCharacter:
        case Op::kNotCharacter:
        case Op::kSet:
        case Op::kAny:
        case Op::kAnyAll:
          ok = at < end_ && regex_.Matches(in, text_[at]);
          ++at;
          ++pc;
          break;
        case Op::kSplit:
          stack_.push_back({Entry::What::kBranch, in.b, at});
          pc = in.a;
          break;
        case Op::kJump: pc = in.a; break;
        case Op::kSave:
          Set(static_cast<size_t>(in.a), at);
          if (in.a & 1) Set(slots_, in.a / 2);
          ++pc;
          break;
        case Op::kBackReference:
          ok = BackReference(in, &at);
          ++pc;
          break;
        case Op::kLook: ok = Look(in, &pc, at); break;
        case Op::kAtomic: {
          ok = Inner(pc + 1, at, &at);
          pc = in.b;
          break;
        }
        case Op::kConditional: pc = registers_[2 * static_cast<size_t>(in.a) + 1] >= 0 ? pc + 1 : in.b; break;
        case Op::kRepeatOne: ok = RepeatOne(in, &pc, &at); break;
        case Op::kLoopStart:
          Set(Counter(in.a), 0);
          Set(Counter(in.a) + 1, -1);
          ++pc;
          break;
        case Op::kLoop: Loop(in, &pc, at); break;
        case Op::kFail: ok = false; break;
        case Op::kAccept:
          ok = !outermost || ((!full_ || at == end_) && !(at == start_ && start_ == reject_empty_at_));
          if (ok) {
            matched_end_ = at;
            return true;
          }
          break;
        default: ok = PositionHolds(in, at); ++pc;
      }
      if (!ok && !Backtrack(base, &pc, &at)) return false;
    }
  }

  bool Backtrack(size_t base, int64_t* pc, int64_t* at) {
    while (stack_.size() > base) {
      Entry& e = stack_.back();
      switch (e.what) {
        case Entry::What::kRestore:
          registers_[static_cast<size_t>(e.index)] = e.value;
          stack_.pop_back();
          continue;
        case Entry::What::kBranch:
          *pc = e.index;
          *at = e.value;
          stack_.pop_back();
          return true;
        case Entry::What::kShrink:
          if (--steps_ <= 0) return false;
          *pc = e.index;
          *at = --e.value;
          if (e.value <= e.limit) stack_.pop_back();
          return true;
        case Entry::What::kGrow: {
          if (--steps_ <= 0) return false;
          // The instruction before the continuation is the repeated one.
          const RegexInstruction& body = regex_.program_[static_cast<size_t>(e.index - 1)];
          if (e.value >= e.limit || !regex_.Matches(body, text_[e.value])) {
            stack_.pop_back();
            continue;
          }
          *pc = e.index;
          *at = ++e.value;
          return true;
        }
      }
    }
    return false;
  }

  bool Look(const RegexInstruction& in, int64_t* pc, int64_t at) {
    int64_t from = in.a > 0 ? at : at - in.min, end = 0;
    size_t base = stack_.size();
    int64_t body = *pc + 1;
    *pc = in.b;
    bool matched = from >= 0 && Inner(body, from, &end);
    if (!in.negated) return matched;
    if (matched) Unwind(base);
    return !matched;
  }

  bool RepeatOne(const RegexInstruction& in, int64_t* pc, int64_t* at) {
    const RegexInstruction& body = regex_.program_[static_cast<size_t>(*pc + 1)];
    int64_t most = in.max < 0 || in.max > end_ - *at ? end_ : *at + in.max;
    int64_t least = *at + in.min, p = *at;
    *pc = in.b;
    int64_t until = in.kind == RepeatKind::kLazy ? std::min(least, most) : most;
    while (p < until && regex_.Matches(body, text_[p])) ++p;
    steps_ -= (p - *at) / (body.ignore_case ? 1 : 4);
    if (p < least) return false;
    *at = p;
    if (in.kind == RepeatKind::kLazy) {
      if (p < most) stack_.push_back({Entry::What::kGrow, in.b, p, most});
    } else if (in.kind == RepeatKind::kGreedy && p > least) {
      stack_.push_back({Entry::What::kShrink, in.b, p, least});
    }
    return true;
  }

  void Loop(const RegexInstruction& in, int64_t* pc, int64_t at) {
    size_t count = Counter(in.a);
    int64_t done = registers_[count], begun_at = registers_[count + 1];
    int64_t after = *pc + 1;
    auto turn = [&] {
      Set(count, done + 1);
      if (done >= in.min) Set(count + 1, at);
      *pc = in.b;
    };
    if (done < in.min) return turn();
    // Beyond the minimum number of iterations, an iteration that consumed nothing is the last.
    bool may = (in.max < 0 || done < in.max) && at != begun_at;
    if (!may) {
      *pc = after;
    } else if (in.kind == RepeatKind::kLazy) {
      PushLazyTurn(in, count, done, at);
      *pc = after;
    } else {
      stack_.push_back({Entry::What::kBranch, after, at});
      turn();
    }
  }
  // The code after the loop is tried first, then the body. The counters are set for the body; above
  // the body's branch on the stack, they are restored for the code after the loop.
  void PushLazyTurn(const RegexInstruction& in, size_t count, int64_t done, int64_t at) {
    int64_t old_count = registers_[count], old_begun = registers_[count + 1];
    Set(count, done + 1);
    Set(count + 1, at);
    stack_.push_back({Entry::What::kBranch, in.b, at});
    Set(count, old_count);
    Set(count + 1, old_begun);
  }

  const Regex& regex_;
  Regex::Text text_;
  int64_t end_;
  bool full_;
  int64_t reject_empty_at_;
  int64_t& steps_;
  int64_t start_ = 0, matched_end_ = 0;
  size_t slots_ = 0;
  std::vector<int64_t> registers_;
  std::vector<Entry> stack_;
};

// The first position from `at` on where a match can begin; `end` if there is none.
int64_t Regex::NextStart(Text text, int64_t at, int64_t end) const {
  if (text.narrow != nullptr && !prefix_.empty()) {
    const absl::string_view rest(reinterpret_cast<const char*>(text.narrow) + at, static_cast<size_t>(end - at));
    const size_t found = rest.find(prefix_);
    return found == absl::string_view::npos ? end : at + static_cast<int64_t>(found);
  }
  while (at < end && !MayBeginWith(text[at])) ++at;
  return at;
}

bool Regex::BeginsWithPrefix(Text text, int64_t at, int64_t end) const {
  if (text.narrow == nullptr) return at < end && MayBeginWith(text.wide[at]);
  const auto size = static_cast<int64_t>(prefix_.size());
  if (size == 0) return at < end && MayBeginWith(text.narrow[at]);
  return end - at >= size && std::memcmp(text.narrow + at, prefix_.data(), prefix_.size()) == 0;
}

Regex::Outcome Regex::Match(Text text, int64_t start, int64_t end, Anchor anchor, bool must_advance,
                            std::vector<int64_t>* spans, int* last_group, int64_t* steps) const {
  const bool search = anchor == Anchor::kSearch;
  if (!search && first_known_ && !BeginsWithPrefix(text, start, end)) return Outcome::kNo;
  RegexMatcher matcher(*this, text, end, anchor == Anchor::kFullMatch, must_advance ? start : -1, steps);
  for (int64_t at = start; at <= end; ++at) {
    if (search && first_known_) {
      const int64_t from = at;
      at = NextStart(text, at, end);
      *steps -= text.narrow != nullptr ? (at - from) / 3 : 2 * (at - from);
      if (*steps <= 0) return Outcome::kTooLong;
      if (at == end) break;
    }
    Outcome outcome = matcher.At(at);
    if (outcome == Outcome::kYes) {
      *spans = matcher.Spans();
      *last_group = matcher.last_group();
    }
    if (outcome != Outcome::kNo || !search) return outcome;
  }
  return Outcome::kNo;
}

}  // namespace cobra::python

// From the tree to instructions, and the matcher that runs them.
#include "frontend/python/runtime/regex.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/character.h"
#include "frontend/python/runtime/regex_parse.h"

namespace cobra::python {
namespace {

using Op = RegexInstruction::Op;
using RepeatKind = RegexInstruction::Kind;
using Node = RegexNode;

constexpr size_t kMaxStack = 1 << 20;          // choices and old values, 32 bytes each
constexpr size_t kMaxInstructions = 100'000;  // repetitions are loops, so a program is about as long as its pattern

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
uint32_t Folded(uint32_t c, bool ascii) {
  if (ascii && c >= 0x80) return c;
  return SimpleCase(CaseKind::kLower, c);
}

// What a sequence matches in length: [min, max], max < 0 if it has no bound.
struct Width {
  int64_t min = 0, max = 0;
};
Width WidthOf(const std::vector<Node>& items);
Width WidthOf(const Node& n) {
  switch (n.kind) {
    case Node::Kind::kCharacter:
    case Node::Kind::kNotCharacter:
    case Node::Kind::kSet:
    case Node::Kind::kAny: return {1, 1};
    case Node::Kind::kAt:
    case Node::Kind::kLook: return {0, 0};
    case Node::Kind::kBackReference: return {0, -1};
    case Node::Kind::kGroup:
    case Node::Kind::kAtomic: return WidthOf(n.branches[0]);
    case Node::Kind::kBranch:
    case Node::Kind::kConditional: {
      Width w{INT64_MAX, 0};
      for (const auto& branch : n.branches) {
        Width b = WidthOf(branch);
        w.min = std::min(w.min, b.min);
        w.max = w.max < 0 || b.max < 0 ? -1 : std::max(w.max, b.max);
      }
      return w;
    }
    case Node::Kind::kRepeat: {
      Width w = WidthOf(n.branches[0]);
      constexpr int64_t kMost = 1'000'000;
      int64_t max = w.max == 0 ? 0 : w.max < 0 || n.max < 0 ? -1 : std::min(w.max, kMost) * std::min(n.max, kMost);
      return {std::min(w.min, kMost) * std::min(n.min, kMost), max};
    }
  }
  return {0, -1};
}
Width WidthOf(const std::vector<Node>& items) {
  Width total;
  for (const Node& n : items) {
    Width w = WidthOf(n);
    total.min += w.min;
    total.max = total.max < 0 || w.max < 0 ? -1 : total.max + w.max;
  }
  return total;
}

}  // namespace

bool CharacterSet::Contains(uint32_t c) const {
  for (const auto& [low, high] : ranges) {
    if (c >= low && c <= high) return !negated;
  }
  for (const Class& k : classes) {
    if (InClass(c, k.name, k.ascii)) return !negated;
  }
  return negated;
}

class RegexCompiler {
 public:
  RegexCompiler(Regex* regex, RegexError* error) : regex_(*regex), error_(error) {}

  bool Compile(const RegexTree& tree) {
    regex_.flags_ = tree.flags;
    regex_.groups_ = tree.groups;
    regex_.names_ = tree.names;
    if (!Sequence(tree.items, tree.flags)) return false;
    Add(Op::kAccept);
    if (!tree.items.empty() && tree.items[0].kind == Node::Kind::kCharacter && !(tree.flags & kIgnoreCase)) {
      regex_.first_character_ = tree.items[0].character;
    }
    return true;
  }

 private:
  size_t Here() const { return regex_.program_.size(); }
  RegexInstruction& At(size_t i) { return regex_.program_[i]; }
  size_t Add(Op op, int64_t a = 0) {
    RegexInstruction in;
    in.op = op;
    in.a = a;
    regex_.program_.push_back(in);
    return Here() - 1;
  }
  static bool IsAscii(int flags) { return (flags & kUnicode) == 0; }

  bool Sequence(const std::vector<Node>& items, int flags) {
    for (const Node& n : items) {
      if (!One(n, flags)) return false;
      if (Here() > kMaxInstructions) {
        *error_ = {"the pattern is too large", -1};
        return false;
      }
    }
    return true;
  }

  void Single(const Node& n, int flags) {
    size_t i = 0;
    bool fold = (flags & kIgnoreCase) != 0;
    switch (n.kind) {
      case Node::Kind::kCharacter:
      case Node::Kind::kNotCharacter:
        i = Add(n.kind == Node::Kind::kCharacter ? Op::kCharacter : Op::kNotCharacter, fold ? Folded(n.character, IsAscii(flags)) : n.character);
        break;
      case Node::Kind::kSet: {
        CharacterSet set = n.set;
        for (auto& k : set.classes) k.ascii = IsAscii(flags);
        i = Add(Op::kSet, static_cast<int64_t>(regex_.sets_.size()));
        regex_.sets_.push_back(std::move(set));
        break;
      }
      default: i = Add((flags & kDotAll) ? Op::kAnyAll : Op::kAny);
    }
    At(i).ignore_case = fold;
    At(i).ascii = IsAscii(flags);
  }
  static bool IsSingle(const std::vector<Node>& items) {
    if (items.size() != 1) return false;
    Node::Kind k = items[0].kind;
    return k == Node::Kind::kCharacter || k == Node::Kind::kNotCharacter || k == Node::Kind::kSet || k == Node::Kind::kAny;
  }

  bool One(const Node& n, int flags) {
    switch (n.kind) {
      case Node::Kind::kCharacter:
      case Node::Kind::kNotCharacter:
      case Node::Kind::kSet:
      case Node::Kind::kAny: Single(n, flags); return true;
      case Node::Kind::kAt: Position(n.at, flags); return true;
      case Node::Kind::kGroup: return Group(n, flags);
      case Node::Kind::kBranch: return Branch(n, flags);
      case Node::Kind::kRepeat: return Repeat(n, flags);
      case Node::Kind::kBackReference: {
        size_t i = Add(Op::kBackReference, n.group);
        At(i).ignore_case = (flags & kIgnoreCase) != 0;
        At(i).ascii = IsAscii(flags);
        return true;
      }
      case Node::Kind::kLook: return Look(n, flags);
      case Node::Kind::kAtomic: {
        size_t i = Add(Op::kAtomic);
        if (!Sequence(n.branches[0], flags)) return false;
        Add(Op::kAccept);
        At(i).b = static_cast<int64_t>(Here());
        return true;
      }
      case Node::Kind::kConditional: {
        size_t i = Add(Op::kConditional, n.group);
        if (!Sequence(n.branches[0], flags)) return false;
        size_t jump = Add(Op::kJump);
        At(i).b = static_cast<int64_t>(Here());
        if (!Sequence(n.branches[1], flags)) return false;
        At(jump).a = static_cast<int64_t>(Here());
        return true;
      }
    }
    return false;
  }

  void Position(char at, int flags) {
    bool lines = (flags & kMultiLine) != 0;
    Op op = Op::kFail;
    switch (at) {
      case '^': op = lines ? Op::kLineStart : Op::kStart; break;
      case '$': op = lines ? Op::kLineEnd : Op::kEnd; break;
      case 'A': op = Op::kStart; break;
      case 'Z': op = Op::kTextEnd; break;
      case 'b': op = Op::kWordBoundary; break;
      default: op = Op::kNotWordBoundary;
    }
    At(Add(op)).ascii = IsAscii(flags);
  }

  bool Group(const Node& n, int flags) {
    if (n.add_flags & (kAscii | kLocale | kUnicode)) flags &= ~(kAscii | kLocale | kUnicode);
    flags = (flags | n.add_flags) & ~n.del_flags;
    if (n.group >= 0) Add(Op::kSave, 2 * n.group);
    if (!Sequence(n.branches[0], flags)) return false;
    if (n.group >= 0) Add(Op::kSave, 2 * n.group + 1);
    return true;
  }

  bool Branch(const Node& n, int flags) {
    std::vector<size_t> jumps;
    for (size_t i = 0; i < n.branches.size(); ++i) {
      bool last = i + 1 == n.branches.size();
      size_t split = last ? 0 : Add(Op::kSplit, static_cast<int64_t>(Here()) + 1);
      if (!Sequence(n.branches[i], flags)) return false;
      if (last) break;
      jumps.push_back(Add(Op::kJump));
      At(split).b = static_cast<int64_t>(Here());
    }
    for (size_t j : jumps) At(j).a = static_cast<int64_t>(Here());
    return true;
  }

  bool Repeat(const Node& n, int flags) {
    const auto& body = n.branches[0];
    if (IsSingle(body)) {
      size_t i = Add(Op::kRepeatOne);
      Single(body[0], flags);
      At(i).kind = n.repeat;
      At(i).min = n.min;
      At(i).max = n.max;
      At(i).b = static_cast<int64_t>(Here());
      return true;
    }
    bool possessive = n.repeat == RepeatKind::kPossessive;
    size_t atomic = possessive ? Add(Op::kAtomic) : 0;
    int counter = regex_.loops_++;
    Add(Op::kLoopStart, counter);
    size_t jump = Add(Op::kJump);
    size_t first = Here();
    if (!Sequence(body, flags)) return false;
    size_t loop = Add(Op::kLoop, counter);
    At(jump).a = static_cast<int64_t>(loop);
    At(loop).b = static_cast<int64_t>(first);
    At(loop).kind = n.repeat;
    At(loop).min = n.min;
    At(loop).max = n.max;
    if (possessive) {
      Add(Op::kAccept);
      At(atomic).b = static_cast<int64_t>(Here());
    }
    return true;
  }

  bool Look(const Node& n, int flags) {
    size_t i = Add(Op::kLook, n.behind ? -1 : 1);
    At(i).negated = n.negated;
    if (n.behind) {
      Width w = WidthOf(n.branches[0]);
      if (w.min != w.max) {
        *error_ = {"look-behind requires fixed-width pattern", -1};
        return false;
      }
      At(i).min = w.min;
    }
    if (!Sequence(n.branches[0], flags)) return false;
    Add(Op::kAccept);
    At(i).b = static_cast<int64_t>(Here());
    return true;
  }

  Regex& regex_;
  RegexError* error_;
};

std::unique_ptr<Regex> Regex::Compile(const std::vector<uint32_t>& pattern, int flags, bool bytes, RegexError* error) {
  RegexTree tree;
  if (!ParseRegex(pattern, flags, bytes, &tree, error)) return nullptr;
  std::unique_ptr<Regex> regex(new Regex());
  if (!RegexCompiler(regex.get(), error).Compile(tree)) return nullptr;
  return regex;
}

// One attempt. Everything that backtracking must restore is in `registers_`: capture slots, the last group, and for each loop its
// count and where its last turn began. A change pushes the old value, a choice pushes where to go on; failing pops.
class RegexMatcher {
 public:
  RegexMatcher(const Regex& regex, Regex::Text text, int64_t end, bool full, int64_t reject_empty_at, int64_t* steps)
      : regex_(regex), text_(text), end_(end), full_(full), reject_empty_at_(reject_empty_at), steps_(*steps) {
    slots_ = 2 * static_cast<size_t>(regex.groups_ + 1);
    registers_.resize(slots_ + 1 + 2 * static_cast<size_t>(regex.loops_));
  }

  Regex::Outcome At(int64_t start) {
    std::fill(registers_.begin(), registers_.end(), -1);
    stack_.clear();
    start_ = start;
    registers_[0] = start;
    bool matched = Run(0, start, /*outermost=*/true);
    if (steps_ <= 0) return Regex::Outcome::kTooLong;
    if (!matched) return Regex::Outcome::kNo;
    registers_[1] = matched_end_;
    return Regex::Outcome::kYes;
  }
  std::vector<int64_t> Spans() const { return std::vector<int64_t>(registers_.begin(), registers_.begin() + static_cast<int64_t>(slots_)); }
  int last_group() const { return static_cast<int>(registers_[slots_]); }

 private:
  struct Entry {
    enum class What : uint8_t { kRestore, kBranch, kShrink, kGrow };
    What what;
    int64_t index;     // of the register; of the instruction
    int64_t value;     // the register's; the position
    int64_t limit = 0; // of a one-character repetition: its least position, or its greatest
  };

  void Set(size_t index, int64_t value) {
    stack_.push_back({Entry::What::kRestore, static_cast<int64_t>(index), registers_[index]});
    registers_[index] = value;
  }
  size_t Counter(int64_t loop) const { return slots_ + 1 + 2 * static_cast<size_t>(loop); }

  bool Matches(const RegexInstruction& in, uint32_t c) const {
    switch (in.op) {
      case Op::kCharacter: return (in.ignore_case ? Folded(c, in.ascii) : c) == static_cast<uint32_t>(in.a);
      case Op::kNotCharacter: return (in.ignore_case ? Folded(c, in.ascii) : c) != static_cast<uint32_t>(in.a);
      case Op::kSet: {
        const CharacterSet& set = regex_.sets_[static_cast<size_t>(in.a)];
        if (!in.ignore_case) return set.Contains(c);
        // In any case: a negated set has the character only if it has both.
        bool lower = set.Contains(Folded(c, in.ascii));
        bool upper = set.Contains(in.ascii && c >= 0x80 ? c : SimpleCase(CaseKind::kUpper, c));
        return set.negated ? lower && upper : lower || upper;
      }
      case Op::kAny: return c != '\n';
      default: return true;
    }
  }
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
    for (int64_t i = begin; i < end; ++i, ++*at) {
      uint32_t a = text_[i], b = text_[*at];
      if (in.ignore_case ? Folded(a, in.ascii) != Folded(b, in.ascii) : a != b) return false;
    }
    return true;
  }

  // A body in a match of its own: look-around, atomic groups. What it captured stays if it matched; its choices do not.
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
      if (stack_.back().what == Entry::What::kRestore) registers_[static_cast<size_t>(stack_.back().index)] = stack_.back().value;
      stack_.pop_back();
    }
  }

  // Up to kAccept; false when every choice made since the call has failed.
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
          ok = at < end_ && Matches(in, text_[at]);
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
        default:
          ok = PositionHolds(in, at);
          ++pc;
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
          if (e.value >= e.limit || !Matches(body, text_[e.value])) {
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
    while (p < until && Matches(body, text_[p])) ++p;
    steps_ -= (p - *at) / 16;
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
    bool may = (in.max < 0 || done < in.max) && at != begun_at;  // of the turns past the least number, one that consumed nothing is the last
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
  // Going on comes first, the body after it: the counters are set for the body, and put back above its branch for going on.
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

Regex::Outcome Regex::Match(Text text, int64_t start, int64_t end, Anchor anchor, bool must_advance, std::vector<int64_t>* spans, int* last_group,
                            int64_t* steps) const {
  RegexMatcher matcher(*this, text, end, anchor == Anchor::kFullMatch, must_advance ? start : -1, steps);
  for (int64_t at = start; at <= end; ++at) {
    if (anchor == Anchor::kSearch && first_character_ >= 0) {
      while (at < end && text[at] != static_cast<uint32_t>(first_character_)) ++at;
      if (at == end) break;
    }
    Outcome outcome = matcher.At(at);
    if (outcome == Outcome::kYes) {
      *spans = matcher.Spans();
      *last_group = matcher.last_group();
    }
    if (outcome != Outcome::kNo || anchor != Anchor::kSearch) return outcome;
  }
  return Outcome::kNo;
}

}  // namespace cobra::python

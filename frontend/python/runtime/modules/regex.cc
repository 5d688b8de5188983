// Compiles the syntax tree of a pattern to instructions; regex_match.cc runs them.
#include "frontend/python/runtime/modules/regex.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/modules/regex_parse.h"

namespace cobra::python {
namespace {

using Op = RegexInstruction::Op;
using RepeatKind = RegexInstruction::Kind;
using Node = RegexNode;

constexpr size_t kMaxInstructions = 100'000;  // repetitions are loops, so a program is about as long as its pattern

// The lengths that a sequence can match: [min, max]; max < 0 if there is no upper bound.
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

class RegexCompiler {
 public:
  RegexCompiler(Regex* regex, RegexError* error) : regex_(*regex), error_(error) {}

  bool Compile(const RegexTree& tree) {
    regex_.flags_ = tree.flags;
    regex_.groups_ = tree.groups;
    regex_.names_ = tree.names;
    if (!Sequence(tree.items, tree.flags)) return false;
    Add(Op::kAccept);
    FindPrefix();
    FindFirst();
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
        i = Add(n.kind == Node::Kind::kCharacter ? Op::kCharacter : Op::kNotCharacter,
                fold ? RegexFolded(n.character, IsAscii(flags)) : n.character);
        break;
      case Node::Kind::kSet: {
        CharacterSet set = n.set;
        for (auto& k : set.classes) k.ascii = IsAscii(flags);
        set.FillTable();
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
    return k == Node::Kind::kCharacter || k == Node::Kind::kNotCharacter || k == Node::Kind::kSet ||
           k == Node::Kind::kAny;
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

  // The characters with which every match begins, in order.
  void FindPrefix() {
    for (const RegexInstruction& in : regex_.program_) {
      if (in.op == Op::kSave) continue;
      if (in.op != Op::kCharacter || in.ignore_case || in.a > 0xff) return;
      regex_.prefix_.push_back(static_cast<char>(in.a));
    }
  }

  // The characters with which a match may begin. They stay unknown if a match may be empty or if
  // the set is not obvious.
  void FindFirst() {
    std::vector<bool> seen(Here());
    std::vector<size_t> todo = {0};
    std::array<uint64_t, 4> narrow{};
    bool wide = false;
    constexpr int kMaxLeaves = 100;
    int leaves = 0;
    while (!todo.empty()) {
      const size_t pc = todo.back();
      todo.pop_back();
      if (seen[pc]) continue;
      seen[pc] = true;
      const RegexInstruction& in = At(pc);
      const auto go = [&todo](int64_t to) { todo.push_back(static_cast<size_t>(to)); };
      switch (in.op) {
        case Op::kCharacter:
        case Op::kNotCharacter:
        case Op::kSet:
        case Op::kAny:
        case Op::kAnyAll:
          if (++leaves > kMaxLeaves) return;
          for (uint32_t c = 0; c < 256; ++c) {
            if (regex_.Matches(in, c)) narrow[c >> 6] |= uint64_t{1} << (c & 63);
          }
          wide = wide || in.op != Op::kCharacter || in.ignore_case || in.a > 0xff;
          break;
        case Op::kRepeatOne:
          go(static_cast<int64_t>(pc) + 1);
          if (in.min == 0) go(in.b);
          break;
        case Op::kSplit:
          go(in.a);
          go(in.b);
          break;
        case Op::kJump: go(in.a); break;
        case Op::kLook: go(in.b); break;  // a look-around consumes nothing: the match begins with what follows it
        case Op::kConditional:
          go(static_cast<int64_t>(pc) + 1);
          go(in.b);
          break;
        case Op::kLoop:
          go(in.b);
          go(static_cast<int64_t>(pc) + 1);
          break;
        case Op::kFail: break;
        case Op::kAccept:  // also ends an atomic group, which begins with its content
        case Op::kBackReference: return;
        default: go(static_cast<int64_t>(pc) + 1);
      }
    }
    regex_.first_known_ = true;
    regex_.first_ = narrow;
    regex_.first_wide_ = wide;
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

int64_t Regex::memory_bytes() const {
  size_t bytes = sizeof(Regex) + program_.capacity() * sizeof(RegexInstruction) + prefix_.capacity();
  for (const CharacterSet& set : sets_) {
    bytes +=
        sizeof(set) + set.ranges.capacity() * sizeof(set.ranges[0]) + set.classes.capacity() * sizeof(set.classes[0]);
  }
  for (const auto& [name, group] : names_) bytes += sizeof(group) + sizeof(std::string) + name.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace cobra::python

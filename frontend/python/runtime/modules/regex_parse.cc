// Follows CPython's re/_parser.py, because programs see its messages and positions.
#include "frontend/python/runtime/modules/regex_parse.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/modules/regex_reader.h"
#include "frontend/python/runtime/types/character.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace {

using Node = RegexNode;
using Items = std::vector<Node>;

constexpr int kMaxNesting = 100;  // of groups: bounds the recursion of the parser and of look-around
constexpr int kTypeFlags = kAscii | kLocale | kUnicode;

int FlagOf(int64_t c) {
  switch (c) {
    case 'i': return kIgnoreCase;
    case 'L': return kLocale;
    case 'm': return kMultiLine;
    case 's': return kDotAll;
    case 'x': return kVerbose;
    case 'a': return kAscii;
    case 'u': return kUnicode;
    default: return 0;
  }
}

bool IsIdentifier(const std::string& s) {
  const char* p = s.data();
  const char* end = p + s.size();
  for (bool first = true; p < end; first = false) {
    int32_t c = ast::DecodeUtf8(&p, end);
    if (!(first ? ast::IsIdentifierStart(c) : ast::IsIdentifierContinue(c))) return false;
  }
  return !s.empty();
}

}  // namespace

class RegexParser : private RegexReader {
 public:
  RegexParser(const std::vector<uint32_t>& pattern, int flags, bool bytes, RegexTree* tree, RegexError* error)
      : RegexReader(pattern, bytes, error), tree_(tree) {
    tree_->flags = flags;
  }

  bool Parse() {
    open_.push_back(false);  // group 0
    if (!Alternatives((tree_->flags & kVerbose) != 0, 0, &tree_->items)) return false;
    if (!FixFlags()) return false;
    if (Next() != kEndOfPattern) return Fail("unbalanced parenthesis", 0);
    for (const auto& [group, position] : conditional_positions_) {
      if (group > tree_->groups) return FailAt(absl::StrCat("invalid group reference ", group), position);
    }
    return true;
  }

 private:
  bool FixFlags() {
    int& flags = tree_->flags;
    auto bad = [&](const char* message) {
      *error_ = {message, -1, true};
      return false;
    };
    if (!bytes_) {
      if (flags & kLocale) return bad("cannot use LOCALE flag with a str pattern");
      if (!(flags & kAscii)) {
        flags |= kUnicode;
      } else if (flags & kUnicode) {
        return bad("ASCII and UNICODE flags are incompatible");
      }
    } else {
      if (flags & kUnicode) return bad("cannot use UNICODE flag with a bytes pattern");
      if ((flags & kLocale) && (flags & kAscii)) return bad("ASCII and LOCALE flags are incompatible");
    }
    return true;
  }

  static Node Make(Node::Kind kind) {
    Node n;
    n.kind = kind;
    return n;
  }
  static Node Character(uint32_t c) {
    Node n = Make(Node::Kind::kCharacter);
    n.character = c;
    return n;
  }
  Node Class(char name) {
    Node n = Make(Node::Kind::kSet);
    n.set.classes.push_back({name, false});  // the compiler decides whether it is limited to ASCII
    return n;
  }

  // ---- the grammar ----
  bool Alternatives(bool verbose, int nesting, Items* out) {
    if (nesting > kMaxNesting) return Fail("the pattern is nested too deeply", 0);
    std::vector<Items> branches;
    do {
      branches.emplace_back();
      if (!Sequence(verbose, nesting + 1, nesting == 0 && branches.size() == 1, &branches.back())) return false;
      if (nesting == 0) verbose = (tree_->flags & kVerbose) != 0;
    } while (Take('|'));
    if (branches.size() == 1) {
      *out = std::move(branches[0]);
      return true;
    }
    Node n = Make(Node::Kind::kBranch);
    n.branches = std::move(branches);
    out->push_back(std::move(n));
    return true;
  }

  bool Sequence(bool verbose, int nesting, bool first, Items* out) {
    while (true) {
      int64_t c = Next();
      if (c == kEndOfPattern || c == '|' || c == ')') return true;
      ++at_;
      if (verbose && (c == ' ' || (c >= '\t' && c <= '\r'))) continue;
      if (verbose && c == '#') {
        while (Next() != kEndOfPattern && Next() != '\n') ++at_;
        if (Next() == '\n') ++at_;
        continue;
      }
      bool ok = true;
      switch (c) {
        case '\\': ok = Escape(out); break;
        case '[': ok = Set(out); break;
        case '*':
        case '+':
        case '?':
        case '{': ok = Repeat(static_cast<uint32_t>(c), out); break;
        case '.': out->push_back(Make(Node::Kind::kAny)); break;
        case '(': ok = Group(verbose, nesting, first, out, &verbose); break;
        case '^':
        case '$': At(static_cast<char>(c), out); break;
        default: out->push_back(Character(static_cast<uint32_t>(c)));
      }
      if (!ok) return false;
    }
  }

  void At(char name, Items* out) {
    out->push_back(Make(Node::Kind::kAt));
    out->back().at = name;
  }

  static bool IsClassName(int64_t c) { return c == 'd' || c == 'D' || c == 's' || c == 'S' || c == 'w' || c == 'W'; }

  bool Escape(Items* out) {
    int64_t begin = at_ - 1, c = Next();
    if (c == kEndOfPattern) return FailAt("bad escape (end of pattern)", begin);
    ++at_;
    if (c == 'A' || c == 'Z' || c == 'b' || c == 'B') return At(static_cast<char>(c), out), true;
    if (IsClassName(c)) return out->push_back(Class(static_cast<char>(c))), true;
    uint32_t value = 0;
    int common = CommonEscape(c, /*in_set=*/false, &value);
    if (common < 0) return false;
    if (common > 0) return out->push_back(Character(value)), true;
    if (c == '0') {
      for (int i = 0; i < 2 && IsOctal(Next()); ++i) ++at_;
      if (!OctalEscape(begin, &value)) return false;
      return out->push_back(Character(value)), true;
    }
    if (IsDigit(c)) return NumberEscape(begin, c, out);
    if (IsAsciiLetter(c)) return Fail(absl::StrCat("bad escape ", Text(begin, at_)), 2);
    out->push_back(Character(static_cast<uint32_t>(c)));
    return true;
  }
  // An octal escape or a reference to a group.
  bool NumberEscape(int64_t begin, int64_t c, Items* out) {
    if (IsDigit(Next())) {
      int64_t second = Next();
      ++at_;
      if (IsOctal(c) && IsOctal(second) && IsOctal(Next())) {
        ++at_;
        uint32_t value;
        if (!OctalEscape(begin, &value)) return false;
        return out->push_back(Character(value)), true;
      }
    }
    int group = std::stoi(Text(begin + 1, at_));
    if (group > tree_->groups) return Fail(absl::StrCat("invalid group reference ", group), at_ - begin - 1);
    return Reference(group, at_ - begin, out);
  }
  bool Reference(int group, int64_t back, Items* out) {
    if (open_[static_cast<size_t>(group)]) return Fail("cannot refer to an open group", back);
    if (!CheckLookBehind(group)) return false;
    out->push_back(Make(Node::Kind::kBackReference));
    out->back().group = group;
    return true;
  }
  bool CheckLookBehind(int group) {
    if (look_behind_groups_ < 0) return true;
    if (group > tree_->groups) return Fail(absl::StrCat("invalid group reference ", group), 0);
    if (group > look_behind_groups_) return Fail("cannot refer to group defined in the same lookbehind subpattern", 0);
    return true;
  }

  struct SetItem {
    bool is_class = false;
    char name = 0;
    uint32_t character = 0;
    std::string text;
  };
  bool SetEscape(SetItem* item) {
    int64_t begin = at_ - 1, c = Next();
    if (c == kEndOfPattern) return FailAt("bad escape (end of pattern)", begin);
    ++at_;
    item->text = Text(begin, at_);
    if (IsClassName(c)) {
      item->is_class = true;
      item->name = static_cast<char>(c);
      return true;
    }
    int common = CommonEscape(c, /*in_set=*/true, &item->character);
    if (common != 0) return common > 0;
    if (IsOctal(c)) {
      for (int i = 0; i < 2 && IsOctal(Next()); ++i) ++at_;
      return OctalEscape(begin, &item->character);
    }
    if (IsDigit(c) || IsAsciiLetter(c)) return Fail(absl::StrCat("bad escape ", item->text), 2);
    item->character = static_cast<uint32_t>(c);
    return true;
  }
  bool ReadSetItem(int64_t c, SetItem* item) {
    if (c == '\\') return SetEscape(item);
    item->character = static_cast<uint32_t>(c);
    AppendUtf8(&item->text, item->character);
    return true;
  }
  static void AddTo(CharacterSet* set, const SetItem& item) {
    if (item.is_class) {
      set->classes.push_back({item.name, false});
    } else {
      set->ranges.push_back({item.character, item.character});
    }
  }
  bool Set(Items* out) {
    int64_t here = at_ - 1;
    CharacterSet set;
    set.negated = Take('^');
    for (bool any = false;; any = true) {
      int64_t c = Next();
      if (c == kEndOfPattern) return FailAt("unterminated character set", here);
      ++at_;
      if (c == ']' && any) break;
      SetItem low;
      if (!ReadSetItem(c, &low)) return false;
      if (!Take('-')) {
        AddTo(&set, low);
        continue;
      }
      int64_t d = Next();
      if (d == kEndOfPattern) return FailAt("unterminated character set", here);
      ++at_;
      if (d == ']') {
        AddTo(&set, low);
        set.ranges.push_back({'-', '-'});
        break;
      }
      SetItem high;
      if (!ReadSetItem(d, &high)) return false;
      if (low.is_class || high.is_class || high.character < low.character) {
        return Fail(absl::StrCat("bad character range ", low.text, "-", high.text),
                    Length(low.text) + 1 + Length(high.text));
      }
      set.ranges.push_back({low.character, high.character});
    }
    if (set.classes.empty() && set.ranges.size() == 1 && set.ranges[0].first == set.ranges[0].second) {
      Node n = Make(set.negated ? Node::Kind::kNotCharacter : Node::Kind::kCharacter);
      n.character = set.ranges[0].first;
      out->push_back(n);
      return true;
    }
    out->push_back(Make(Node::Kind::kSet));
    out->back().set = std::move(set);
    return true;
  }

  // Reads {m,n} after its brace; *is_repeat is false if this is only a brace.
  bool Bounds(int64_t here, int64_t* min, int64_t* max, bool* is_repeat) {
    std::string low, high;
    while (IsDigit(Next())) low.push_back(static_cast<char>(pattern_[static_cast<size_t>(at_++)]));
    if (Take(',')) {
      while (IsDigit(Next())) high.push_back(static_cast<char>(pattern_[static_cast<size_t>(at_++)]));
    } else {
      high = low;
    }
    *is_repeat = Take('}');
    if (!*is_repeat) {
      at_ = here;
      return true;
    }
    if (low.size() > 9 || high.size() > 9) {
      *error_ = {"the repetition number is too large", -1, true};
      return false;
    }
    *min = low.empty() ? 0 : std::stoll(low);
    *max = high.empty() ? -1 : std::stoll(high);
    if (*max >= 0 && *max < *min) return Fail("min repeat greater than max repeat", at_ - here);
    return true;
  }
  bool Repeat(uint32_t c, Items* out) {
    int64_t here = at_, min = c == '+' ? 1 : 0, max = c == '?' ? 1 : -1;
    if (c == '{') {
      bool is_repeat = Next() != '}';
      if (is_repeat && !Bounds(here, &min, &max, &is_repeat)) return false;
      if (!is_repeat) {
        out->push_back(Character(c));
        return true;
      }
    }
    if (out->empty() || out->back().kind == Node::Kind::kAt) return FailAt("nothing to repeat", here - 1);
    if (out->back().kind == Node::Kind::kRepeat) return FailAt("multiple repeat", here - 1);
    Node n = Make(Node::Kind::kRepeat);
    n.min = min;
    n.max = max;
    n.branches.resize(1);
    n.branches[0].push_back(std::move(out->back()));
    n.repeat = Take('?')   ? RegexInstruction::Kind::kLazy
               : Take('+') ? RegexInstruction::Kind::kPossessive
                           : RegexInstruction::Kind::kGreedy;
    out->back() = std::move(n);
    return true;
  }

  bool GroupName(uint32_t terminator, std::string* name) {
    if (!Until(terminator, "group name", name)) return false;
    if (!IsIdentifier(*name))
      return Fail(absl::StrCat("bad character in group name ", QuotedStr(*name)), Length(*name) + 1);
    return true;
  }
  int GroupNamed(const std::string& name) const {
    for (const auto& [known, group] : tree_->names) {
      if (known == name) return group;
    }
    return -1;
  }
  bool Close(int64_t start) {
    if (Take(')')) return true;
    return FailAt("missing ), unterminated subpattern", start);
  }

  // `*verbose_out` changes with a global (?x).
  bool Group(bool verbose, int nesting, bool first, Items* out, bool* verbose_out) {
    int64_t start = at_ - 1;
    if (!Take('?')) return Contents(start, verbose, nesting, /*captures=*/true, "", 0, 0, /*atomic=*/false, out);
    int64_t c = Next();
    if (c == kEndOfPattern) return Fail("unexpected end of pattern", 0);
    ++at_;
    switch (c) {
      case 'P': return PythonGroup(start, verbose, nesting, out);
      case ':': return Contents(start, verbose, nesting, false, "", 0, 0, false, out);
      case '>': return Contents(start, verbose, nesting, false, "", 0, 0, true, out);
      case '#':
        while (Next() != kEndOfPattern && Next() != ')') ++at_;
        if (Next() == kEndOfPattern) return FailAt("missing ), unterminated comment", start);
        ++at_;
        return true;
      case '=':
      case '!': return Look(start, verbose, nesting, /*behind=*/false, c == '!', out);
      case '<': {
        c = Next();
        if (c == kEndOfPattern) return Fail("unexpected end of pattern", 0);
        ++at_;
        if (c != '=' && c != '!') return Fail(absl::StrCat("unknown extension ?<", Text(at_ - 1, at_)), 3);
        return Look(start, verbose, nesting, /*behind=*/true, c == '!', out);
      }
      case '(': return Conditional(start, verbose, nesting, out);
      default: break;
    }
    if (FlagOf(c) == 0 && c != '-') return Fail(absl::StrCat("unknown extension ?", Text(at_ - 1, at_)), 2);
    int add = 0, del = 0;
    bool global = false;
    if (!InlineFlags(c, &add, &del, &global)) return false;
    if (!global) return Contents(start, verbose, nesting, false, "", add, del, false, out);
    if (!first || !out->empty()) return FailAt("global flags not at the start of the expression", start);
    *verbose_out = (tree_->flags & kVerbose) != 0;
    return true;
  }

  bool PythonGroup(int64_t start, bool verbose, int nesting, Items* out) {
    std::string name;
    if (Take('<')) return GroupName('>', &name) && Contents(start, verbose, nesting, true, name, 0, 0, false, out);
    if (Take('=')) {
      if (!GroupName(')', &name)) return false;
      int group = GroupNamed(name);
      if (group < 0) return Fail(absl::StrCat("unknown group name ", QuotedStr(name)), Length(name) + 1);
      return Reference(group, Length(name) + 1, out);
    }
    if (Next() == kEndOfPattern) return Fail("unexpected end of pattern", 0);
    ++at_;
    return Fail(absl::StrCat("unknown extension ?P", Text(at_ - 1, at_)), 3);
  }

  bool Look(int64_t start, bool verbose, int nesting, bool behind, bool negated, Items* out) {
    int outer = look_behind_groups_;
    if (behind && outer < 0) look_behind_groups_ = tree_->groups;
    Node n = Make(Node::Kind::kLook);
    n.behind = behind;
    n.negated = negated;
    n.branches.resize(1);
    if (!Alternatives(verbose, nesting, &n.branches[0])) return false;
    if (behind && outer < 0) look_behind_groups_ = -1;
    if (!Close(start)) return false;
    out->push_back(std::move(n));
    return true;
  }

  bool Conditional(int64_t start, bool verbose, int nesting, Items* out) {
    std::string name;
    if (!Until(')', "group name", &name)) return false;
    int group = -1;
    if (IsIdentifier(name)) {
      group = GroupNamed(name);
      if (group < 0) return Fail(absl::StrCat("unknown group name ", QuotedStr(name)), Length(name) + 1);
    } else {
      if (name.size() > 6 || !std::all_of(name.begin(), name.end(), [](char c) { return IsDigit(c); })) {
        return Fail(absl::StrCat("bad character in group name ", QuotedStr(name)), Length(name) + 1);
      }
      group = std::stoi(name);
      if (group == 0) return Fail("bad group number", Length(name) + 1);
      conditional_positions_.emplace(group, at_ - Length(name) - 1);
    }
    if (!CheckLookBehind(group)) return false;
    Node n = Make(Node::Kind::kConditional);
    n.group = group;
    n.branches.resize(2);
    if (!Sequence(verbose, nesting + 1, false, &n.branches[0])) return false;
    if (Take('|')) {
      if (!Sequence(verbose, nesting + 1, false, &n.branches[1])) return false;
      if (Next() == '|') return Fail("conditional backref with more than two branches", 0);
    }
    if (!Close(start)) return false;
    out->push_back(std::move(n));
    return true;
  }

  bool InlineFlags(int64_t c, int* add, int* del, bool* global) {
    auto unknown = [&](int64_t got, const char* otherwise) {
      return Fail(got != kEndOfPattern && HasProperty(static_cast<uint32_t>(got), kAlpha) ? "unknown flag" : otherwise,
                  1);
    };
    if (c != '-') {
      while (true) {
        int flag = FlagOf(c);
        if (!bytes_ && c == 'L') return Fail("bad inline flags: cannot use 'L' flag with a str pattern", 0);
        if (bytes_ && c == 'u') return Fail("bad inline flags: cannot use 'u' flag with a bytes pattern", 0);
        *add |= flag;
        if ((flag & kTypeFlags) && (*add & kTypeFlags) != flag)
          return Fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible", 0);
        c = Next();
        if (c == kEndOfPattern) return Fail("missing -, : or )", 0);
        ++at_;
        if (c == ')' || c == '-' || c == ':') break;
        if (FlagOf(c) == 0) return unknown(c, "missing -, : or )");
      }
    }
    if (c == ')') {
      tree_->flags |= *add;
      *global = true;
      return true;
    }
    if (c == '-') {
      c = Next();
      if (c == kEndOfPattern) return Fail("missing flag", 0);
      ++at_;
      if (FlagOf(c) == 0) return unknown(c, "missing flag");
      while (true) {
        int flag = FlagOf(c);
        if (flag & kTypeFlags) return Fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", 0);
        *del |= flag;
        c = Next();
        if (c == kEndOfPattern) return Fail("missing :", 0);
        ++at_;
        if (c == ':') break;
        if (FlagOf(c) == 0) return unknown(c, "missing :");
      }
    }
    if (*add & *del) return Fail("bad inline flags: flag turned on and off", 1);
    return true;
  }

  bool Contents(int64_t start, bool verbose, int nesting, bool captures, const std::string& name, int add, int del,
                bool atomic, Items* out) {
    Node n = Make(atomic ? Node::Kind::kAtomic : Node::Kind::kGroup);
    n.add_flags = add;
    n.del_flags = del;
    if (captures) {
      n.group = ++tree_->groups;
      open_.push_back(true);
      if (!name.empty()) {
        int known = GroupNamed(name);
        if (known >= 0) {
          return Fail(absl::StrCat("redefinition of group name ", QuotedStr(name), " as group ", n.group,
                                   "; was group ", known),
                      Length(name) + 1);
        }
        tree_->names.emplace_back(name, n.group);
      }
    }
    n.branches.resize(1);
    bool sub_verbose = (verbose || (add & kVerbose)) && !(del & kVerbose);
    if (!Alternatives(sub_verbose, nesting, &n.branches[0])) return false;
    if (!Close(start)) return false;
    if (captures) open_[static_cast<size_t>(n.group)] = false;
    bool plain = !captures && !atomic && add == 0 && del == 0;
    // A group without effect that holds one item is replaced by the item; a following repetition
    // still means the same.
    if (plain && n.branches[0].size() == 1 && n.branches[0][0].kind != Node::Kind::kRepeat &&
        n.branches[0][0].kind != Node::Kind::kAt) {
      Node only = std::move(n.branches[0][0]);
      out->push_back(std::move(only));
      return true;
    }
    out->push_back(std::move(n));
    return true;
  }

  RegexTree* tree_;
  std::vector<bool> open_;
  int look_behind_groups_ = -1;  // groups that existed when the outermost look-behind began
  std::map<int, int64_t> conditional_positions_;
};

bool ParseRegex(const std::vector<uint32_t>& pattern, int flags, bool bytes, RegexTree* tree, RegexError* error) {
  return RegexParser(pattern, flags, bytes, tree, error).Parse();
}

}  // namespace cobra::python

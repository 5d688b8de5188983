// str: stripping, splitting, joining.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/types/character.h"

namespace cobra::python {
namespace {

StrObject* Self(const CallArgs& args) { return args.self.as<StrObject>(); }

// Whether a blank (of any script) begins at `at`; *size is its size in bytes.
bool IsSpaceAt(absl::string_view s, size_t at, size_t* size) {
  auto c = static_cast<unsigned char>(s[at]);
  *size = 1;
  if (c < 0x80) return absl::ascii_isspace(c) || (c >= 0x1c && c <= 0x1f);
  if ((c & 0xc0) == 0x80) return false;  // inside a character
  int64_t end = static_cast<int64_t>(at);
  uint32_t code = DecodeUtf8(s.data(), &end);
  *size = static_cast<size_t>(end) - at;
  return HasProperty(code, kSpace);
}
// Whether a blank ends before `end`.
bool IsSpaceBefore(absl::string_view s, size_t end, size_t* size) {
  size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(s[begin]) & 0xc0) == 0x80) --begin;
  bool is = IsSpaceAt(s, begin, size);
  *size = end - begin;
  return is;
}

enum class Side { kBoth, kLeft, kRight };
template <Side side>
Result<Value> Strip(Interpreter& interp, const CallArgs& args) {
  std::optional<absl::string_view> chars;
  COBRA_TRY(ArgReader(interp, "strip", args).Optional("chars", &chars).Finish());
  absl::string_view s = Self(args)->view();
  auto strips = [&](absl::string_view c) {
    size_t size;
    return chars.has_value() ? chars->find(c) != absl::string_view::npos : IsSpaceAt(c, 0, &size);
  };
  if (side != Side::kRight) {
    while (!s.empty()) {
      int64_t at = 0;
      DecodeUtf8(s.data(), &at);
      if (!strips(s.substr(0, static_cast<size_t>(at)))) break;
      s.remove_prefix(static_cast<size_t>(at));
    }
  }
  if (side != Side::kLeft) {
    while (!s.empty()) {
      size_t begin = s.size() - 1;
      while (begin > 0 && (static_cast<unsigned char>(s[begin]) & 0xc0) == 0x80) --begin;
      if (!strips(s.substr(begin))) break;
      s.remove_suffix(s.size() - begin);
    }
  }
  if (s.size() == static_cast<size_t>(Self(args)->size) && Self(args)->cls == interp.types().str) return args.self;
  return Value(interp.NewStr(s));
}

std::vector<absl::string_view> SplitBlanks(absl::string_view s, int64_t limit) {
  std::vector<absl::string_view> parts;
  size_t at = 0, size;
  while (true) {
    while (at < s.size() && IsSpaceAt(s, at, &size)) at += size;
    if (at >= s.size()) return parts;
    if (limit >= 0 && static_cast<int64_t>(parts.size()) == limit) {
      size_t end = s.size();
      while (end > at && IsSpaceBefore(s, end, &size)) end -= size;
      parts.push_back(s.substr(at, end - at));
      return parts;
    }
    size_t begin = at;
    while (at < s.size() && !IsSpaceAt(s, at, &size)) ++at;
    parts.push_back(s.substr(begin, at - begin));
  }
}
std::vector<absl::string_view> RSplitBlanks(absl::string_view s, int64_t limit) {
  std::vector<absl::string_view> parts;
  size_t end = s.size(), size;
  while (true) {
    while (end > 0 && IsSpaceBefore(s, end, &size)) end -= size;
    if (end == 0) break;
    if (limit >= 0 && static_cast<int64_t>(parts.size()) == limit) {
      size_t begin = 0;
      while (begin < end && IsSpaceAt(s, begin, &size)) begin += size;
      parts.push_back(s.substr(begin, end - begin));
      break;
    }
    size_t begin = end;
    while (begin > 0 && !IsSpaceBefore(s, begin, &size)) begin -= size;
    parts.push_back(s.substr(begin, end - begin));
    end = begin;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

template <bool from_right>
Result<Value> Split(Interpreter& interp, const CallArgs& args) {
  std::optional<absl::string_view> separator;
  int64_t limit = -1;
  ArgReader reader(interp, from_right ? "rsplit" : "split", args);
  COBRA_TRY(reader.Optional("sep", &separator).Optional("maxsplit", &limit).Finish());
  absl::string_view s = Self(args)->view();
  std::vector<absl::string_view> parts;
  if (!separator.has_value()) {
    parts = from_right ? RSplitBlanks(s, limit) : SplitBlanks(s, limit);
  } else {
    if (separator->empty()) return interp.Raise(interp.types().ValueError, "empty separator");
    while (limit < 0 || static_cast<int64_t>(parts.size()) < limit) {
      size_t at = from_right ? s.rfind(*separator) : s.find(*separator);
      if (at == absl::string_view::npos) break;
      parts.push_back(from_right ? s.substr(at + separator->size()) : s.substr(0, at));
      s = from_right ? s.substr(0, at) : s.substr(at + separator->size());
    }
    parts.push_back(s);
    if (from_right) std::reverse(parts.begin(), parts.end());
  }
  ListObject* list = interp.NewList();
  for (absl::string_view p : parts) {
    COBRA_TRY(interp.Step());
    list->items.push_back(interp.heap(), interp.NewStr(p));
  }
  return Value(list);
}

Result<Value> SplitLines(Interpreter& interp, const CallArgs& args) {
  bool keep = false;
  COBRA_TRY(ArgReader(interp, "splitlines", args).Optional("keepends", &keep).Finish());
  absl::string_view s = Self(args)->view();
  ListObject* list = interp.NewList();
  while (!s.empty()) {
    COBRA_TRY(interp.Step());
    size_t end = s.find_first_of("\n\r\v\f\x1c\x1d\x1e");
    size_t line_end = end == absl::string_view::npos ? s.size() : end;
    size_t next = end == absl::string_view::npos ? s.size() : end + (s.substr(end, 2) == "\r\n" ? 2 : 1);
    list->items.push_back(interp.heap(), interp.NewStr(s.substr(0, keep ? next : line_end)));
    s.remove_prefix(next);
  }
  return Value(list);
}

Result<Value> Join(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "join", "iterable", args));
  if (!IsIterable(interp, items)) return interp.Raise(interp.types().TypeError, "can only join an iterable");
  std::string out;
  int64_t n = 0;
  absl::string_view separator = Self(args)->view();
  COBRA_TRY(interp.Iterate(items, [&](Value v) -> Result<bool> {
    if (!v.IsStr()) {
      return interp.Raise(interp.types().TypeError, "sequence item ", n, ": expected str instance, ",
                          interp.TypeName(v), " found");
    }
    if (n++ > 0) out.append(separator.data(), separator.size());
    out.append(v.str().data(), v.str().size());
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
    return true;
  }));
  return Value(interp.NewStr(out));
}

template <bool from_right>
Result<Value> Partition(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(absl::string_view separator, OnlyArgument<absl::string_view>(interp, "partition", "sep", args));
  if (separator.empty()) return interp.Raise(interp.types().ValueError, "empty separator");
  absl::string_view s = Self(args)->view();
  size_t at = from_right ? s.rfind(separator) : s.find(separator);
  if (at == absl::string_view::npos) {
    Value whole = interp.NewStr(s), empty = interp.NewStr("");
    return Value(from_right ? interp.NewTuple({empty, empty, whole}) : interp.NewTuple({whole, empty, empty}));
  }
  return Value(interp.NewTuple({Value(interp.NewStr(s.substr(0, at))), Value(interp.NewStr(separator)),
                                Value(interp.NewStr(s.substr(at + separator.size())))}));
}

}  // namespace

void AddStrSplitMethods(Interpreter& interp) {
  AddStrMethod(interp, "strip", Strip<Side::kBoth>, StrMethodCost::kNewString);
  AddStrMethod(interp, "lstrip", Strip<Side::kLeft>, StrMethodCost::kNewString);
  AddStrMethod(interp, "rstrip", Strip<Side::kRight>, StrMethodCost::kNewString);
  AddStrMethod(interp, "split", Split<false>, StrMethodCost::kNewString);
  AddStrMethod(interp, "rsplit", Split<true>, StrMethodCost::kNewString);
  AddStrMethod(interp, "splitlines", SplitLines, StrMethodCost::kNewString);
  AddStrMethod(interp, "join", Join, StrMethodCost::kNewString);
  AddStrMethod(interp, "partition", Partition<false>, StrMethodCost::kNewString);
  AddStrMethod(interp, "rpartition", Partition<true>, StrMethodCost::kNewString);
}

}  // namespace cobra::python

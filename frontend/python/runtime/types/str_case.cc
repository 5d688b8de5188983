// str: upper and lower case, and the character classes of a string.
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/types/character.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace {

StrObject* Self(const CallArgs& args) { return args.self.as<StrObject>(); }

bool IsUpper(uint32_t c) { return HasProperty(c, kUpperCase | kTitleCase); }
bool IsLower(uint32_t c) { return HasProperty(c, kLowerCase); }
bool IsCased(uint32_t c) { return HasProperty(c, kLowerCase | kUpperCase | kTitleCase); }

// Whether a capital sigma ends a word: there is a cased character before it and none after it,
// apart from case-ignorable characters between them.
bool IsFinalSigma(const std::vector<uint32_t>& text, size_t at) {
  size_t before = at;
  while (before > 0 && HasProperty(text[before - 1], kCaseIgnorable)) --before;
  if (before == 0 || !IsCased(text[before - 1])) return false;
  size_t after = at + 1;
  while (after < text.size() && HasProperty(text[after], kCaseIgnorable)) ++after;
  return after == text.size() || !IsCased(text[after]);
}

// Maps each character: `kind_of(character, is first, follows a cased character)` returns the kind
// of the mapping; -1 keeps the character.
template <typename F>
Result<Value> MapText(Interpreter& interp, StrObject* s, F kind_of) {
  std::string out;
  out.reserve(static_cast<size_t>(s->size));
  std::vector<uint32_t> text;
  for (int64_t at = 0; at < s->size;) text.push_back(DecodeUtf8(s->data, &at));
  bool after_cased = false;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t c = text[i];
    int kind = kind_of(c, i == 0, after_cased);
    if (kind < 0) {
      AppendUtf8(&out, c);
    } else if (c == 0x3a3 && kind == static_cast<int>(CaseKind::kLower)) {
      AppendUtf8(&out, IsFinalSigma(text, i) ? 0x3c2 : 0x3c3);
    } else {
      AppendCase(static_cast<CaseKind>(kind), c, &out);
    }
    after_cased = IsCased(c);
  }
  return Value(interp.NewStr(out));
}

template <uint16_t properties>
Result<Value> AllCharacters(Interpreter&, const CallArgs& args) {
  StrObject* s = Self(args);
  int64_t at = 0;
  bool all = s->size > 0;
  while (at < s->size && all) all = HasProperty(DecodeUtf8(s->data, &at), properties);
  return Value::Bool(all);
}

template <CaseKind kind>
Result<Value> Map(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t, bool, bool) { return static_cast<int>(kind); });
}
Result<Value> SwapCase(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t c, bool, bool) {
    if (HasProperty(c, kUpperCase)) return static_cast<int>(CaseKind::kLower);
    return HasProperty(c, kLowerCase) ? static_cast<int>(CaseKind::kUpper) : -1;
  });
}
Result<Value> Capitalize(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t, bool first, bool) {
    return static_cast<int>(first ? CaseKind::kTitle : CaseKind::kLower);
  });
}
Result<Value> Title(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t, bool, bool after_cased) {
    return static_cast<int>(after_cased ? CaseKind::kLower : CaseKind::kTitle);
  });
}
Result<Value> HasCase(const CallArgs& args, bool upper) {
  StrObject* s = Self(args);
  int64_t at = 0;
  bool any = false;
  while (at < s->size) {
    uint32_t c = DecodeUtf8(s->data, &at);
    if (upper ? IsLower(c) : IsUpper(c)) return Value::Bool(false);
    any |= upper ? IsUpper(c) : IsLower(c);
  }
  return Value::Bool(any);
}
Result<Value> IsTitle(Interpreter&, const CallArgs& args) {
  StrObject* s = Self(args);
  bool previous_cased = false, any = false;
  for (int64_t at = 0; at < s->size;) {
    uint32_t c = DecodeUtf8(s->data, &at);
    if (IsUpper(c)) {
      if (previous_cased) return Value::Bool(false);
      previous_cased = any = true;
    } else if (IsLower(c)) {
      if (!previous_cased) return Value::Bool(false);
    } else {
      previous_cased = false;
    }
  }
  return Value::Bool(any);
}
Result<Value> IsIdentifier(Interpreter&, const CallArgs& args) {
  StrObject* s = Self(args);
  bool ok = s->size > 0;
  for (int64_t at = 0; at < s->size && ok;) {
    bool first = at == 0;
    uint32_t c = DecodeUtf8(s->data, &at);
    ok = first ? ast::IsIdentifierStart(static_cast<int32_t>(c)) : ast::IsIdentifierContinue(static_cast<int32_t>(c));
  }
  return Value::Bool(ok);
}

}  // namespace

void AddStrCaseMethods(Interpreter& interp) {
  ClassObject* cls = interp.types().str;
  struct Entry {
    absl::string_view name;
    Result<Value> (*method)(Interpreter&, const CallArgs&);
  };
  const Entry methods[] = {
      {"lower", Map<CaseKind::kLower>},
      {"casefold", Map<CaseKind::kFold>},
      {"upper", Map<CaseKind::kUpper>},
      {"swapcase", SwapCase},
      {"capitalize", Capitalize},
      {"title", Title},
      {"isalpha", AllCharacters<kAlpha>},
      {"isalnum", AllCharacters<kAlpha | kDecimal | kDigit | kNumeric>},
      {"isdigit", AllCharacters<kDigit>},
      {"isdecimal", AllCharacters<kDecimal>},
      {"isnumeric", AllCharacters<kNumeric>},
      {"isspace", AllCharacters<kSpace>},
      {"isupper", [](Interpreter&, const CallArgs& a) { return HasCase(a, true); }},
      {"islower", [](Interpreter&, const CallArgs& a) { return HasCase(a, false); }},
      {"istitle", IsTitle},
      {"isidentifier", IsIdentifier},
  };
  for (const Entry& e : methods) {
    AddMethod(interp, cls, e.name, [method = e.method](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY(interp.Charge(Self(args)->size / 2));  // each character is looked up in tables
      return method(interp, args);
    });
  }
  AddMethod(interp, cls, "isascii",
            [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value::Bool(Self(args)->ascii); });
  AddMethod(interp, cls, "isprintable", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    StrObject* s = Self(args);
    COBRA_TRY(interp.Charge(s->size / 2));
    for (int64_t at = 0; at < s->size;) {
      if (!ast::IsPrintable(static_cast<int32_t>(DecodeUtf8(s->data, &at)))) return Value::Bool(false);
    }
    return Value::Bool(true);
  });
}

}  // namespace cobra::python

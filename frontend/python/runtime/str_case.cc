// str: upper and lower case, and what kind of characters a string has. ASCII in full; beyond it the case of Latin-1, Greek and Cyrillic.
#include "absl/strings/ascii.h"
#include "frontend/python/runtime/internal.h"

namespace cobra::python {
namespace {

StrObject* Self(const CallArgs& args) { return args.self.as<StrObject>(); }

uint32_t ToLower(uint32_t c) {
  if (c < 0x80) return static_cast<uint32_t>(absl::ascii_tolower(static_cast<unsigned char>(c)));
  if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f)) return c + 32;
  return c;
}
uint32_t ToUpper(uint32_t c) {
  if (c < 0x80) return static_cast<uint32_t>(absl::ascii_toupper(static_cast<unsigned char>(c)));
  if ((c >= 0xe0 && c <= 0xfe && c != 0xf7) || (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2) || (c >= 0x430 && c <= 0x44f)) return c - 32;
  return c;
}
bool IsUpper(uint32_t c) { return ToLower(c) != c; }
bool IsLower(uint32_t c) { return ToUpper(c) != c || c == 0xdf; }
bool IsAlpha(uint32_t c) {
  if (c < 0x80) return absl::ascii_isalpha(static_cast<unsigned char>(c));
  return c >= 0xc0 && c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c < 0x2c00) && !(c >= 0x3000 && c < 0x3040) && !(c >= 0x1f000);
}
bool IsDigit(uint32_t c) { return c < 0x80 && absl::ascii_isdigit(static_cast<unsigned char>(c)); }

template <typename F>
Result<Value> MapText(Interpreter& interp, StrObject* s, F f) {
  std::string out;
  out.reserve(static_cast<size_t>(s->size));
  int64_t at = 0;
  bool first = true, after_letter = false;
  while (at < s->size) {
    uint32_t c = DecodeUtf8(s->data, &at);
    AppendUtf8(&out, f(c, first, after_letter));
    after_letter = IsUpper(c) || IsLower(c) || IsAlpha(c);
    first = false;
  }
  return Value(interp.NewStr(out));
}

template <bool (*Test)(uint32_t)>
Result<Value> AllCharacters(Interpreter&, const CallArgs& args) {
  StrObject* s = Self(args);
  int64_t at = 0;
  bool all = s->size > 0;
  while (at < s->size && all) all = Test(DecodeUtf8(s->data, &at));
  return Value::Bool(all);
}
bool IsAlnum(uint32_t c) { return IsAlpha(c) || IsDigit(c); }
bool IsSpace(uint32_t c) { return c < 0x80 ? absl::ascii_isspace(static_cast<unsigned char>(c)) || (c >= 0x1c && c <= 0x1f) : c == 0x85 || c == 0xa0 || c == 0x3000; }

Result<Value> Lower(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t c, bool, bool) { return ToLower(c); });
}
Result<Value> Upper(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t c, bool, bool) { return ToUpper(c); });
}
Result<Value> SwapCase(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t c, bool, bool) { return IsUpper(c) ? ToLower(c) : ToUpper(c); });
}
Result<Value> Capitalize(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t c, bool first, bool) { return first ? ToUpper(c) : ToLower(c); });
}
Result<Value> Title(Interpreter& interp, const CallArgs& args) {
  return MapText(interp, Self(args), [](uint32_t c, bool, bool after_letter) { return after_letter ? ToLower(c) : ToUpper(c); });
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
    ok = c == '_' || IsAlpha(c) || (!first && IsDigit(c));
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
      {"lower", Lower}, {"casefold", Lower}, {"upper", Upper}, {"swapcase", SwapCase}, {"capitalize", Capitalize}, {"title", Title},
      {"isalpha", AllCharacters<IsAlpha>}, {"isalnum", AllCharacters<IsAlnum>}, {"isdigit", AllCharacters<IsDigit>},
      {"isdecimal", AllCharacters<IsDigit>}, {"isnumeric", AllCharacters<IsDigit>}, {"isspace", AllCharacters<IsSpace>},
      {"isupper", [](Interpreter&, const CallArgs& a) { return HasCase(a, true); }},
      {"islower", [](Interpreter&, const CallArgs& a) { return HasCase(a, false); }}, {"istitle", IsTitle}, {"isidentifier", IsIdentifier},
  };
  for (const Entry& e : methods) AddMethod(interp, cls, e.name, e.method);
  AddMethod(interp, cls, "isascii", [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value::Bool(Self(args)->ascii); });
  AddMethod(interp, cls, "isprintable", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    for (char c : Self(args)->view()) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return Value::Bool(false);
    }
    return Value::Bool(true);
  });
}

}  // namespace cobra::python

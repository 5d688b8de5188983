// bytes.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

namespace {

// Decodes bytes as Latin-1, so that methods that only move characters can use the implementation of
// str.
StrObject* AsLatin1(Interpreter& interp, absl::string_view bytes) {
  std::string out;
  for (char c : bytes) AppendUtf8(&out, static_cast<unsigned char>(c));
  return interp.NewStr(out);
}
Result<Value> ToLatin1(Interpreter& interp, Value v) {
  if (v.IsBytes()) {
    COBRA_TRY(interp.Charge(1 + StepsToScan(v.as<BytesObject>()->view().size())));
    return Value(AsLatin1(interp, v.as<BytesObject>()->view()));
  }
  if (v.IsTuple()) {
    COBRA_TRY(interp.Charge(v.as<TupleObject>()->size));
    TupleObject* t = interp.NewTupleOfSize(v.as<TupleObject>()->size);
    for (int64_t i = 0; i < t->size; ++i) COBRA_TRY_SET(t->items[i], ToLatin1(interp, v.as<TupleObject>()->items[i]));
    return Value(t);
  }
  if (v.IsStr()) return interp.Raise(interp.types().TypeError, "a bytes-like object is required, not 'str'");
  return v;
}
Result<Value> FromLatin1(Interpreter& interp, Value v) {
  if (v.IsStr()) return EncodeText(interp, v.as<StrObject>(), "latin-1", "strict");
  COBRA_TRY(interp.Step());
  if (v.IsTuple()) {
    TupleObject* t = interp.NewTupleOfSize(v.as<TupleObject>()->size);
    for (int64_t i = 0; i < t->size; ++i) COBRA_TRY_SET(t->items[i], FromLatin1(interp, v.as<TupleObject>()->items[i]));
    return Value(t);
  }
  if (v.IsList()) {
    for (Value& item : v.as<ListObject>()->items) {
      COBRA_TRY(interp.Step());
      COBRA_TRY_SET(item, FromLatin1(interp, item));
    }
  }
  return v;
}
void AddMethodOfStr(Interpreter& interp, ClassObject* cls, absl::string_view name) {
  StrObject* key = interp.Intern(name);
  AddMethod(interp, cls, name, [key](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<Value> positional;
    for (Value v : args.positional) {
      COBRA_TRY_ASSIGN(Value converted, ToLatin1(interp, v));
      positional.push_back(converted);
    }
    absl::string_view name = key->view();
    bool strips = name == "strip" || name == "lstrip" || name == "rstrip";
    if (strips && (positional.empty() || positional[0].IsNone())) positional = {Value(interp.NewStr(" \t\n\r\v\f"))};
    COBRA_TRY_ASSIGN(Value self, ToLatin1(interp, args.self));
    COBRA_TRY_ASSIGN(Value result, interp.CallMethod(self, key, positional, args.keywords));
    return FromLatin1(interp, result);
  });
}

// Case conversion and character classes of bytes consider only ASCII letters.
Result<void> ChargeScan(Interpreter& interp, const CallArgs& args) {
  return interp.Charge(StepsToScan(args.self.as<BytesObject>()->view().size()));
}
template <typename F>
void AddMap(Interpreter& interp, ClassObject* cls, absl::string_view name, F map) {
  AddMethod(interp, cls, name, [map](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY(ChargeScan(interp, args));
    std::string out;
    bool after_letter = false, first = true;
    for (char c : args.self.as<BytesObject>()->view()) {
      out.push_back(map(c, first, after_letter));
      after_letter = absl::ascii_isalpha(static_cast<unsigned char>(c));
      first = false;
    }
    return Value(interp.NewBytes(out));
  });
}
void AddCaseMethods(Interpreter& interp, ClassObject* cls) {
  auto upper = [](char c) { return absl::ascii_toupper(static_cast<unsigned char>(c)); };
  auto lower = [](char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); };
  AddMap(interp, cls, "upper", [upper](char c, bool, bool) { return upper(c); });
  AddMap(interp, cls, "lower", [lower](char c, bool, bool) { return lower(c); });
  AddMap(interp, cls, "swapcase", [=](char c, bool, bool) { return upper(c) == c ? lower(c) : upper(c); });
  AddMap(interp, cls, "capitalize", [=](char c, bool first, bool) { return first ? upper(c) : lower(c); });
  AddMap(interp, cls, "title", [=](char c, bool, bool after) { return after ? lower(c) : upper(c); });
  using Test = bool (*)(unsigned char);
  struct Entry {
    absl::string_view name;
    Test test;
  };
  const Entry tests[] = {{"isalpha", absl::ascii_isalpha},
                         {"isdigit", absl::ascii_isdigit},
                         {"isalnum", absl::ascii_isalnum},
                         {"isspace", absl::ascii_isspace}};
  for (const Entry& e : tests) {
    AddMethod(interp, cls, e.name, [test = e.test](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY(ChargeScan(interp, args));
      absl::string_view b = args.self.as<BytesObject>()->view();
      return Value::Bool(!b.empty() && std::all_of(b.begin(), b.end(),
                                                   [test](char c) { return test(static_cast<unsigned char>(c)); }));
    });
  }
  for (bool want_upper : {true, false}) {
    AddMethod(interp, cls, want_upper ? "isupper" : "islower",
              [want_upper](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                COBRA_TRY(ChargeScan(interp, args));
                bool any = false;
                for (char c : args.self.as<BytesObject>()->view()) {
                  auto u = static_cast<unsigned char>(c);
                  if (want_upper ? absl::ascii_islower(u) : absl::ascii_isupper(u)) return Value::Bool(false);
                  any = any || absl::ascii_isalpha(u);
                }
                return Value::Bool(any);
              });
  }
  AddMethod(interp, cls, "istitle", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY(ChargeScan(interp, args));
    bool any = false, after_letter = false;
    for (char c : args.self.as<BytesObject>()->view()) {
      auto u = static_cast<unsigned char>(c);
      if (absl::ascii_isupper(u) ? after_letter : absl::ascii_islower(u) && !after_letter) return Value::Bool(false);
      after_letter = absl::ascii_isalpha(u);
      any = any || after_letter;
    }
    return Value::Bool(any);
  });
  AddMethod(interp, cls, "isascii", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY(ChargeScan(interp, args));
    absl::string_view b = args.self.as<BytesObject>()->view();
    return Value::Bool(std::all_of(b.begin(), b.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  });
}

Result<Value> FromHex(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(absl::string_view text, OnlyArgument<absl::string_view>(interp, "fromhex", "string", args));
  COBRA_TRY(interp.Charge(static_cast<int64_t>(text.size())));
  std::string out;
  auto bad = [&](size_t at) {
    return interp.Raise(interp.types().ValueError, "non-hexadecimal number found in fromhex() arg at position ", at);
  };
  for (size_t i = 0; i < text.size();) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) return bad(i);
    if (i + 1 >= text.size() || !absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1]))) return bad(i + 1);
    out += absl::HexStringToBytes(text.substr(i, 2));
    i += 2;
  }
  return Value(interp.NewBytes(out));
}

Result<Value> Hex(Interpreter& interp, const CallArgs& args) {
  Value separator = Value::Unbound();
  int64_t group = 1;
  COBRA_TRY(ArgReader(interp, "hex", args).Optional("sep", &separator).Optional("bytes_per_sep", &group).Finish());
  std::string sep;
  if (separator.IsStr()) sep = std::string(separator.str());
  if (separator.IsBytes()) sep = std::string(separator.as<BytesObject>()->view());
  absl::string_view b = args.self.as<BytesObject>()->view();
  COBRA_TRY(interp.CheckSize(static_cast<int64_t>(b.size() * (2 + sep.size())), 1));
  COBRA_TRY(interp.Charge(static_cast<int64_t>(b.size()) * (1 + StepsToCopy(sep.size()))));
  std::string out;
  for (size_t i = 0; i < b.size(); ++i) {
    // Groups are counted from the right, or from the left if their size is negative.
    int64_t at = group >= 0 ? static_cast<int64_t>(b.size() - i) : static_cast<int64_t>(i);
    if (i > 0 && group != 0 && at % std::abs(group) == 0) out += sep;
    absl::StrAppend(&out, absl::Hex(static_cast<unsigned char>(b[i]), absl::kZeroPad2));
  }
  return Value(interp.NewStr(out));
}

Result<Value> TranslateBytes(Interpreter& interp, const CallArgs& args) {
  Value table, drop = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "translate", args).Required("table", &table).Optional("delete", &drop).Finish());
  const int64_t dropped = drop.IsBytes() ? drop.as<BytesObject>()->size : 0;
  COBRA_TRY(interp.Charge(args.self.as<BytesObject>()->size / 8 * (1 + dropped / 64)));
  std::string out;
  for (char c : args.self.as<BytesObject>()->view()) {
    if (drop.IsBytes() && drop.as<BytesObject>()->view().find(c) != absl::string_view::npos) continue;
    if (!table.IsNone() && (!table.IsBytes() || table.as<BytesObject>()->size != 256))
      return interp.Raise(interp.types().ValueError, "translation table must be 256 characters long");
    out.push_back(table.IsNone() ? c : table.as<BytesObject>()->data[static_cast<unsigned char>(c)]);
  }
  return Value(interp.NewBytes(out));
}

Result<Value> BytesNew(Interpreter& interp, const CallArgs& args) {
  Value source = Value::Unbound();
  std::string encoding, errors = "strict";
  ArgReader reader(interp, "bytes", args);
  COBRA_TRY(reader.Optional("source", &source).Optional("encoding", &encoding).Optional("errors", &errors).Finish());
  if (source.IsUnbound()) return Value(interp.NewBytes(""));
  if (source.IsBytes()) return source;
  if (source.IsStr()) {
    if (encoding.empty()) return interp.Raise(interp.types().TypeError, "string argument without an encoding");
    return EncodeText(interp, source.as<StrObject>(), encoding, errors);
  }
  COBRA_TRY_ASSIGN(Value own, interp.CallSpecial(source, interp.names().__bytes__, {}));
  if (!own.IsUnbound()) {
    if (own.IsBytes()) return own;
    return interp.Raise(interp.types().TypeError, "__bytes__ returned non-bytes (type ", interp.TypeName(own), ")");
  }
  std::string out;
  if (source.IsIntOrBool()) {
    if (source.as_int() < 0) return interp.Raise(interp.types().ValueError, "negative count");
    COBRA_TRY(interp.CheckSize(source.as_int(), 1));
    out.assign(static_cast<size_t>(source.as_int()), '\0');
    return Value(interp.NewBytes(out));
  }
  COBRA_TRY(interp.Iterate(source, [&](Value v) -> Result<bool> {
    COBRA_TRY_ASSIGN(int64_t i, interp.Index(v));
    if (i < 0 || i > 255) return interp.Raise(interp.types().ValueError, "bytes must be in range(0, 256)");
    out.push_back(static_cast<char>(i));
    return true;
  }));
  return Value(interp.NewBytes(out));
}

Result<Value> BytesGetItem(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__getitem__", "key", args));
  absl::string_view b = args.self.as<BytesObject>()->view();
  if (key.IsSlice()) {
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices r,
                     interp.ResolveSlice(key.as<SliceObject>(), static_cast<int64_t>(b.size())));
    if (r.step == 1) {
      COBRA_TRY(interp.Charge(StepsToCopy(static_cast<size_t>(r.length))));
      return Value(interp.NewBytes(b.substr(static_cast<size_t>(r.start), static_cast<size_t>(r.length))));
    }
    COBRA_TRY(interp.Charge(r.length / 16));
    std::string out;
    for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step) out.push_back(b[static_cast<size_t>(at)]);
    return Value(interp.NewBytes(out));
  }
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
  if (i < 0) i += static_cast<int64_t>(b.size());
  if (i < 0 || i >= static_cast<int64_t>(b.size()))
    return interp.Raise(interp.types().IndexError, "index out of range");
  return Value::Int(static_cast<unsigned char>(b[static_cast<size_t>(i)]));
}

// The bytes that find() and `in` search for; the argument is a bytes object or the value of one
// byte.
Result<std::string> NeedleOf(Interpreter& interp, Value v, absl::string_view expected) {
  if (v.IsBytes()) return std::string(v.as<BytesObject>()->view());
  if (!v.IsBigInt() && !v.IsIntOrBool())
    return interp.Raise(interp.types().TypeError, expected, ", not '", interp.TypeName(v), "'");
  if (v.IsBigInt() || v.as_int() < 0 || v.as_int() > 255)
    return interp.Raise(interp.types().ValueError, "byte must be in range(0, 256)");
  return std::string(1, static_cast<char>(v.as_int()));
}

Result<Value> BytesContains(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "__contains__", "key", args));
  COBRA_TRY_ASSIGN(std::string needle, NeedleOf(interp, v, "a bytes-like object is required"));
  COBRA_TRY(interp.Charge(SearchSteps(args.self.as<BytesObject>()->view(), needle)));
  return Value::Bool(args.self.as<BytesObject>()->view().find(needle) != absl::string_view::npos);
}

enum class SearchKind { kFind, kRfind, kIndex, kRindex, kCount };
template <SearchKind what>
Result<Value> Find(Interpreter& interp, const CallArgs& args) {
  Value sub;
  SliceObject range;
  range.start = range.stop = range.step = Value::None();
  ArgReader reader(interp, what == SearchKind::kCount ? "count" : "find", args);
  COBRA_TRY(reader.Required("sub", &sub).Optional("start", &range.start).Optional("end", &range.stop).Finish());
  COBRA_TRY_ASSIGN(std::string needle, NeedleOf(interp, sub, "argument should be integer or bytes-like object"));
  const absl::string_view all = args.self.as<BytesObject>()->view();
  const auto size = static_cast<int64_t>(all.size());
  COBRA_TRY_ASSIGN(const Interpreter::SliceIndices r, interp.ResolveSlice(&range, size));
  const bool valid = r.start <= r.stop && !(range.start.IsIntOrBool() && range.start.as_int() > size);
  const absl::string_view b =
      all.substr(static_cast<size_t>(r.start), static_cast<size_t>(std::max<int64_t>(0, r.stop - r.start)));
  COBRA_TRY(interp.Charge(SearchSteps(b, needle)));
  if (what == SearchKind::kCount) {
    if (!valid) return Value::Int(0);
    if (needle.empty()) return Value::Int(static_cast<int64_t>(b.size()) + 1);
    int64_t n = 0;
    for (size_t at = 0; (at = b.find(needle, at)) != absl::string_view::npos; at += needle.size()) ++n;
    return Value::Int(n);
  }
  const bool from_right = what == SearchKind::kRfind || what == SearchKind::kRindex;
  const size_t at = !valid ? absl::string_view::npos : from_right ? b.rfind(needle) : b.find(needle);
  if (at != absl::string_view::npos) return Value::Int(r.start + static_cast<int64_t>(at));
  if (what == SearchKind::kFind || what == SearchKind::kRfind) return Value::Int(-1);
  return interp.Raise(interp.types().ValueError, "subsection not found");
}

Result<Value> BytesJoin(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "join", "iterable", args));
  std::string out;
  int64_t index = 0;
  absl::string_view separator = args.self.as<BytesObject>()->view();
  COBRA_TRY(interp.Iterate(items, [&](Value v) -> Result<bool> {
    if (!v.IsBytes()) {
      return interp.Raise(interp.types().TypeError, "sequence item ", index, ": expected a bytes-like object, ",
                          interp.TypeName(v), " found");
    }
    if (index++ > 0) out.append(separator.data(), separator.size());
    out.append(v.as<BytesObject>()->data, static_cast<size_t>(v.as<BytesObject>()->size));
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
    return true;
  }));
  return Value(interp.NewBytes(out));
}

}  // namespace

void InitBytesType(Interpreter& interp) {
  ClassObject* cls = interp.types().bytes;
  using Op = Interpreter::BinaryOp;
  SetNativeNew(interp, cls, BytesNew);
  AddSequenceMethods(interp, cls);
  AddOperatorMethods(interp, cls, {Op::kAdd, Op::kMult, Op::kMod}, true);
  AddMethod(interp, cls, "__getitem__", BytesGetItem);
  AddMethod(interp, cls, "__contains__", BytesContains);
  AddMethod(interp, cls, "find", Find<SearchKind::kFind>);
  AddMethod(interp, cls, "rfind", Find<SearchKind::kRfind>);
  AddMethod(interp, cls, "index", Find<SearchKind::kIndex>);
  AddMethod(interp, cls, "rindex", Find<SearchKind::kRindex>);
  AddMethod(interp, cls, "count", Find<SearchKind::kCount>);
  AddMethod(interp, cls, "decode", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::string encoding = "utf-8", errors = "strict";
    COBRA_TRY(ArgReader(interp, "decode", args).Optional("encoding", &encoding).Optional("errors", &errors).Finish());
    return DecodeText(interp, args.self.as<BytesObject>()->view(), encoding, errors);
  });
  AddMethod(interp, cls, "hex", Hex);
  AddClassMethod(interp, cls, "fromhex", FromHex);
  AddMethod(interp, cls, "translate", TranslateBytes);
  AddCaseMethods(interp, cls);
  for (absl::string_view name :
       {"startswith", "endswith", "center", "expandtabs", "ljust", "rjust", "lstrip", "rstrip", "strip", "partition",
        "rpartition", "removeprefix", "removesuffix", "replace", "split", "rsplit", "splitlines", "zfill"}) {
    AddMethodOfStr(interp, cls, name);
  }
  AddMethod(interp, cls, "join", BytesJoin);
}

}  // namespace cobra::python

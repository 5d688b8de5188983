// str. Text is UTF-8; positions that programs see are code points, which for ASCII strings are
// bytes.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

void AppendUtf8(std::string* out, uint32_t c) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xc0 | c >> 6));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | c >> 12));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | c >> 18));
    out->push_back(static_cast<char>(0x80 | (c >> 12 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
}

uint32_t DecodeUtf8(const char* data, int64_t* position) {
  auto byte = [&](int64_t i) { return static_cast<unsigned char>(data[i]); };
  int64_t at = *position;
  uint32_t c = byte(at);
  int extra = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
  if (extra > 0) c &= 0x3fu >> extra;
  for (int i = 1; i <= extra; ++i) c = c << 6 | (byte(at + i) & 0x3fu);
  *position = at + extra + 1;
  return c;
}

int64_t ByteOffset(const StrObject* s, int64_t index) {
  if (s->ascii) return index;
  int64_t at = 0;
  while (index-- > 0) {
    ++at;
    while (at < s->size && (static_cast<unsigned char>(s->data[at]) & 0xc0) == 0x80) ++at;
  }
  return at;
}

namespace {

absl::string_view Slice(const StrObject* s, int64_t begin, int64_t end) {  // code points
  int64_t b = ByteOffset(s, begin), e = ByteOffset(s, end);
  return absl::string_view(s->data + b, static_cast<size_t>(e - b));
}

int64_t CodePointIndex(const StrObject* s, size_t byte) {
  if (s->ascii) return static_cast<int64_t>(byte);
  int64_t n = 0;
  for (size_t i = 0; i < byte; ++i) n += (static_cast<unsigned char>(s->data[i]) & 0xc0) != 0x80;
  return n;
}

StrObject* Self(const CallArgs& args) { return args.self.as<StrObject>(); }

// ---- searching ----

// Converts optional code point arguments to the byte range [begin, finish) of a search.
Result<bool> SearchRange(Interpreter& interp, StrObject* s, Value start, Value end, size_t* begin, size_t* finish) {
  SliceObject slice;
  slice.start = start;
  slice.stop = end;
  slice.step = Value::None();
  int64_t raw_start = 0;
  if (start.IsIntOrBool()) raw_start = start.as_int();
  COBRA_TRY_ASSIGN(Interpreter::SliceIndices r, interp.ResolveSlice(&slice, s->length));
  *begin = static_cast<size_t>(ByteOffset(s, r.start));
  *finish = static_cast<size_t>(ByteOffset(s, std::max(r.start, r.stop)));
  return raw_start <= s->length && r.start <= r.stop;
}

enum class SearchKind { kFind, kRfind, kIndex, kRindex, kCount };
template <SearchKind what>
Result<Value> Find(Interpreter& interp, const CallArgs& args) {
  StrObject* s = Self(args);
  absl::string_view sub;
  Value start, end;
  ArgReader reader(interp, what == SearchKind::kCount ? "count" : "find", args);
  COBRA_TRY(reader.Required("sub", &sub).Optional("start", &start).Optional("end", &end).Finish());
  size_t begin, finish;
  COBRA_TRY_ASSIGN(bool valid, SearchRange(interp, s, start, end, &begin, &finish));
  absl::string_view window = s->view().substr(begin, finish - begin);
  if (what == SearchKind::kCount) {
    if (!valid) return Value::Int(0);
    if (sub.empty()) return Value::Int(CodePointIndex(s, finish) - CodePointIndex(s, begin) + 1);
    int64_t n = 0;
    for (size_t at = 0; (at = window.find(sub, at)) != absl::string_view::npos; at += sub.size()) ++n;
    return Value::Int(n);
  }
  bool from_right = what == SearchKind::kRfind || what == SearchKind::kRindex;
  size_t at = !valid ? absl::string_view::npos : from_right ? window.rfind(sub) : window.find(sub);
  if (at == absl::string_view::npos) {
    if (what == SearchKind::kIndex || what == SearchKind::kRindex)
      return interp.Raise(interp.types().ValueError, "substring not found");
    return Value::Int(-1);
  }
  return Value::Int(CodePointIndex(s, begin + at));
}

template <bool at_end>
Result<Value> StartsWith(Interpreter& interp, const CallArgs& args) {
  StrObject* s = Self(args);
  if (args.positional.size() == 1 && args.keywords.empty() && args.positional[0].IsStr()) {
    const absl::string_view text = s->view(), t = args.positional[0].str();
    if (t.size() <= text.size()) interp.Spend(StepsToCopy(t.size()));
    return Value::Bool(at_end ? absl::EndsWith(text, t) : absl::StartsWith(text, t));
  }
  Value what, start, end;
  ArgReader reader(interp, at_end ? "endswith" : "startswith", args);
  COBRA_TRY(reader.Required("prefix", &what).Optional("start", &start).Optional("end", &end).Finish());
  size_t begin, finish;
  COBRA_TRY_ASSIGN(bool valid, SearchRange(interp, s, start, end, &begin, &finish));
  absl::string_view window = s->view().substr(begin, finish - begin);
  absl::Span<const Value> choices = absl::MakeConstSpan(&what, 1);
  if (what.IsTuple()) choices = what.as<TupleObject>()->span();
  if (!s->ascii) interp.Spend(StepsToScan(s->view().size()));
  COBRA_TRY(interp.Charge(static_cast<int64_t>(choices.size()) / 8));
  for (Value v : choices) {
    if (!v.IsStr()) {
      return interp.Raise(interp.types().TypeError, at_end ? "endswith" : "startswith",
                          " first arg must be str or a tuple of str, not ", interp.TypeName(v));
    }
    absl::string_view t = v.str();
    if (!valid || t.size() > window.size()) continue;
    interp.Spend(StepsToCopy(t.size()));
    if (at_end ? window.substr(window.size() - t.size()) == t : window.substr(0, t.size()) == t)
      return Value::Bool(true);
  }
  return Value::Bool(false);
}

// ---- replacing, padding, encoding ----

Result<Value> Replace(Interpreter& interp, const CallArgs& args) {
  absl::string_view old, fresh;
  int64_t count = -1;
  ArgReader reader(interp, "replace", args);
  COBRA_TRY(reader.Required("old", &old).Required("new", &fresh).Optional("count", &count).Finish());
  absl::string_view s = Self(args)->view();
  std::string out;
  size_t at = 0;
  while (count != 0) {
    size_t found;
    if (old.empty()) {
      found = at;
    } else {
      found = s.find(old, at);
      if (found == absl::string_view::npos) break;
    }
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
    out.append(s.data() + at, found - at);
    out.append(fresh.data(), fresh.size());
    --count;
    if (old.empty()) {
      if (at >= s.size()) {
        at = s.size() + 1;
        break;
      }
      int64_t next = static_cast<int64_t>(at);
      DecodeUtf8(s.data(), &next);
      out.append(s.data() + at, static_cast<size_t>(next) - at);
      at = static_cast<size_t>(next);
    } else {
      at = found + old.size();
    }
  }
  if (at < s.size()) out.append(s.data() + at, s.size() - at);
  return Value(interp.NewStr(out));
}

template <bool suffix>
Result<Value> RemoveAffix(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(absl::string_view affix,
                   OnlyArgument<absl::string_view>(interp, suffix ? "removesuffix" : "removeprefix", "affix", args));
  absl::string_view s = Self(args)->view();
  if (affix.empty() || affix.size() > s.size()) return args.self;
  if (suffix ? s.substr(s.size() - affix.size()) != affix : s.substr(0, affix.size()) != affix) return args.self;
  return Value(interp.NewStr(suffix ? s.substr(0, s.size() - affix.size()) : s.substr(affix.size())));
}

template <int side>  // -1: text to the left, 0: centre, 1: text to the right
Result<Value> Pad(Interpreter& interp, const CallArgs& args) {
  int64_t width;
  absl::string_view fill = " ";
  COBRA_TRY(ArgReader(interp, "center", args).Required("width", &width).Optional("fillchar", &fill).Finish());
  if (CodePoints(fill) != 1)
    return interp.Raise(interp.types().TypeError, "The fill character must be exactly one character long");
  StrObject* s = Self(args);
  if (width <= s->length) return args.self;
  COBRA_TRY(interp.CheckSize(width, 4));
  int64_t pad = width - s->length;
  int64_t left = side < 0 ? 0 : side > 0 ? pad : pad / 2 + (pad & width & 1);
  std::string out;
  for (int64_t i = 0; i < left; ++i) absl::StrAppend(&out, fill);
  absl::StrAppend(&out, s->view());
  for (int64_t i = left; i < pad; ++i) absl::StrAppend(&out, fill);
  return Value(interp.NewStr(out));
}

Result<Value> ZFill(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t width, OnlyArgument<int64_t>(interp, "zfill", "width", args));
  StrObject* s = Self(args);
  if (width <= s->length) return args.self;
  COBRA_TRY(interp.CheckSize(width, 1));
  absl::string_view text = s->view();
  absl::string_view sign = !text.empty() && (text[0] == '+' || text[0] == '-') ? text.substr(0, 1) : "";
  return Value(interp.NewStr(
      absl::StrCat(sign, std::string(static_cast<size_t>(width - s->length), '0'), text.substr(sign.size()))));
}

Result<Value> ExpandTabs(Interpreter& interp, const CallArgs& args) {
  int64_t size = 8;
  COBRA_TRY(ArgReader(interp, "expandtabs", args).Optional("tabsize", &size).Finish());
  COBRA_TRY(interp.CheckSize(size, 1));
  std::string out;
  int64_t column = 0;
  for (char c : Self(args)->view()) {
    if (c == '\t') {
      int64_t n = size > 0 ? size - column % size : 0;
      out.append(static_cast<size_t>(n), ' ');
      column += n;
      COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
    } else {
      out.push_back(c);
      const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;  // of a character that was already counted
      column = c == '\n' || c == '\r' ? 0 : column + (continues ? 0 : 1);
    }
  }
  return Value(interp.NewStr(out));
}

Result<Value> Encode(Interpreter& interp, const CallArgs& args) {
  std::string encoding = "utf-8", errors = "strict";
  COBRA_TRY(ArgReader(interp, "encode", args).Optional("encoding", &encoding).Optional("errors", &errors).Finish());
  return EncodeText(interp, Self(args), encoding, errors);
}

Result<Value> Translate(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value table, OnlyArgument(interp, "translate", "table", args));
  std::string out;
  StrObject* s = Self(args);
  for (int64_t at = 0; at < s->size;) {
    uint32_t c = DecodeUtf8(s->data, &at);
    COBRA_TRY(interp.Step());
    Result<Value> v = interp.GetItem(table, Value::Int(c));
    if (!v.ok()) {
      if (!interp.CatchException(interp.types().LookupError)) return v;
      AppendUtf8(&out, c);
    } else if (v->IsStr()) {
      absl::StrAppend(&out, v->str());
      COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
    } else if (v->IsInt()) {
      AppendUtf8(&out, static_cast<uint32_t>(v->as_int()));
    }
  }
  return Value(interp.NewStr(out));
}

Result<Value> MakeTrans(Interpreter& interp, const CallArgs& args) {
  Value x, y = Value::Unbound(), z = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "maketrans", args).Required("x", &x).Optional("y", &y).Optional("z", &z).Finish());
  DictObject* table = interp.NewDict();
  if (y.IsUnbound()) {
    if (!x.IsDict())
      return interp.Raise(interp.types().TypeError, "if you give only one argument to maketrans it must be a dict");
    auto& t = x.as<DictObject>()->table;
    for (size_t i = 0; i < t.entry_count(); ++i) {
      Value key = t.entry(i).key;
      COBRA_TRY(interp.Step());
      if (key.IsUnbound()) continue;
      if (key.IsStr()) {
        int64_t at = 0;
        if (key.as<StrObject>()->length != 1)
          return interp.Raise(interp.types().ValueError, "string keys in translate table must be of length 1");
        key = Value::Int(DecodeUtf8(key.as<StrObject>()->data, &at));
      }
      COBRA_TRY(interp.DictSet(table, key, t.entry(i).value));
    }
    return Value(table);
  }
  if (!x.IsStr() || !y.IsStr() || x.as<StrObject>()->length != y.as<StrObject>()->length)
    return interp.Raise(interp.types().ValueError, "the first two maketrans arguments must have equal length");
  int64_t i = 0, j = 0;
  COBRA_TRY(interp.Charge(x.as<StrObject>()->size + (z.IsStr() ? z.as<StrObject>()->size : 0)));
  while (i < x.as<StrObject>()->size) {
    Value key = Value::Int(DecodeUtf8(x.as<StrObject>()->data, &i));
    COBRA_TRY(interp.DictSet(table, key, Value::Int(DecodeUtf8(y.as<StrObject>()->data, &j))));
  }
  if (z.IsStr()) {
    for (int64_t k = 0; k < z.as<StrObject>()->size;)
      COBRA_TRY(interp.DictSet(table, Value::Int(DecodeUtf8(z.as<StrObject>()->data, &k)), Value::None()));
  }
  return Value(table);
}

Result<Value> StrNew(Interpreter& interp, const CallArgs& args) {
  Value object = Value::Unbound(), encoding = Value::Unbound(), errors;
  ArgReader reader(interp, "str", args);
  COBRA_TRY(reader.Optional("object", &object).Optional("encoding", &encoding).Optional("errors", &errors).Finish());
  auto* cls = args.self.as<ClassObject>();
  StrObject* s = interp.NewStr("");
  if (object.IsBytes() && !encoding.IsUnbound()) {
    std::string how = errors.IsStr() ? std::string(errors.str()) : "strict";
    if (!encoding.IsStr()) return interp.Raise(interp.types().TypeError, "str() argument 'encoding' must be str");
    COBRA_TRY_ASSIGN(Value decoded, DecodeText(interp, object.as<BytesObject>()->view(), encoding.str(), how));
    s = decoded.as<StrObject>();
  } else if (!object.IsUnbound()) {
    COBRA_TRY_ASSIGN(s, interp.Str(object));
  }
  if (cls == interp.types().str) {
    if (s->cls != cls) s = interp.NewStr(s->view());
    return Value(s);
  }
  StrObject* copy = interp.heap().New<StrObject>(*s);
  copy->cls = cls;
  copy->interned = false;
  copy->attrs = nullptr;
  return Value(copy);
}

}  // namespace

Result<Value> StrGetItem(Interpreter& interp, StrObject* s, Value key) {
  if (!s->ascii) interp.Spend(s->size / 32);  // characters are counted from the start
  if (key.IsSlice()) {
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices r, interp.ResolveSlice(key.as<SliceObject>(), s->length));
    if (r.length == 0) return Value(interp.NewStr(""));
    if (r.step == 1) return Value(interp.NewStr(Slice(s, r.start, r.stop)));
    COBRA_TRY(interp.Charge(s->size / 8));
    std::vector<int64_t> offsets;
    for (int64_t at = 0; at < s->size; DecodeUtf8(s->data, &at)) offsets.push_back(at);
    offsets.push_back(s->size);
    std::string out;
    for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step) {
      out.append(s->data + offsets[static_cast<size_t>(at)],
                 static_cast<size_t>(offsets[static_cast<size_t>(at) + 1] - offsets[static_cast<size_t>(at)]));
    }
    return Value(interp.NewStr(out));
  }
  if (!IsIntLike(key) &&
      (!key.IsObject() || interp.LookupClass(key.object()->cls, interp.names().__index__).IsUnbound())) {
    return interp.Raise(interp.types().TypeError, "string indices must be integers, not '", interp.TypeName(key), "'");
  }
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
  if (i < 0) i += s->length;
  if (i < 0 || i >= s->length) return interp.Raise(interp.types().IndexError, "string index out of range");
  return Value(interp.NewStr(Slice(s, i, i + 1)));
}

Result<Value> Concat(Interpreter& interp, StrObject* a, StrObject* b) {
  COBRA_TRY(interp.CheckSize(a->size + b->size, 1));
  return Value(interp.NewStr(absl::StrCat(a->view(), b->view())));
}

void AddStrMethod(Interpreter& interp, absl::string_view name, Result<Value> (*method)(Interpreter&, const CallArgs&),
                  StrMethodCost cost) {
  if (cost == StrMethodCost::kPrefix) return AddMethod(interp, interp.types().str, name, method);
  const bool new_string = cost == StrMethodCost::kNewString;
  AddMethod(interp, interp.types().str, name,
            [method, new_string](Interpreter& interp, const CallArgs& args) -> Result<Value> {
              const bool pattern = !args.positional.empty() && args.positional[0].IsStr();
              COBRA_TRY(interp.Charge(SearchSteps(args.self.str(), pattern ? args.positional[0].str() : "") +
                                      (new_string ? static_cast<int64_t>(args.self.str().size() / 8) : 0)));
              return method(interp, args);
            });
}

namespace {

Result<Value> FormatMap(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value mapping, OnlyArgument(interp, "format_map", "mapping", args));
  std::vector<KeywordArg> keywords;
  if (!mapping.IsDict()) return interp.Unsupported("format_map of something other than a dict");
  auto& t = mapping.as<DictObject>()->table;
  COBRA_TRY(interp.Charge(static_cast<int64_t>(t.entry_count()) / 4));
  for (size_t i = 0; i < t.entry_count(); ++i) {
    if (t.entry(i).key.IsStr()) keywords.push_back({t.entry(i).key.as<StrObject>(), t.entry(i).value});
  }
  CallArgs call;
  call.keywords = keywords;
  return StrFormatMethod(interp, Self(args), call);
}

void AddSearchMethods(Interpreter& interp) {
  AddStrMethod(interp, "find", Find<SearchKind::kFind>, StrMethodCost::kSearch);
  AddStrMethod(interp, "rfind", Find<SearchKind::kRfind>, StrMethodCost::kSearch);
  AddStrMethod(interp, "index", Find<SearchKind::kIndex>, StrMethodCost::kSearch);
  AddStrMethod(interp, "rindex", Find<SearchKind::kRindex>, StrMethodCost::kSearch);
  AddStrMethod(interp, "count", Find<SearchKind::kCount>, StrMethodCost::kSearch);
  AddStrMethod(interp, "startswith", StartsWith<false>, StrMethodCost::kPrefix);
  AddStrMethod(interp, "endswith", StartsWith<true>, StrMethodCost::kPrefix);
}

void AddChangeMethods(Interpreter& interp) {
  AddStrMethod(interp, "replace", Replace, StrMethodCost::kNewString);
  AddStrMethod(interp, "removeprefix", RemoveAffix<false>, StrMethodCost::kNewString);
  AddStrMethod(interp, "removesuffix", RemoveAffix<true>, StrMethodCost::kNewString);
  AddStrMethod(interp, "ljust", Pad<-1>, StrMethodCost::kNewString);
  AddStrMethod(interp, "center", Pad<0>, StrMethodCost::kNewString);
  AddStrMethod(interp, "rjust", Pad<1>, StrMethodCost::kNewString);
  AddStrMethod(interp, "zfill", ZFill, StrMethodCost::kNewString);
  AddStrMethod(interp, "expandtabs", ExpandTabs, StrMethodCost::kNewString);
  AddStrMethod(interp, "encode", Encode, StrMethodCost::kNewString);
  AddStrMethod(interp, "translate", Translate, StrMethodCost::kNewString);
}

void AddSpecialMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__format__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(absl::string_view spec,
                     OnlyArgument<absl::string_view>(interp, "__format__", "format_spec", args));
    COBRA_TRY_ASSIGN(StrObject * s, FormatStr(interp, Self(args), spec));
    return Value(s);
  });
  AddMethod(interp, cls, "__str__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return args.self.object()->cls == interp.types().str ? args.self : Value(interp.NewStr(args.self.str()));
  });
  AddMethod(interp, cls, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY(interp.Charge(StepsToScan(args.self.str().size())));
    return Value(interp.NewStr(QuotedStr(args.self.str())));
  });
  AddMethod(interp, cls, "__hash__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Int(static_cast<int64_t>(HashOfStr(Self(args))));
  });
  AddMethod(interp, cls, "__len__",
            [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value::Int(Self(args)->length); });
  AddMethod(interp, cls, "__getitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__getitem__", "key", args));
    return StrGetItem(interp, Self(args), key);
  });
  AddMethod(interp, cls, "__contains__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(absl::string_view sub, OnlyArgument<absl::string_view>(interp, "__contains__", "key", args));
    COBRA_TRY(interp.Charge(SearchSteps(args.self.str(), sub)));
    return Value::Bool(args.self.str().find(sub) != absl::string_view::npos);
  });
  AddMethod(interp, cls, "__iter__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return interp.Iter(Value(interp.NewStr(args.self.str())));
  });
}

}  // namespace

void InitStrType(Interpreter& interp) {
  ClassObject* cls = interp.types().str;
  using Op = Interpreter::BinaryOp;
  SetNativeNew(interp, cls, StrNew);
  AddOperatorMethods(interp, cls, {Op::kAdd, Op::kMult, Op::kMod}, true);
  AddSearchMethods(interp);
  AddStrSplitMethods(interp);
  AddChangeMethods(interp);
  AddStrCaseMethods(interp);
  AddStaticMethod(interp, cls, "maketrans", MakeTrans);
  AddMethod(interp, cls, "format",
            [](Interpreter& interp, const CallArgs& args) { return StrFormatMethod(interp, Self(args), args); });
  AddMethod(interp, cls, "format_map", FormatMap);
  AddSpecialMethods(interp, cls);
}

}  // namespace cobra::python

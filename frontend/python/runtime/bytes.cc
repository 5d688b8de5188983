// bytes: what model code and configs do with them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/internal.h"

namespace cobra::python {

Result<Value> DecodeBytes(Interpreter& interp, absl::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    auto c = static_cast<unsigned char>(bytes[at]);
    size_t size = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    bool valid = size > 0 && at + size <= bytes.size();
    for (size_t i = 1; valid && i < size; ++i) valid = (static_cast<unsigned char>(bytes[at + i]) & 0xc0) == 0x80;
    if (!valid) {
      return interp.Raise(interp.types().UnicodeDecodeError,
                          absl::StrCat("'utf-8' codec can't decode byte 0x", absl::Hex(c, absl::kZeroPad2), " in position ", at));
    }
    at += size;
  }
  return Value(interp.NewStr(bytes));
}

void InitBytesType(Interpreter& interp) {
  ClassObject* cls = interp.types().bytes;
  using Op = Interpreter::BinaryOp;
  SetNativeNew(interp, cls, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value source = Value::Unbound();
    std::string encoding;
    ArgReader reader(interp, "bytes", args);
    COBRA_TRY(reader.Optional("source", &source).Optional("encoding", &encoding).Finish());
    if (source.IsUnbound()) return Value(interp.NewBytes(""));
    if (source.IsBytes()) return source;
    if (source.IsStr()) {
      if (encoding.empty()) return interp.Raise(interp.types().TypeError, "string argument without an encoding");
      return Value(interp.NewBytes(source.str()));
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
  });
  AddSequenceMethods(interp, cls);
  AddOperatorMethods(interp, cls, {Op::kAdd, Op::kMult, Op::kMod}, true);
  AddMethod(interp, cls, "__getitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value key;
    ArgReader reader(interp, "__getitem__", args);
    COBRA_TRY(reader.Required("key", &key).Finish());
    absl::string_view b = args.self.as<BytesObject>()->view();
    if (key.IsSlice()) {
      COBRA_TRY_ASSIGN(Interpreter::SliceIndices r, interp.ResolveSlice(key.as<SliceObject>(), static_cast<int64_t>(b.size())));
      std::string out;
      for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step) out.push_back(b[static_cast<size_t>(at)]);
      return Value(interp.NewBytes(out));
    }
    COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
    if (i < 0) i += static_cast<int64_t>(b.size());
    if (i < 0 || i >= static_cast<int64_t>(b.size())) return interp.Raise(interp.types().IndexError, "index out of range");
    return Value::Int(static_cast<unsigned char>(b[static_cast<size_t>(i)]));
  });
  AddMethod(interp, cls, "__contains__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value v;
    ArgReader reader(interp, "__contains__", args);
    COBRA_TRY(reader.Required("key", &v).Finish());
    if (!v.IsBytes() && !v.IsIntOrBool()) {
      return interp.Raise(interp.types().TypeError, absl::StrCat("a bytes-like object is required, not '", interp.TypeName(v), "'"));
    }
    if (v.IsIntOrBool() && (v.as_int() < 0 || v.as_int() > 255)) return interp.Raise(interp.types().ValueError, "byte must be in range(0, 256)");
    std::string needle = v.IsBytes() ? std::string(v.as<BytesObject>()->view()) : std::string(1, static_cast<char>(v.as_int()));
    return Value::Bool(args.self.as<BytesObject>()->view().find(needle) != absl::string_view::npos);
  });
  enum class Find { kFind, kRfind, kIndex, kRindex, kCount };
  auto add_find = [&](absl::string_view name, Find what) {
    AddMethod(interp, cls, name, [what](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      Value sub;
      ArgReader reader(interp, "find", args);
      COBRA_TRY(reader.Required("sub", &sub).Finish());
      if (!sub.IsBytes() && !sub.IsIntOrBool()) {
        return interp.Raise(interp.types().TypeError,
                            absl::StrCat("argument should be integer or bytes-like object, not '", interp.TypeName(sub), "'"));
      }
      if (sub.IsIntOrBool() && (sub.as_int() < 0 || sub.as_int() > 255)) {
        return interp.Raise(interp.types().ValueError, "byte must be in range(0, 256)");
      }
      std::string needle = sub.IsBytes() ? std::string(sub.as<BytesObject>()->view()) : std::string(1, static_cast<char>(sub.as_int()));
      absl::string_view b = args.self.as<BytesObject>()->view();
      if (what == Find::kCount) {
        if (needle.empty()) return Value::Int(static_cast<int64_t>(b.size()) + 1);
        int64_t n = 0;
        for (size_t at = 0; (at = b.find(needle, at)) != absl::string_view::npos; at += needle.size()) ++n;
        return Value::Int(n);
      }
      size_t at = what == Find::kRfind || what == Find::kRindex ? b.rfind(needle) : b.find(needle);
      if (at != absl::string_view::npos) return Value::Int(static_cast<int64_t>(at));
      if (what == Find::kFind || what == Find::kRfind) return Value::Int(-1);
      return interp.Raise(interp.types().ValueError, "subsection not found");
    });
  };
  add_find("find", Find::kFind);
  add_find("rfind", Find::kRfind);
  add_find("index", Find::kIndex);
  add_find("rindex", Find::kRindex);
  add_find("count", Find::kCount);
  AddMethod(interp, cls, "decode", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::string encoding = "utf-8", errors;
    ArgReader reader(interp, "decode", args);
    COBRA_TRY(reader.Optional("encoding", &encoding).Optional("errors", &errors).Finish());
    return DecodeBytes(interp, args.self.as<BytesObject>()->view());
  });
  AddMethod(interp, cls, "hex", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::string out;
    for (char c : args.self.as<BytesObject>()->view()) absl::StrAppend(&out, absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    return Value(interp.NewStr(out));
  });
  AddMethod(interp, cls, "startswith", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value v;
    ArgReader reader(interp, "startswith", args);
    COBRA_TRY(reader.Required("prefix", &v).Finish());
    if (!v.IsBytes()) return interp.Raise(interp.types().TypeError, "startswith first arg must be bytes");
    absl::string_view p = v.as<BytesObject>()->view();
    return Value::Bool(args.self.as<BytesObject>()->view().substr(0, p.size()) == p);
  });
}

}  // namespace cobra::python

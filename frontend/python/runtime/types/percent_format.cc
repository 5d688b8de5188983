// The % operator of str and bytes.
#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

namespace {

struct PercentSpec {
  bool left = false, plus = false, blank = false, zero = false, alternate = false;
  int64_t width = 0;
  int precision = -1;
  char type = 0;
};

Result<std::string> PercentNumber(Interpreter& interp, const PercentSpec& p, Value v) {
  std::string prefix, body;
  COBRA_TRY_ASSIGN(v, OfUnknownNumber(interp, v, "_cobra_in_text"));
  if (std::string("eEfFgG").find(p.type) != std::string::npos) {
    double d;
    if (!NumberAsDouble(v, &d)) {
      if (!v.IsObject() || v.IsStr() || interp.LookupClass(v.object()->cls, interp.names().__float__).IsUnbound())
        return interp.Raise(interp.types().TypeError, "must be real number, not ", interp.TypeName(v));
      COBRA_TRY_ASSIGN(d, interp.AsFloat(v));
    }
    char lower = static_cast<char>(absl::ascii_tolower(static_cast<unsigned char>(p.type)));
    int precision = p.precision < 0 ? 6 : p.precision;
    if (lower == 'g' && precision == 0) precision = 1;
    body = FormatDouble(std::fabs(d), lower, precision, p.alternate, lower != p.type);
    prefix = std::signbit(d) && !std::isnan(d) ? "-" : p.plus ? "+" : p.blank ? " " : "";
  } else {
    Value whole = v;
    double d;
    if (!IsIntLike(v)) {
      bool decimal = p.type == 'd' || p.type == 'i' || p.type == 'u';
      const bool has_int = v.IsObject() && !interp.LookupClass(v.object()->cls, interp.names().__int__).IsUnbound();
      if (decimal && (NumberAsDouble(v, &d) || has_int)) {
        COBRA_TRY_ASSIGN(whole, interp.Call(Value(interp.types().int_type), {v}));
      } else if (v.IsObject() && !interp.LookupClass(v.object()->cls, interp.names().__index__).IsUnbound()) {
        COBRA_TRY_ASSIGN(int64_t i, interp.Index(v));
        whole = Value::Int(i);
      } else {
        return interp.Raise(interp.types().TypeError, "%", std::string(1, p.type),
                            " format: ", decimal ? "a real number" : "an integer", " is required, not ",
                            interp.TypeName(v));
      }
    }
    BigInt b = ToBigInt(whole);
    int base = p.type == 'x' || p.type == 'X' ? 16 : p.type == 'o' ? 8 : 10;
    COBRA_TRY(interp.Charge(DigitsSteps(b)));
    body = (b.negative() ? -b : b).ToString(base);
    if (p.type == 'X') body = absl::AsciiStrToUpper(body);
    if (p.precision > static_cast<int>(body.size()))
      body.insert(0, static_cast<size_t>(p.precision) - body.size(), '0');
    prefix = b.negative() ? "-" : p.plus ? "+" : p.blank ? " " : "";
    if (p.alternate && base != 10) absl::StrAppend(&prefix, "0", std::string(1, p.type));
  }
  int64_t pad = p.width - static_cast<int64_t>(prefix.size() + body.size());
  if (pad <= 0) return prefix + body;
  if (p.left) return absl::StrCat(prefix, body, std::string(static_cast<size_t>(pad), ' '));
  if (p.zero) return absl::StrCat(prefix, std::string(static_cast<size_t>(pad), '0'), body);
  return absl::StrCat(std::string(static_cast<size_t>(pad), ' '), prefix, body);
}

Result<std::string> PercentText(Interpreter& interp, const PercentSpec& p, Value v, bool bytes) {
  std::string text;
  if (p.type == 'c') {
    if (IsIntLike(v)) {
      COBRA_TRY_ASSIGN(int64_t c, interp.Index(v));
      if (c < 0 || c > 0x10ffff) return interp.Raise(interp.types().OverflowError, "%c arg not in range(0x110000)");
      AppendUtf8(&text, static_cast<uint32_t>(c));
    } else if (v.IsStr() && v.as<StrObject>()->length == 1) {
      text = std::string(v.str());
    } else {
      return interp.Raise(interp.types().TypeError, "%c requires int or char");
    }
  } else if (bytes && p.type == 's') {
    if (!v.IsBytes()) {
      return interp.Raise(interp.types().TypeError,
                          "%b requires a bytes-like object, or an object that implements __bytes__, not '",
                          interp.TypeName(v), "'");
    }
    text = std::string(v.as<BytesObject>()->view());
    if (p.precision >= 0 && p.precision < static_cast<int64_t>(text.size()))
      text.resize(static_cast<size_t>(p.precision));
  } else {
    Result<StrObject*> s = p.type == 's'            ? interp.Str(v)
                           : p.type == 'a' || bytes ? AsciiRepr(interp, v)
                                                    : interp.Repr(v);
    if (!s.ok()) return Failure();
    text = std::string((*s)->view());
    if (p.precision >= 0 && p.precision < CodePoints(text))
      text.resize(static_cast<size_t>(ByteOffset(interp.NewStr(text), p.precision)));
  }
  int64_t pad = p.width - CodePoints(text);
  if (pad > 0)
    text =
        p.left ? text + std::string(static_cast<size_t>(pad), ' ') : std::string(static_cast<size_t>(pad), ' ') + text;
  return text;
}

// Reads a format from left to right and takes the values that its specifications need.
class PercentFormatter {
 public:
  PercentFormatter(Interpreter& interp, absl::string_view format, Value args, bool bytes)
      : interp_(interp), format_(format), args_(args), bytes_(bytes) {
    items_ = args.IsTuple() ? args.as<TupleObject>()->span() : absl::MakeConstSpan(&args_, 1);
  }
  PercentFormatter(const PercentFormatter&) = delete;
  PercentFormatter& operator=(const PercentFormatter&) = delete;

  Result<std::string> Format();

 private:
  bool AtEnd() const { return at_ >= format_.size(); }
  bool At(char c) const { return !AtEnd() && format_[at_] == c; }
  Result<Value> NextItem();
  // Reads "(key)" and returns its value in the mapping; Unbound if there is no key.
  Result<Value> KeyedItem();
  void ReadFlags(PercentSpec* p);
  // Reads digits, or takes the next item for '*'.
  Result<void> ReadNumber(int64_t* n);
  // Reads a specification from its flags to its type.
  Result<PercentSpec> ReadSpec();
  Result<std::string> Convert(const PercentSpec& p, Value value);
  bool HasUnusedItems() const;

  Interpreter& interp_;
  const absl::string_view format_;
  const Value args_;
  const bool bytes_;
  absl::Span<const Value> items_;
  size_t next_ = 0;
  size_t at_ = 0;
  bool used_mapping_ = false;
};

Result<Value> PercentFormatter::NextItem() {
  if (next_ >= items_.size()) return interp_.Raise(interp_.types().TypeError, "not enough arguments for format string");
  return items_[next_++];
}

Result<Value> PercentFormatter::KeyedItem() {
  if (!At('(')) return Value::Unbound();
  size_t end = at_ + 1;
  for (int open = 1; end < format_.size() && open > 0; ++end)
    open += format_[end] == '(' ? 1 : format_[end] == ')' ? -1 : 0;
  absl::string_view key = format_.substr(at_ + 1, end - at_ - 2);
  if (args_.IsTuple() || args_.IsStr() || !args_.IsObject())
    return interp_.Raise(interp_.types().TypeError, "format requires a mapping");
  COBRA_TRY_ASSIGN(Value value,
                   interp_.GetItem(args_, bytes_ ? Value(interp_.NewBytes(key)) : Value(interp_.NewStr(key))));
  used_mapping_ = true;
  at_ = end;
  return value;
}

void PercentFormatter::ReadFlags(PercentSpec* p) {
  for (; !AtEnd(); ++at_) {
    switch (format_[at_]) {
      case '-': p->left = true; break;
      case '+': p->plus = true; break;
      case ' ': p->blank = true; break;
      case '0': p->zero = true; break;
      case '#': p->alternate = true; break;
      default: return;
    }
  }
}

Result<void> PercentFormatter::ReadNumber(int64_t* n) {
  if (At('*')) {
    ++at_;
    COBRA_TRY_ASSIGN(Value v, NextItem());
    if (!v.IsIntOrBool()) return interp_.Raise(interp_.types().TypeError, "* wants int");
    *n = v.as_int();
    return interp_.CheckSize(std::abs(*n), 1);
  }
  *n = 0;
  for (int i = 0; !AtEnd() && absl::ascii_isdigit(static_cast<unsigned char>(format_[at_])) && i < 10; ++i)
    *n = *n * 10 + (format_[at_++] - '0');
  return interp_.CheckSize(*n, 1);
}

Result<PercentSpec> PercentFormatter::ReadSpec() {
  PercentSpec p;
  ReadFlags(&p);
  COBRA_TRY(ReadNumber(&p.width));
  if (p.width < 0) {
    p.left = true;
    p.width = -p.width;
  }
  if (At('.')) {
    ++at_;
    int64_t precision;
    COBRA_TRY(ReadNumber(&precision));
    p.precision = static_cast<int>(std::min<int64_t>(precision, 100000));
  }
  while (At('l') || At('h') || At('L')) ++at_;
  if (AtEnd()) return interp_.Raise(interp_.types().ValueError, "incomplete format");
  p.type = format_[at_++];
  if (bytes_ && p.type == 'b') p.type = 's';
  return p;
}

Result<std::string> PercentFormatter::Convert(const PercentSpec& p, Value value) {
  if (p.type == 's' || p.type == 'r' || p.type == 'a' || p.type == 'c') return PercentText(interp_, p, value, bytes_);
  if (std::string("diuxXoeEfFgG").find(p.type) != std::string::npos) return PercentNumber(interp_, p, value);
  return interp_.Raise(interp_.types().ValueError, "unsupported format character '", std::string(1, p.type), "' (0x",
                       absl::Hex(p.type), ") at index ", at_ - 1);
}

bool PercentFormatter::HasUnusedItems() const {
  // An object that has [] and is not a tuple or string may be a mapping with keys that the format
  // does not use.
  const bool mapping =
      used_mapping_ || (args_.IsObject() && !args_.IsTuple() && !args_.IsStr() && !(bytes_ && args_.IsBytes()) &&
                        !interp_.LookupClass(args_.object()->cls, interp_.names().__getitem__).IsUnbound());
  return next_ < items_.size() && !mapping;
}

Result<std::string> PercentFormatter::Format() {
  COBRA_TRY(interp_.Charge(static_cast<int64_t>(format_.size()) / 4));
  std::string out;
  while (!AtEnd()) {
    if (!At('%')) {
      out.push_back(format_[at_++]);
      continue;
    }
    ++at_;
    COBRA_TRY(interp_.Charge(4));
    COBRA_TRY_ASSIGN(Value value, KeyedItem());
    COBRA_TRY_ASSIGN(PercentSpec p, ReadSpec());
    if (p.type == '%') {
      out.push_back('%');
      continue;
    }
    if (value.IsUnbound()) COBRA_TRY_SET(value, NextItem());
    COBRA_TRY_ASSIGN(std::string text, Convert(p, value));
    out += text;
    COBRA_TRY(interp_.CheckSize(static_cast<int64_t>(out.size()), 1));
  }
  if (HasUnusedItems())
    return interp_.Raise(interp_.types().TypeError, "not all arguments converted during string formatting");
  return out;
}

}  // namespace

Result<Value> PercentFormat(Interpreter& interp, absl::string_view format, Value args, bool bytes) {
  COBRA_TRY_ASSIGN(std::string out, PercentFormatter(interp, format, args, bytes).Format());
  return bytes ? Value(interp.NewBytes(out)) : Value(interp.NewStr(out));
}

}  // namespace cobra::python

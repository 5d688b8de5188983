// The % operator of str and bytes.
#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/internal.h"

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
  if (std::string("eEfFgG").find(p.type) != std::string::npos) {
    double d;
    if (!NumberAsDouble(v, &d)) {
      if (!v.IsObject() || v.IsStr() || interp.LookupClass(v.object()->cls, interp.names().__float__).IsUnbound()) {
        return interp.Raise(interp.types().TypeError, absl::StrCat("must be real number, not ", interp.TypeName(v)));
      }
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
      if (decimal && NumberAsDouble(v, &d)) {
        COBRA_TRY_ASSIGN(whole, interp.Call(Value(interp.types().int_type), {v}));
      } else if (v.IsObject() && !interp.LookupClass(v.object()->cls, interp.names().__index__).IsUnbound()) {
        COBRA_TRY_ASSIGN(int64_t i, interp.Index(v));
        whole = Value::Int(i);
      } else {
        return interp.Raise(interp.types().TypeError, absl::StrCat("%", std::string(1, p.type), " format: ",
                                                                   decimal ? "a real number" : "an integer",
                                                                   " is required, not ", interp.TypeName(v)));
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
                          absl::StrCat("%b requires a bytes-like object, or an object that implements __bytes__, not '",
                                       interp.TypeName(v), "'"));
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

}  // namespace

Result<Value> PercentFormat(Interpreter& interp, absl::string_view format, Value args, bool bytes) {
  const BuiltinTypes& t = interp.types();
  std::string out;
  absl::Span<const Value> items = absl::MakeConstSpan(&args, 1);
  if (args.IsTuple()) items = args.as<TupleObject>()->span();
  size_t next = 0;
  bool used_mapping = false;
  auto take = [&]() -> Result<Value> {
    if (next >= items.size()) return interp.Raise(t.TypeError, "not enough arguments for format string");
    return items[next++];
  };
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out.push_back(format[at++]);
      continue;
    }
    ++at;
    Value value = Value::Unbound();
    if (at < format.size() && format[at] == '(') {
      size_t end = at + 1;
      for (int open = 1; end < format.size() && open > 0; ++end)
        open += format[end] == '(' ? 1 : format[end] == ')' ? -1 : 0;
      absl::string_view key = format.substr(at + 1, end - at - 2);
      if (args.IsTuple() || args.IsStr() || !args.IsObject())
        return interp.Raise(t.TypeError, "format requires a mapping");
      COBRA_TRY_ASSIGN(value, interp.GetItem(args, bytes ? Value(interp.NewBytes(key)) : Value(interp.NewStr(key))));
      used_mapping = true;
      at = end;
    }
    PercentSpec p;
    for (; at < format.size(); ++at) {
      char c = format[at];
      if (c == '-')
        p.left = true;
      else if (c == '+')
        p.plus = true;
      else if (c == ' ')
        p.blank = true;
      else if (c == '0')
        p.zero = true;
      else if (c == '#')
        p.alternate = true;
      else
        break;
    }
    auto number = [&](int64_t* n) -> Result<void> {
      if (at < format.size() && format[at] == '*') {
        ++at;
        COBRA_TRY_ASSIGN(Value v, take());
        if (!v.IsIntOrBool()) return interp.Raise(t.TypeError, "* wants int");
        *n = v.as_int();
        return interp.CheckSize(std::abs(*n), 1);
      }
      *n = 0;
      for (int i = 0; at < format.size() && absl::ascii_isdigit(static_cast<unsigned char>(format[at])) && i < 10; ++i)
        *n = *n * 10 + (format[at++] - '0');
      return interp.CheckSize(*n, 1);
    };
    COBRA_TRY(number(&p.width));
    if (p.width < 0) {
      p.left = true;
      p.width = -p.width;
    }
    if (at < format.size() && format[at] == '.') {
      ++at;
      int64_t precision;
      COBRA_TRY(number(&precision));
      p.precision = static_cast<int>(std::min<int64_t>(precision, 100000));
    }
    while (at < format.size() && (format[at] == 'l' || format[at] == 'h' || format[at] == 'L')) ++at;
    if (at >= format.size()) return interp.Raise(t.ValueError, "incomplete format");
    p.type = format[at++];
    if (bytes && p.type == 'b') p.type = 's';
    if (p.type == '%') {
      out.push_back('%');
      continue;
    }
    if (value.IsUnbound()) COBRA_TRY_SET(value, take());
    std::string text;
    if (p.type == 's' || p.type == 'r' || p.type == 'a' || p.type == 'c') {
      COBRA_TRY_ASSIGN(text, PercentText(interp, p, value, bytes));
    } else if (std::string("diuxXoeEfFgG").find(p.type) != std::string::npos) {
      COBRA_TRY_ASSIGN(text, PercentNumber(interp, p, value));
    } else {
      return interp.Raise(t.ValueError, absl::StrCat("unsupported format character '", std::string(1, p.type), "' (0x",
                                                     absl::Hex(p.type), ") at index ", at - 1));
    }
    out += text;
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
  }
  // Whatever has [] and is no tuple or string may be a mapping whose keys the format did not ask for.
  bool mapping = used_mapping || (args.IsObject() && !args.IsTuple() && !args.IsStr() && !(bytes && args.IsBytes()) &&
                                  !interp.LookupClass(args.object()->cls, interp.names().__getitem__).IsUnbound());
  if (next < items.size() && !mapping) {
    return interp.Raise(t.TypeError, "not all arguments converted during string formatting");
  }
  if (bytes) return Value(interp.NewBytes(out));
  return Value(interp.NewStr(out));
}

}  // namespace cobra::python

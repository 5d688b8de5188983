// Text of values: quoted strings, the format-specification language (f"{x:>8.3f}"), str.format and
// % formatting.
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

namespace {
bool Printable(uint32_t c) {
  if (c < 0x20 || c == 0x7f) return false;
  if (c < 0xa1) return c < 0x7f;
  if (c == 0xad || c == 0x1680 || (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
      (c >= 0x205f && c <= 0x206f))
    return false;
  return c != 0x3000 && !(c >= 0xd800 && c <= 0xf8ff) && c != 0xfeff && !(c >= 0xfff0 && c <= 0xfffb) && c < 0xe0000;
}
}  // namespace

std::string QuotedStr(absl::string_view text, bool ascii_only) {
  char quote = text.find('\'') != absl::string_view::npos && text.find('"') == absl::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (int64_t at = 0; at < static_cast<int64_t>(text.size());) {
    int64_t begin = at;
    uint32_t c = DecodeUtf8(text.data(), &at);
    if (c == '\\' || c == static_cast<uint32_t>(quote)) {
      out.push_back('\\');
      out.push_back(static_cast<char>(c));
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (Printable(c) && (!ascii_only || c < 0x80)) {
      out.append(text.data() + begin, static_cast<size_t>(at - begin));
    } else if (c < 0x100) {
      absl::StrAppend(&out, "\\x", absl::Hex(c, absl::kZeroPad2));
    } else if (c < 0x10000) {
      absl::StrAppend(&out, "\\u", absl::Hex(c, absl::kZeroPad4));
    } else {
      absl::StrAppend(&out, "\\U", absl::Hex(c, absl::kZeroPad8));
    }
  }
  out.push_back(quote);
  return out;
}

std::string QuotedBytes(absl::string_view bytes) {
  char quote = bytes.find('\'') != absl::string_view::npos && bytes.find('"') == absl::string_view::npos ? '"' : '\'';
  std::string out = absl::StrCat("b", std::string(1, quote));
  for (char ch : bytes) {
    auto c = static_cast<unsigned char>(ch);
    if (ch == '\\' || ch == quote) {
      out.push_back('\\');
      out.push_back(ch);
    } else if (ch == '\n') {
      out += "\\n";
    } else if (ch == '\r') {
      out += "\\r";
    } else if (ch == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c >= 0x7f) {
      absl::StrAppend(&out, "\\x", absl::Hex(c, absl::kZeroPad2));
    } else {
      out.push_back(ch);
    }
  }
  out.push_back(quote);
  return out;
}

// %e, %f, %g in Python's notation; `type` is lower case.
std::string FormatDouble(double d, char type, int precision, bool alternate, bool upper) {
  std::string out;
  if (std::isnan(d) || std::isinf(d)) {
    out = std::isnan(d) ? "nan" : d < 0 ? "-inf" : "inf";
  } else if (type == 'r') {  // repr
    out = FloatRepr(d);
  } else {
    char format[16];
    std::snprintf(format, sizeof(format), "%%%s.*%c", alternate ? "#" : "", type);
    char buffer[1600];
    std::snprintf(buffer, sizeof(buffer), format, std::min(precision, 1000), d);
    out = buffer;
  }
  if (upper) out = absl::AsciiStrToUpper(out);
  return out;
}

namespace {

// %#g: `precision` digits, zeros included; with an exponent if there are more than precision -
// margin before the point. (glibc's own %#g drops the zeros of a number that is rounded up to a
// power of ten.)
std::string AllDigits(double magnitude, int precision, int margin) {
  std::string text = FormatDouble(magnitude, 'e', precision - 1, true, false);
  int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  if (exponent < -4 || exponent >= precision - margin) return text;
  return FormatDouble(magnitude, 'f', precision - 1 - exponent, true, false);
}

}  // namespace

int64_t CodePoints(absl::string_view s) {
  int64_t n = 0;
  for (char c : s) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

namespace {

struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // '<', '>', '=', '^'
  bool align_given = false;
  char sign = '-';
  bool sign_given = false;
  bool zero_negative = false;
  bool alternate = false;
  bool zero = false;
  int64_t width = 0;
  char grouping = 0;
  int precision = -1;
  char type = 0;
};

// Takes "[[fill]align]" from the beginning of `rest`; returns whether it gives the fill character.
bool TakeAlignment(absl::string_view* rest, FormatSpec* f) {
  auto is_align = [](char c) { return c == '<' || c == '>' || c == '=' || c == '^'; };
  int64_t decoded = 0;
  if (!rest->empty()) DecodeUtf8(rest->data(), &decoded);
  const auto fill_size = static_cast<size_t>(decoded);
  bool fill_given = false;
  if (rest->size() > fill_size && is_align((*rest)[fill_size])) {
    fill_given = true;
    f->fill = std::string(rest->substr(0, fill_size));
    f->align = (*rest)[fill_size];
    rest->remove_prefix(fill_size + 1);
  } else if (!rest->empty() && is_align((*rest)[0])) {
    f->align = (*rest)[0];
    rest->remove_prefix(1);
  }
  f->align_given = f->align != 0;
  return fill_given;
}

// Takes digits from the beginning of `rest`; false if there are none.
bool TakeNumber(absl::string_view* rest, int64_t* out) {
  size_t n = 0;
  *out = 0;
  while (n < rest->size() && absl::ascii_isdigit(static_cast<unsigned char>((*rest)[n])) && n < 10)
    *out = *out * 10 + ((*rest)[n++] - '0');
  rest->remove_prefix(n);
  return n > 0;
}

Result<FormatSpec> ParseSpec(Interpreter& interp, absl::string_view s, Value v) {
  FormatSpec f;
  absl::string_view rest = s;
  const bool fill_given = TakeAlignment(&rest, &f);
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-' || rest[0] == ' ')) {
    f.sign = rest[0];
    f.sign_given = true;
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest[0] == 'z') {
    f.zero_negative = true;
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest[0] == '#') {
    f.alternate = true;
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest[0] == '0' && !fill_given) {
    f.zero = true;
    f.fill = "0";
    if (f.align == 0) f.align = '=';
    rest.remove_prefix(1);
  }
  TakeNumber(&rest, &f.width);
  if (!rest.empty() && (rest[0] == ',' || rest[0] == '_')) {
    f.grouping = rest[0];
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    int64_t p;
    if (!TakeNumber(&rest, &p)) return interp.Raise(interp.types().ValueError, "Format specifier missing precision");
    f.precision = static_cast<int>(std::min<int64_t>(p, INT32_MAX));
  }
  if (rest.size() > 1) {
    return interp.Raise(interp.types().ValueError, "Invalid format specifier '", s, "' for object of type '",
                        interp.TypeName(v), "'");
  }
  if (!rest.empty()) f.type = rest[0];
  COBRA_TRY(interp.CheckSize(f.width, 4));
  constexpr int kMostDigits = 100'000;
  if (f.precision > kMostDigits)
    return interp.LimitReached(LimitMessage("a precision", f.precision, kMostDigits, "digits"));
  return f;
}

// `body` after `prefix` (sign, 0x), padded to the width.
std::string Pad(const FormatSpec& f, absl::string_view prefix, absl::string_view body, char default_align) {
  char align = f.align != 0 ? f.align : default_align;
  int64_t pad = f.width - CodePoints(prefix) - CodePoints(body);
  std::string out;
  auto fill = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i) out += f.fill;
  };
  if (pad <= 0) return absl::StrCat(prefix, body);
  if (align == '=') {
    absl::StrAppend(&out, prefix);
    fill(pad);
    absl::StrAppend(&out, body);
  } else if (align == '<') {
    absl::StrAppend(&out, prefix, body);
    fill(pad);
  } else if (align == '>') {
    fill(pad);
    absl::StrAppend(&out, prefix, body);
  } else {
    fill(pad / 2);
    absl::StrAppend(&out, prefix, body);
    fill(pad - pad / 2);
  }
  return out;
}

// Inserts separators in the leading digits of `digits`; zero padding is grouped too.
std::string Group(absl::string_view digits, char separator, int every, int64_t min_width) {
  size_t end = 0;
  while (end < digits.size() && absl::ascii_isxdigit(static_cast<unsigned char>(digits[end])) &&
         !(every == 3 && !absl::ascii_isdigit(static_cast<unsigned char>(digits[end]))))
    ++end;
  std::string whole(digits.substr(0, end));
  std::string rest(digits.substr(end));
  while (true) {
    std::string out;
    for (size_t i = 0; i < whole.size(); ++i) {
      if (i > 0 && (whole.size() - i) % static_cast<size_t>(every) == 0) out.push_back(separator);
      out.push_back(whole[i]);
    }
    if (static_cast<int64_t>(out.size() + rest.size()) >= min_width) return out + rest;
    whole.insert(0, "0");
  }
}

Result<StrObject*> FormatInt(Interpreter& interp, Value v, const FormatSpec& f) {
  BigInt b = ToBigInt(v);
  if (f.precision >= 0)
    return interp.Raise(interp.types().ValueError, "Precision not allowed in integer format specifier");
  if (f.type == 'n' && f.grouping != 0)
    return interp.Raise(interp.types().ValueError, "Cannot specify '", std::string(1, f.grouping), "' with 'n'.");
  if (f.type == 'c') {
    if (f.sign_given)
      return interp.Raise(interp.types().ValueError, "Sign not allowed with integer format specifier 'c'");
    if (f.alternate)
      return interp.Raise(interp.types().ValueError,
                          "Alternate form (#) not allowed with integer format specifier 'c'");
    if (f.grouping != 0)
      return interp.Raise(interp.types().ValueError, "Cannot specify '", std::string(1, f.grouping), "' with 'c'.");
    std::string out;
    if (b.negative() || b.bits() > 21 || b.ToInt64() > 0x10ffff)
      return interp.Raise(interp.types().OverflowError, "%c arg not in range(0x110000)");
    AppendUtf8(&out, static_cast<uint32_t>(b.ToInt64()));
    return interp.NewStr(Pad(f, "", out, '>'));
  }
  int base = f.type == 'b' ? 2 : f.type == 'o' ? 8 : f.type == 'x' || f.type == 'X' ? 16 : 10;
  std::string prefix = b.negative() ? "-" : f.sign == '+' ? "+" : f.sign == ' ' ? " " : "";
  if (f.alternate && base != 10) absl::StrAppend(&prefix, "0", std::string(1, f.type));
  COBRA_TRY(interp.Charge(DigitsSteps(b)));
  std::string digits = (b.negative() ? -b : b).ToString(base);
  if (f.type == 'X') digits = absl::AsciiStrToUpper(digits);
  if (f.grouping != 0) {
    if (f.grouping == ',' && base != 10)
      return interp.Raise(interp.types().ValueError, "Cannot specify ',' with '", std::string(1, f.type), "'.");
    int64_t min_width = f.align == '=' && f.fill == "0" ? f.width - static_cast<int64_t>(prefix.size()) : 0;
    digits = Group(digits, f.grouping, base == 10 ? 3 : 4, min_width);
  }
  return interp.NewStr(Pad(f, prefix, digits, '>'));
}

Result<StrObject*> FormatFloat(Interpreter& interp, double d, const FormatSpec& f) {
  if (f.type == 'n' && f.grouping != 0)
    return interp.Raise(interp.types().ValueError, "Cannot specify '", std::string(1, f.grouping), "' with 'n'.");
  char lower = static_cast<char>(absl::ascii_tolower(static_cast<unsigned char>(f.type)));
  bool upper = f.type != lower;
  std::string text;
  double magnitude = std::fabs(d);
  bool negative = std::signbit(d) && !std::isnan(d);
  if (f.type == '%') {
    text = FormatDouble(magnitude * 100, 'f', f.precision < 0 ? 6 : f.precision, f.alternate, false) + "%";
  } else if (f.type == 0) {
    if (f.precision < 0) {
      text = FloatRepr(magnitude);
      size_t exponent = text.find('e');
      if (f.alternate && std::isfinite(d) && exponent != std::string::npos && text.find('.') == std::string::npos)
        text.insert(exponent, ".");
    } else if (f.alternate && std::isfinite(d)) {
      text = AllDigits(magnitude, std::max(f.precision, 1), 1);
    } else {
      // Like g, but with at least one digit after the point.
      int precision = f.precision == 0 ? 1 : f.precision;
      text = FormatDouble(magnitude, 'g', precision, false, false);
      if (std::isfinite(d) && text.find_first_of(".e") == std::string::npos) {
        if (static_cast<int>(text.size()) >= precision) {
          text = FormatDouble(magnitude, 'e', precision - 1, false, false);
          size_t e = text.find('e'), end = e;  // no trailing zeros, as in %g
          while (end > 0 && text.find('.') < end && (text[end - 1] == '0' || text[end - 1] == '.')) {
            bool point = text[--end] == '.';
            if (point) break;
          }
          text.erase(end, e - end);
        } else {
          text += ".0";
        }
      }
    }
  } else {
    int precision = f.precision < 0 ? 6 : f.precision;
    if (lower == 'n') lower = 'g';
    if (lower == 'g' && precision == 0) precision = 1;
    if (lower == 'g' && f.alternate && std::isfinite(d)) {
      text = AllDigits(magnitude, precision, 0);
      if (upper) text = absl::AsciiStrToUpper(text);
    } else {
      text = FormatDouble(magnitude, lower, precision, f.alternate, upper);
    }
  }
  if (f.zero_negative && negative && std::isfinite(d) && text.find_first_of("123456789") == std::string::npos)
    negative = false;
  std::string prefix = negative ? "-" : f.sign == '+' ? "+" : f.sign == ' ' ? " " : "";
  if (f.grouping != 0 && std::isfinite(d)) {
    int64_t min_width = f.align == '=' && f.fill == "0" ? f.width - static_cast<int64_t>(prefix.size()) : 0;
    text = Group(text, f.grouping, 3, min_width);
  }
  return interp.NewStr(Pad(f, prefix, text, '>'));
}

Failure RaiseUnknownCode(Interpreter& interp, char type, absl::string_view type_name) {
  std::string shown(1, type);
  if (type <= 32 || type >= 127) shown = absl::StrCat("\\x", absl::Hex(static_cast<unsigned char>(type)));
  return interp.Raise(interp.types().ValueError, "Unknown format code '", shown, "' for object of type '", type_name,
                      "'");
}

// Real and imaginary part in the same format, padded together.
Result<StrObject*> FormatComplexWith(Interpreter& interp, const ComplexObject* c, FormatSpec f) {
  if (f.type != 0 && std::string("eEfFgGn").find(f.type) == std::string::npos)
    return RaiseUnknownCode(interp, f.type, "complex");
  if (f.fill == "0")
    return interp.Raise(interp.types().ValueError, "Zero padding is not allowed in complex format specifier");
  if (f.align == '=')
    return interp.Raise(interp.types().ValueError, "'=' alignment flag is not allowed in complex format specifier");
  FormatSpec part = f;
  part.width = 0;
  part.align = 0;
  bool parenthesized = f.type == 0;
  bool only_imaginary = parenthesized && c->real == 0 && !std::signbit(c->real);
  auto text = [&](double d, char sign) -> Result<std::string> {
    FormatSpec g = part;
    g.sign = sign;
    if (g.type == 0 && g.precision >= 0) g.type = 'g';
    COBRA_TRY_ASSIGN(StrObject * s, FormatFloat(interp, d, g));
    std::string out(s->view());
    // repr(1j) has no point
    if (f.type == 0 && f.precision < 0 && out.size() > 2 && out.compare(out.size() - 2, 2, ".0") == 0)
      out.resize(out.size() - (f.alternate ? 1 : 2));
    return out;
  };
  std::string out;
  if (!only_imaginary) COBRA_TRY_SET(out, text(c->real, f.sign));
  COBRA_TRY_ASSIGN(std::string imaginary, text(c->imag, only_imaginary ? f.sign : '+'));
  absl::StrAppend(&out, imaginary, "j");
  if (parenthesized && !only_imaginary) out = absl::StrCat("(", out, ")");
  return interp.NewStr(Pad(f, "", out, '>'));
}

}  // namespace

Result<StrObject*> FormatNumber(Interpreter& interp, Value v, absl::string_view spec) {
  COBRA_TRY_ASSIGN(FormatSpec f, ParseSpec(interp, spec, v));
  auto unknown = [&] { return RaiseUnknownCode(interp, f.type, interp.TypeName(v)); };
  if (v.IsComplex()) return FormatComplexWith(interp, v.as<ComplexObject>(), f);
  if (IsIntLike(v)) {
    if (v.IsBool() && spec.empty()) return interp.NewStr(v.as_bool() ? "True" : "False");
    if (f.type == 0 || f.type == 'd' || f.type == 'b' || f.type == 'o' || f.type == 'x' || f.type == 'X' ||
        f.type == 'c' || f.type == 'n') {
      return FormatInt(interp, v, f);
    }
    if (std::string("eEfFgG%").find(f.type) == std::string::npos) return unknown();
    COBRA_TRY_ASSIGN(double d, interp.AsFloat(v));
    return FormatFloat(interp, d, f);
  }
  if (f.type != 0 && std::string("eEfFgGn%").find(f.type) == std::string::npos) return unknown();
  double d;
  NumberAsDouble(v, &d);
  return FormatFloat(interp, d, f);
}

Result<StrObject*> FormatStr(Interpreter& interp, StrObject* s, absl::string_view spec) {
  if (spec.empty()) return s;
  COBRA_TRY(interp.Charge(StepsToScan(s->view().size())));
  COBRA_TRY_ASSIGN(FormatSpec f, ParseSpec(interp, spec, Value(s)));
  if (f.type != 0 && f.type != 's') {
    return RaiseUnknownCode(interp, f.type, "str");
  }
  if (f.grouping != 0)
    return interp.Raise(interp.types().ValueError, "Cannot specify '", std::string(1, f.grouping), "' with 's'.");
  if (f.align == '=' && f.align_given)
    return interp.Raise(interp.types().ValueError, "'=' alignment not allowed in string format specifier");
  if (f.alternate)
    return interp.Raise(interp.types().ValueError, "Alternate form (#) not allowed in string format specifier");
  if (f.sign_given) return interp.Raise(interp.types().ValueError, "Sign not allowed in string format specifier");
  if (f.align == '=') f.align = '<';
  absl::string_view text = s->view();
  if (f.precision >= 0 && f.precision < s->length)
    text = text.substr(0, static_cast<size_t>(ByteOffset(s, f.precision)));
  return interp.NewStr(Pad(f, "", text, '<'));
}

// ---- str.format ----

namespace {

class FormatRun {
 public:
  FormatRun(Interpreter& interp, const CallArgs& args) : interp_(interp), args_(args) {}

  Result<std::string> Run(absl::string_view format, int depth) {
    if (depth > 2) return interp_.Raise(interp_.types().ValueError, "Max string recursion exceeded");
    COBRA_TRY(interp_.Charge(static_cast<int64_t>(format.size()) / 4));
    std::string out;
    for (size_t at = 0; at < format.size();) {
      char c = format[at];
      if (c == '{' || c == '}') {
        if (at + 1 < format.size() && format[at + 1] == c) {
          out.push_back(c);
          at += 2;
          continue;
        }
        if (c == '}') return interp_.Raise(interp_.types().ValueError, "Single '}' encountered in format string");
        size_t end = at + 1;
        int open = 1;
        for (; end < format.size() && open > 0; ++end) open += format[end] == '{' ? 1 : format[end] == '}' ? -1 : 0;
        if (open > 0) {
          return interp_.Raise(interp_.types().ValueError, at + 1 == format.size()
                                                               ? "Single '{' encountered in format string"
                                                               : "expected '}' before end of string");
        }
        COBRA_TRY_ASSIGN(std::string text, Field(format.substr(at + 1, end - at - 2), depth));
        out += text;
        COBRA_TRY(interp_.CheckSize(static_cast<int64_t>(out.size()), 1));
        at = end;
        continue;
      }
      out.push_back(c);
      ++at;
    }
    return out;
  }

 private:
  Result<std::string> Field(absl::string_view field, int depth) {
    size_t brackets = 0, split = field.size();
    for (size_t i = 0; i < field.size(); ++i) {
      if (field[i] == '[') ++brackets;
      if (field[i] == ']' && brackets > 0) --brackets;
      if ((field[i] == '!' || field[i] == ':') && brackets == 0) {
        split = i;
        break;
      }
    }
    absl::string_view name = field.substr(0, split), spec;
    char conversion = 0;
    if (split < field.size()) {
      absl::string_view rest = field.substr(split);
      if (rest[0] == '!') {
        if (rest.size() < 2)
          return interp_.Raise(interp_.types().ValueError, "end of string while looking for conversion specifier");
        conversion = rest[1];
        rest.remove_prefix(2);
        if (!rest.empty() && rest[0] != ':')
          return interp_.Raise(interp_.types().ValueError, "expected ':' after conversion specifier");
      }
      if (!rest.empty()) spec = rest.substr(1);
    }
    COBRA_TRY_ASSIGN(Value v, Lookup(name));
    if (conversion == 'r') {
      COBRA_TRY_ASSIGN(v, interp_.Repr(v));
    } else if (conversion == 'a') {
      COBRA_TRY_ASSIGN(v, AsciiRepr(interp_, v));
    } else if (conversion == 's') {
      COBRA_TRY_ASSIGN(v, interp_.Str(v));
    } else if (conversion != 0) {
      return interp_.Raise(interp_.types().ValueError, "Unknown conversion specifier ", std::string(1, conversion));
    }
    COBRA_TRY_ASSIGN(std::string expanded, Run(spec, depth + 1));
    COBRA_TRY_ASSIGN(StrObject * s, interp_.Format(v, expanded));
    return std::string(s->view());
  }

  Result<Value> Lookup(absl::string_view name) {
    COBRA_TRY(interp_.Charge(4 + static_cast<int64_t>(args_.keywords.size()) / 8));
    size_t end = name.find_first_of(".[");
    absl::string_view first = name.substr(0, end);
    absl::string_view rest = end == absl::string_view::npos ? "" : name.substr(end);
    Value v = Value::Unbound();
    int64_t index = -1;
    if (first.empty()) {
      if (numbering_ == 2)
        return interp_.Raise(interp_.types().ValueError,
                             "cannot switch from manual field specification to automatic field numbering");
      numbering_ = 1;
      index = next_++;
    } else if (int64_t number;
               absl::ascii_isdigit(static_cast<unsigned char>(first[0])) && absl::SimpleAtoi(first, &number)) {
      index = number;
      if (numbering_ == 1)
        return interp_.Raise(interp_.types().ValueError,
                             "cannot switch from automatic field numbering to manual field specification");
      numbering_ = 2;
    }
    if (index >= 0) {
      if (index >= static_cast<int64_t>(args_.positional.size())) {
        return interp_.Raise(interp_.types().IndexError, "Replacement index ", index,
                             " out of range for positional args tuple");
      }
      v = args_.positional[static_cast<size_t>(index)];
    } else {
      for (const KeywordArg& k : args_.keywords) {
        if (k.name->view() == first) v = k.value;
      }
      if (v.IsUnbound()) {
        Value key = interp_.NewStr(first);
        return interp_.RaiseValue(NewException(interp_, interp_.types().KeyError, 1, &key));
      }
    }
    while (!rest.empty()) {
      if (rest[0] == '.') {
        size_t stop = rest.find_first_of(".[", 1);
        absl::string_view attribute = rest.substr(1, stop == absl::string_view::npos ? stop : stop - 1);
        if (attribute.empty()) return interp_.Raise(interp_.types().ValueError, "Empty attribute in format string");
        COBRA_TRY_ASSIGN(v, interp_.GetAttr(v, attribute));
        rest = stop == absl::string_view::npos ? "" : rest.substr(stop);
      } else {
        size_t stop = rest.find(']');
        if (stop == absl::string_view::npos)
          return interp_.Raise(interp_.types().ValueError, "Missing ']' in format string");
        absl::string_view key = rest.substr(1, stop - 1);
        int64_t number;
        bool numeric =
            !key.empty() && absl::ascii_isdigit(static_cast<unsigned char>(key[0])) && absl::SimpleAtoi(key, &number);
        COBRA_TRY_ASSIGN(v, interp_.GetItem(v, numeric ? Value::Int(number) : Value(interp_.NewStr(key))));
        rest = rest.substr(stop + 1);
      }
    }
    return v;
  }

  Interpreter& interp_;
  const CallArgs& args_;
  int64_t next_ = 0;
  int numbering_ = 0;  // 1 automatic, 2 manual
};

}  // namespace

Result<Value> StrFormatMethod(Interpreter& interp, StrObject* format, const CallArgs& args) {
  FormatRun run(interp, args);
  COBRA_TRY_ASSIGN(std::string out, run.Run(format->view(), 0));
  return Value(interp.NewStr(out));
}

}  // namespace cobra::python

// Conversion between numbers and text, as in int(), float(), complex() and repr().
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/types/character.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {

std::string FloatRepr(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d > 0 ? "inf" : "-inf";
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), d, std::chars_format::scientific).ptr;
  absl::string_view text(buffer, static_cast<size_t>(end - buffer));
  // Shortest digits and the exponent; laid out as repr() does: plain between 1e-4 and 1e16.
  bool negative = text[0] == '-';
  if (negative) text.remove_prefix(1);
  size_t e = text.find('e');
  std::string digits;
  for (char c : text.substr(0, e)) {
    if (c != '.') digits.push_back(c);
  }
  int exponent = 0;
  (void)absl::SimpleAtoi(text.substr(e + 1), &exponent);
  std::string out = negative ? "-" : "";
  int n = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (n > 1) absl::StrAppend(&out, ".", digits.substr(1));
    absl::StrAppend(&out, "e", exponent < 0 ? "-" : "+", absl::Dec(std::abs(exponent), absl::kZeroPad2));
    return out;
  }
  if (exponent < 0) return absl::StrCat(out, "0.", std::string(static_cast<size_t>(-exponent - 1), '0'), digits);
  if (n <= exponent + 1)
    return absl::StrCat(out, digits, std::string(static_cast<size_t>(exponent + 1 - n), '0'), ".0");
  const size_t whole = static_cast<size_t>(exponent) + 1;
  return absl::StrCat(out, digits.substr(0, whole), ".", digits.substr(whole));
}

namespace {

// Removes single underscores between digits; false if there is an underscore elsewhere.
bool StripUnderscores(absl::string_view in, std::string* out) {
  out->clear();
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] != '_') {
      out->push_back(in[i]);
      continue;
    }
    if (i == 0 || i + 1 == in.size() || !absl::ascii_isalnum(static_cast<unsigned char>(in[i - 1])) ||
        !absl::ascii_isalnum(static_cast<unsigned char>(in[i + 1]))) {
      return false;
    }
  }
  return true;
}

// Replaces decimal digits and blanks of other scripts by those of ASCII.
std::string AsciiDigits(absl::string_view text) {
  if (ast::FindInvalidUtf8(text) != absl::string_view::npos) return std::string(text);  // the text comes from bytes
  std::string out;
  for (int64_t at = 0; at < static_cast<int64_t>(text.size());) {
    if (static_cast<unsigned char>(text[static_cast<size_t>(at)]) < 0x80) {
      char c = text[static_cast<size_t>(at++)];
      out.push_back(c >= 0x1c && c <= 0x1f ? ' ' : c);
      continue;
    }
    uint32_t c = DecodeUtf8(text.data(), &at);
    if (HasProperty(c, kDecimal)) {
      out.push_back(static_cast<char>('0' + DecimalDigit(c)));
    } else if (HasProperty(c, kSpace)) {
      out.push_back(' ');
    } else {
      AppendUtf8(&out, c);
    }
  }
  return out;
}

}  // namespace

Result<Value> OfUnknownNumber(Interpreter& interp, Value v, absl::string_view method) {
  if (!v.IsInstance()) return v;
  COBRA_TRY_ASSIGN(const Value own, interp.CallSpecial(v, interp.Intern(method), {}));
  return own.IsUnbound() ? v : own;
}

Result<Value> IntFromText(Interpreter& interp, absl::string_view text, int base, Value original) {
  auto bad = [&]() -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * repr, interp.Repr(original));
    return interp.Raise(interp.types().ValueError, "invalid literal for int() with base ", base, ": ", repr->view());
  };
  COBRA_TRY(interp.Charge(static_cast<int64_t>(text.size()) / 4));
  std::string ascii = AsciiDigits(text);
  absl::string_view s = absl::StripAsciiWhitespace(ascii);
  bool negative = false;
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  int shown_base = base;
  if (s.size() > 1 && s[0] == '0') {
    char c = absl::ascii_tolower(static_cast<unsigned char>(s[1]));
    int prefix = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    if (prefix != 0 && (base == 0 || base == prefix)) {
      s.remove_prefix(2);
      if (!s.empty() && s[0] == '_') s.remove_prefix(1);
      base = prefix;
    }
  }
  if (base == 0) {
    if (s.size() > 1 && s[0] == '0' && s.find_first_not_of("0_") != absl::string_view::npos) {
      base = shown_base;
      return bad();
    }
    base = 10;
  }
  std::string digits;
  BigInt value;
  int parse_base = base;
  if (static_cast<int64_t>(s.size()) > 4300 && (parse_base & (parse_base - 1)) != 0) {
    return interp.Raise(interp.types().ValueError,
                        "Exceeds the limit (4300 digits) for integer string conversion: value has ", s.size(),
                        " digits; use sys.set_int_max_str_digits() to increase the limit");
  }
  if (static_cast<int64_t>(s.size()) * 5 > interp.limits().big_int_bits) return interp.IntTooLarge();
  // Each digit multiplies all words so far.
  COBRA_TRY(interp.Charge(static_cast<int64_t>(s.size() * s.size() / 800)));
  bool ok = StripUnderscores(s, &digits) && BigInt::Parse(digits, parse_base, &value);
  base = shown_base;
  if (!ok) return bad();
  return interp.NewInt(negative ? -value : value);
}

Result<Value> FloatFromText(Interpreter& interp, absl::string_view text, Value original) {
  COBRA_TRY(interp.Charge(static_cast<int64_t>(text.size()) / 4));
  std::string ascii = AsciiDigits(text);
  absl::string_view s = absl::StripAsciiWhitespace(ascii);
  std::string clean;
  bool ok = StripUnderscores(s, &clean) && !clean.empty();
  std::string lower = absl::AsciiStrToLower(clean);
  size_t sign = !lower.empty() && (lower[0] == '+' || lower[0] == '-') ? 1 : 0;
  std::string body = lower.substr(sign);
  double d = 0;
  if (ok && (body == "inf" || body == "infinity" || body == "nan")) {
    d = body == "nan" ? std::nan("") : HUGE_VAL;
    return Value::Float(lower[0] == '-' ? -d : d);
  }
  ok = ok && !body.empty() && body.find_first_not_of("0123456789.e+-") == std::string::npos;
  if (ok) {
    auto r = std::from_chars(body.data(), body.data() + body.size(), d, std::chars_format::general);
    ok = r.ptr == body.data() + body.size() && r.ec != std::errc::invalid_argument && body[0] != '-';
    if (ok && r.ec == std::errc::result_out_of_range) d = std::strtod(body.c_str(), nullptr);
  }
  if (!ok) {
    COBRA_TRY_ASSIGN(StrObject * repr, interp.Repr(original));
    return interp.Raise(interp.types().ValueError, "could not convert string to float: ", repr->view());
  }
  return Value::Float(lower[0] == '-' ? -d : d);
}

bool ComplexFromText(absl::string_view original, double* real, double* imag) {
  const std::string ascii = AsciiDigits(original);
  absl::string_view text = absl::StripAsciiWhitespace(ascii);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')')
    text = absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
  std::string s;
  if (!StripUnderscores(text, &s) || s.empty()) return false;
  auto number = [&](const char* begin, const char** end, double* out) {
    const char* p = begin;
    if (*p == '+' || *p == '-') ++p;
    if (!absl::ascii_isdigit(static_cast<unsigned char>(*p)) && *p != '.' &&
        !absl::ascii_isalpha(static_cast<unsigned char>(*p)))
      return false;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) return false;
    if (*p == 'j' || *p == 'J') {  // the imaginary unit alone
      *out = *begin == '-' ? -1 : 1;
      *end = p;
      return true;
    }
    char* stop;
    *out = std::strtod(begin, &stop);
    *end = stop;
    return stop != begin;
  };
  const char* p = s.c_str();
  double first, second;
  *real = *imag = 0;
  if (!number(p, &p, &first)) return false;
  if (*p == 0) return *real = first, true;
  if (*p == 'j' || *p == 'J') return *imag = first, p[1] == 0;
  if ((*p != '+' && *p != '-') || !number(p, &p, &second) || (*p != 'j' && *p != 'J') || p[1] != 0) return false;
  *real = first;
  *imag = second;
  return true;
}

}  // namespace cobra::python

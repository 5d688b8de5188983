#include "graph/attributes.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cobra::graph {
namespace {

// The shortest decimal that reads back as the same double, in Python's layout: 1e-05, 0.1, 6.0,
// inf.
std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text;
  for (int precision = 1; precision <= 17; ++precision) {
    text = absl::StrFormat("%.*e", precision - 1, value);
    double back;
    if (absl::SimpleAtod(text, &back) && back == value) break;
  }
  const size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  if (exponent < -4 || exponent >= 16) {
    return absl::StrFormat("%se%c%02d", text.substr(0, e), exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  const int digits = static_cast<int>(e) - (text[0] == '-') - (e > size_t{2} ? 1 : 0);
  text = absl::StrFormat("%.*f", std::max(0, digits - 1 - exponent), value);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

struct Printer {
  std::string operator()(NoneValue) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return FloatText(value); }
  std::string operator()(const std::string& value) const { return absl::StrCat("'", value, "'"); }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    std::string out = "(";
    for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&out, i ? "," : "", (*this)(values[i]));
    return out + (values.size() == 1 ? ",)" : ")");
  }
};

}  // namespace

std::string AttributeText(const AttributeValue& value) { return std::visit(Printer(), value); }

Attributes::Entries& Attributes::Own() {
  if (entries_ == nullptr) entries_ = std::make_shared<Entries>();
  if (entries_.use_count() > 1) entries_ = std::make_shared<Entries>(*entries_);
  return *entries_;
}

void Attributes::Set(absl::string_view name, AttributeValue value) {
  for (Entry& entry : Own()) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  Append(name, std::move(value));
}

const AttributeValue* Attributes::Find(absl::string_view name) const {
  for (const Entry& entry : *this) {
    if (entry.first.size() == name.size() && (name.empty() || entry.first[0] == name[0]) && entry.first == name)
      return &entry.second;
  }
  return nullptr;
}

int64_t Attributes::Int(absl::string_view name, int64_t fallback) const {
  const AttributeValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (const auto* i = std::get_if<int64_t>(value)) return *i;
  if (const auto* b = std::get_if<bool>(value)) return *b ? 1 : 0;
  return fallback;
}

double Attributes::Double(absl::string_view name, double fallback) const {
  const AttributeValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (const auto* d = std::get_if<double>(value)) return *d;
  if (const auto* i = std::get_if<int64_t>(value)) return static_cast<double>(*i);
  if (const auto* b = std::get_if<bool>(value)) return *b ? 1 : 0;
  return fallback;
}

bool Attributes::Bool(absl::string_view name, bool fallback) const {
  const AttributeValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (const auto* b = std::get_if<bool>(value)) return *b;
  if (const auto* i = std::get_if<int64_t>(value)) return *i != 0;
  return fallback;
}

std::string Attributes::String(absl::string_view name, absl::string_view fallback) const {
  const AttributeValue* value = Find(name);
  const auto* s = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return s == nullptr ? std::string(fallback) : *s;
}

absl::Span<const int64_t> Attributes::IntSpan(absl::string_view name) const {
  const AttributeValue* value = Find(name);
  if (value == nullptr) return {};
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) return *list;
  if (const auto* i = std::get_if<int64_t>(value)) return absl::MakeConstSpan(i, 1);
  return {};
}

std::vector<int64_t> Attributes::Ints(absl::string_view name) const {
  const AttributeValue* value = Find(name);
  if (value == nullptr) return {};
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) return *list;
  if (const auto* i = std::get_if<int64_t>(value)) return {*i};
  return {};
}

}  // namespace cobra::graph

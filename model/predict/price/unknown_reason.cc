#include "model/predict/price/unknown_reason.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/builder/untrusted.h"
#include "graph/op.h"
#include "model/predict/price/known_range.h"

namespace cobra::predict {
namespace {

// The amounts of work at the end of a layer's text, in the units of messages.
struct WorkUnit {
  const char* word;
  double size;
  const char* unit;
};
constexpr WorkUnit kWorkUnits[] = {{"macs#0", 1e9, "GMAC"},
                                   {"read_bytes#0", 1e6, "MB read"},
                                   {"weight_bytes#0", 1e6, "MB of weights"},
                                   {"write_bytes#0", 1e6, "MB written"}};

// Three digits, without an exponent for large numbers.
std::string WorkText(double amount) {
  return amount < 100 ? absl::StrFormat("%.3g", amount) : absl::StrFormat("%.0f", amount);
}

bool IsTensor(absl::string_view op, absl::string_view name) {
  if (name == "out") return true;
  const std::optional<graph::Op> known = graph::OpFromName(op);
  if (!known) return false;
  const std::vector<graph::OpInputSpec>& inputs = graph::GetOpInfo(*known).inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](const graph::OpInputSpec& input) { return input.name == name; });
}

// "the result", "weight"; of several tensors of one name, "tensors, number 2".
std::string DescribeTensor(const std::vector<text::RawToken>& raw, size_t i, absl::string_view name) {
  const std::string first = absl::StrCat(name, "#0");
  const auto starts = [&](const text::RawToken& token) { return token.word == first; };
  const auto end = raw.begin() + static_cast<std::ptrdiff_t>(i) + 1;
  std::string text = name == "out" ? "the result" : std::string(name);
  if (std::count_if(raw.begin(), raw.end(), starts) > 1)
    absl::StrAppend(&text, ", number ", std::count_if(raw.begin(), end, starts));
  return text;
}

// Where in the call the i-th token stands: "dimension 2 of input", "stride[1]", "groups".
std::string DescribeNumber(const std::vector<text::RawToken>& raw, size_t i) {
  const absl::string_view word = raw[i].word;
  const size_t hash = word.find('#');
  if (hash == absl::string_view::npos) return std::string(word);
  const absl::string_view name = word.substr(0, hash), index = word.substr(hash + 1);
  if (IsTensor(raw[0].word, name)) return absl::StrCat("dimension ", index, " of ", DescribeTensor(raw, i, name));
  const bool is_list = index != "0" || (i + 1 < raw.size() && raw[i + 1].word == absl::StrCat(name, "#1"));
  return is_list ? absl::StrCat(name, "[", index, "]") : std::string(name);
}

}  // namespace

std::string DescribeUnknownWord(const std::vector<text::RawToken>& raw, size_t i) {
  if (i == 0) return absl::StrCat(raw[0].word, " was never measured");
  const absl::string_view word = raw[i].word;
  const size_t colon = word.find(':');
  if (colon != absl::string_view::npos && IsTensor(raw[0].word, word.substr(0, colon)))
    return absl::StrCat(raw[0].word, " with ", DescribeTensor(raw, i, word.substr(0, colon)), " of type ",
                        word.substr(colon + 1), " was never measured");
  return absl::StrCat(raw[0].word, " with ", graph::Quoted(DescribeNumber(raw, i)), " was never measured");
}

std::string DescribeOutside(const std::vector<text::RawToken>& raw, size_t i, double value, double low, double high) {
  for (const WorkUnit& work : kWorkUnits) {
    if (raw[i].word != work.word) continue;
    return absl::StrCat(raw[0].word, ": ", WorkText(value / work.size), " ", work.unit, ", measured ",
                        value > high ? "up to " : "from ", WorkText((value > high ? high : low) / work.size));
  }
  return absl::StrFormat("%s: %s is %.6g; measured from %.6g to %.6g", raw[0].word, DescribeNumber(raw, i), value, low,
                         high);
}

std::string WhyUnknown(absl::string_view text, const std::vector<text::Token>& tokens,
                       const std::vector<std::pair<double, double>>& value_ranges) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const text::Token& token = tokens[i];
    if (token.id == text::Vocabulary::kUnknown) return DescribeUnknownWord(text::SplitText(text), i);
    if (!token.numeric) continue;
    const auto& [low, high] = value_ranges[token.id];
    // The slack widens the range at both ends, whatever the signs: dim=-1 is within [-1, 3].
    const double above = high > 0 ? high * kRangeSlack : high / kRangeSlack,
                 below = low > 0 ? low / kRangeSlack : low * kRangeSlack;
    if (token.value <= above + 1e-9 && token.value >= below - 1e-9) continue;
    return DescribeOutside(text::SplitText(text), i, token.value, low, high);
  }
  return "";
}

}  // namespace cobra::predict

// Why a call differs from the training data, in words for users.
#ifndef COBRA_MODEL_PREDICT_PRICE_UNKNOWN_REASON_H_
#define COBRA_MODEL_PREDICT_PRICE_UNKNOWN_REASON_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/text/tokenizer.h"

namespace cobra::predict {

// `raw` are the tokens of a layer's text, of which token `i` lies outside. A word that no
// measurement has: "conv2d with input of type int64 was never measured".
std::string DescribeUnknownWord(const std::vector<text::RawToken>& raw, size_t i);

// A number outside of what was measured, `low` to `high`: "conv2d: dimension 1 of the result is
// 9000; measured from 1 to 4096".
std::string DescribeOutside(const std::vector<text::RawToken>& raw, size_t i, double value, double low, double high);

// The first word or number of a layer's text that lies outside the training data, described; empty:
// there is none. `value_ranges`: as in a manifest.
std::string WhyUnknown(absl::string_view text, const std::vector<text::Token>& tokens,
                       const std::vector<std::pair<double, double>>& value_ranges);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_UNKNOWN_REASON_H_

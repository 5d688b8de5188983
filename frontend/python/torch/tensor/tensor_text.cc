// The text of a tensor, as repr() and str() give it. PyTorch prints elements, which are known of
// constants alone: of those, short ones have PyTorch's own text, with its choice between 1.5000 and
// 1.5000e-06.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {
namespace {

constexpr int64_t kMostElements = 16;
constexpr size_t kLineWidth = 80;  // PyTorch breaks longer lines

// How the numbers of a tensor of floats are written: all alike.
enum class FloatForm { kWhole, kFixed, kScientific };

FloatForm FormOf(const ConstValues& values) {
  double least = INFINITY, most = 0;
  bool whole = true;
  for (double v : values) {
    if (v == 0 || !std::isfinite(v)) continue;
    least = std::min(least, std::fabs(v));
    most = std::max(most, std::fabs(v));
    whole = whole && v == std::ceil(v);
  }
  if (most == 0) return FloatForm::kWhole;
  const bool wide = most / least > 1000 || most > 1e8;
  if (whole) return wide ? FloatForm::kScientific : FloatForm::kWhole;
  return wide || least < 1e-4 ? FloatForm::kScientific : FloatForm::kFixed;
}

std::string FloatText(FloatForm form, double v) {
  if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  switch (form) {
    case FloatForm::kWhole: return absl::StrFormat("%.0f.", v);
    case FloatForm::kFixed: return absl::StrFormat("%.4f", v);
    case FloatForm::kScientific: return absl::StrFormat("%.4e", v);
  }
  return "";
}

std::vector<std::string> Elements(const Tensor& tensor) {
  const FloatForm form = FormOf(*tensor.values);
  std::vector<std::string> texts;
  size_t width = 0;
  for (double v : *tensor.values) {
    if (tensor.type.dtype == graph::DType::bool_) {
      texts.push_back(v != 0 ? "True" : "False");
    } else if (graph::IsFloatingPoint(tensor.type.dtype)) {
      texts.push_back(FloatText(form, v));
    } else {
      texts.push_back(absl::StrFormat("%.0f", v));
    }
    const bool counts = !graph::IsFloatingPoint(tensor.type.dtype) || (v != 0 && std::isfinite(v));
    if (counts) width = std::max(width, texts.back().size());
  }
  for (std::string& text : texts) text.insert(0, width > text.size() ? width - text.size() : 0, ' ');
  return texts;
}

}  // namespace

std::string TensorText(const Tensor& tensor) {
  const graph::TensorType& type = tensor.type;
  const bool known = tensor.is_const() && tensor.values != nullptr && !tensor.is_random &&
                     !graph::IsComplex(type.dtype) && type.num_elements() <= kMostElements && type.rank() <= 1;
  if (known) {
    std::string text = absl::StrJoin(Elements(tensor), ", ");
    if (type.rank() == 1) text = absl::StrCat("[", text, "]");
    const bool usual = type.dtype == graph::DType::float32 || type.dtype == graph::DType::bool_ ||
                       (type.dtype == graph::DType::int64 && type.num_elements() > 0);
    const std::string dtype = usual ? "" : absl::StrCat(", dtype=", DTypeText(type.dtype));
    text = absl::StrCat("tensor(", text, dtype, tensor.requires_grad ? ", requires_grad=True)" : ")");
    if (text.size() <= kLineWidth) return text;
  }
  return absl::StrCat("tensor(..., size=(", absl::StrJoin(type.shape, ", "), type.rank() == 1 ? ",)" : ")",
                      ", dtype=", DTypeText(type.dtype), ")");
}

}  // namespace cobra::python

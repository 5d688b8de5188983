#include "model/infer/linear.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace cobra::infer {
namespace {

std::vector<float> Padded(const float* values, int64_t count) {
  std::vector<float> padded(static_cast<size_t>(PaddedWidth(count)));
  std::memcpy(padded.data(), values, static_cast<size_t>(count) * sizeof(float));
  return padded;
}

}  // namespace

void Linear::Apply(const float* x, int64_t rows, int64_t x_stride, float* y, int64_t y_stride, bool add) const {
  BestKernels().product(x, rows, x_stride, panels.data(), in, out, bias.empty() ? nullptr : bias.data(), add, y,
                        y_stride);
}

void Norm::Apply(const float* x, int64_t rows, int64_t stride, float* y) const {
  BestKernels().layer_norm(x, rows, width, stride, scale.data(), shift.data(), y);
}

Norm Norm::Times(const std::vector<float>& gains) const {
  Norm scaled = *this;
  for (size_t i = 0; i < gains.size(); ++i) {
    scaled.scale[i] *= gains[i];
    scaled.shift[i] *= gains[i];
  }
  return scaled;
}

absl::StatusOr<Tensors> Tensors::Parse(absl::string_view file) {
  Tensors tensors;
  COBRA_ASSIGN_OR_RETURN(tensors.tensors_, ReadTensorFile(file, "F32"));
  return tensors;
}

// The file has whole floats, but at any address: they are copied before they are read.
absl::StatusOr<const float*> Tensors::Find(const std::string& name, const std::vector<int64_t>& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return absl::DataLossError(absl::StrCat("tensors: ", name, " is missing"));
  if (found->second.shape != shape) {
    return absl::DataLossError(absl::StrCat("tensors: ", name, " must be [", absl::StrJoin(shape, ", "),
                                            "], the file has [", absl::StrJoin(found->second.shape, ", "), "]"));
  }
  return reinterpret_cast<const float*>(found->second.bytes.data());
}

int64_t Tensors::num_elements() const {
  int64_t n = 0;
  for (const auto& [name, tensor] : tensors_) n += static_cast<int64_t>(tensor.bytes.size() / sizeof(float));
  return n;
}

absl::StatusOr<Linear> Tensors::LinearOf(const std::string& name, int64_t in, int64_t out, bool biased) const {
  COBRA_ASSIGN_OR_RETURN(const float* weight, Find(name + ".weight", {out, in}));
  Linear linear;
  linear.in = in;
  linear.out = out;
  linear.panels.resize(static_cast<size_t>(PaddedWidth(out) * in));
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      const int64_t at = (o / kLaneFloats * in + i) * kLaneFloats + o % kLaneFloats;
      std::memcpy(&linear.panels[static_cast<size_t>(at)], weight + o * in + i, sizeof(float));
    }
  }
  if (!biased) return linear;
  COBRA_ASSIGN_OR_RETURN(const float* bias, Find(name + ".bias", {out}));
  linear.bias = Padded(bias, out);
  return linear;
}

absl::StatusOr<Norm> Tensors::NormOf(const std::string& name, int64_t width) const {
  COBRA_ASSIGN_OR_RETURN(const float* scale, Find(name + ".weight", {width}));
  COBRA_ASSIGN_OR_RETURN(const float* shift, Find(name + ".bias", {width}));
  return Norm{width, Padded(scale, width), Padded(shift, width)};
}

absl::StatusOr<Table> Tensors::TableOf(const std::string& name, int64_t rows, int64_t width) const {
  COBRA_ASSIGN_OR_RETURN(const float* values, Find(name, {rows, width}));
  Table table{rows, PaddedWidth(width), {}};
  table.values.resize(static_cast<size_t>(rows * table.stride));
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(&table.values[static_cast<size_t>(row * table.stride)], values + row * width,
                static_cast<size_t>(width) * sizeof(float));
  return table;
}

}  // namespace cobra::infer

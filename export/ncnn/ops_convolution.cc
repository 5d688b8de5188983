// Convolutions over one to three dimensions. The weights are in PyTorch's order; those of a
// transposed convolution have inputs and outputs exchanged.
#include <cstring>

#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

// Keys by dimension, the innermost first: width, height, depth.
constexpr int kKernel[] = {1, 11, 21}, kDilation[] = {2, 12, 22}, kStride[] = {3, 13, 23}, kBefore[] = {4, 14, 24},
              kAfter[] = {15, 16, 17}, kOutputPadding[] = {18, 19, 20};

// "Convolution" and its like by the number of dimensions.
std::string LayerName(absl::string_view kind, bool grouped, int n) {
  return absl::StrCat(kind, grouped ? "DepthWise" : "", n == 1 ? "1D" : n == 3 ? "3D" : "");
}

absl::Status CheckConvolution(const CallWriter& c, int n) {
  if (c.Rank(0) == n + 2 && c.ShapeOf(0)[0] != 1)
    return Refused("a batch of ", c.ShapeOf(0)[0], ": ncnn's blobs have none; read the network with a batch of 1");
  COBRA_RETURN_IF_ERROR(c.NeedConstant(1, "a weight"));
  return c.NeedConstant(2, "a bias");
}

// Without the batch, where there is one.
Ints Unbatched(const Shape& shape, int n) { return Ints(shape.end() - n - 1, shape.end()); }

void Append(Params* params, const int* keys, const Ints& values) {
  for (size_t i = values.size(); i-- > 0;) params->emplace_back(keys[values.size() - 1 - i], values[i]);
}

// [groups, inputs, outputs, kernel] as [groups, outputs, inputs, kernel]
std::string Exchanged(const std::string& bytes, int64_t groups, int64_t inputs, int64_t outputs, int64_t kernel) {
  std::string turned(bytes.size(), '\0');
  const size_t size = static_cast<size_t>(kernel) * sizeof(float);
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t o = 0; o < outputs; ++o) {
        const auto from = static_cast<size_t>((g * inputs + i) * outputs + o) * size;
        const auto to = static_cast<size_t>((g * outputs + o) * inputs + i) * size;
        std::memcpy(&turned[to], &bytes[from], size);
      }
    }
  }
  return turned;
}

Arrays WeightsOf(const CallWriter& c, std::string weight) {
  Arrays arrays{{std::move(weight), true}};
  if (c.Has(2)) arrays.push_back({c.Numbers(2)});
  return arrays;
}

}  // namespace

absl::StatusOr<Names> WriteConvolution(CallWriter& c) {
  const int n = c.WindowDims();
  COBRA_RETURN_IF_ERROR(CheckConvolution(c, n));
  const Ints dilation = c.IntList("dilation", n, 1);
  const Ints kernel(c.ShapeOf(1).begin() + 2, c.ShapeOf(1).end());
  const std::string text = c.String("padding");
  Ints before = text.empty() ? c.IntList("padding", n, 0) : Ints(static_cast<size_t>(n), 0), after = before;
  if (text == "same") {  // PyTorch puts the odd one at the end
    for (int i = 0; i < n; ++i) {
      before[i] = dilation[i] * (kernel[i] - 1) / 2;
      after[i] = dilation[i] * (kernel[i] - 1) - before[i];
    }
  }
  Params params{{0, c.ShapeOf(1)[0]}};
  Append(&params, kKernel, kernel);
  Append(&params, kDilation, dilation);
  Append(&params, kStride, c.IntList("stride", n, 1));
  Append(&params, kBefore, before);
  if (after != before) Append(&params, kAfter, after);
  params.insert(params.end(), {{5, int64_t{c.Has(2) ? 1 : 0}}, {6, c.Type(1).num_elements()}});
  const int64_t groups = c.Int("groups", 1);
  if (groups > 1) params.emplace_back(7, groups);
  return Names{c.Layer(LayerName("Convolution", groups > 1, n), {c.In(0, Unbatched(c.ShapeOf(0), n))},
                       Unbatched(c.Out().shape, n), std::move(params), WeightsOf(c, c.Numbers(1)))};
}

absl::StatusOr<Names> WriteTransposed(CallWriter& c) {
  const int n = c.WindowDims();
  COBRA_RETURN_IF_ERROR(CheckConvolution(c, n));
  const Shape& weight = c.ShapeOf(1);
  const Ints kernel(weight.begin() + 2, weight.end());
  const int64_t groups = c.Int("groups", 1);
  const Ints dilation = c.IntList("dilation", n, 1), stride = c.IntList("stride", n, 1);
  const Ints more = c.IntList("output_padding", n, 0);
  for (int i = 0; i < n; ++i) {
    if (more[i] >= stride[i] && more[i] > 0) return Refused("an output padding of a stride or more");
  }
  Params params{{0, weight[1] * groups}};
  Append(&params, kKernel, kernel);
  Append(&params, kDilation, dilation);
  Append(&params, kStride, stride);
  Append(&params, kBefore, c.IntList("padding", n, 0));
  Append(&params, kOutputPadding, more);
  params.insert(params.end(), {{5, int64_t{c.Has(2) ? 1 : 0}}, {6, c.Type(1).num_elements()}});
  if (groups > 1) params.emplace_back(7, groups);
  return Names{c.Layer(LayerName("Deconvolution", groups > 1, n), {c.In(0, Unbatched(c.ShapeOf(0), n))},
                       Unbatched(c.Out().shape, n), std::move(params),
                       WeightsOf(c, Exchanged(c.Numbers(1), groups, weight[0] / groups, weight[1], Product(kernel))))};
}

}  // namespace cobra::exporting::ncnn

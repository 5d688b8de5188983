// Pooling and resampling.
#include <algorithm>
#include <cmath>

#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

// PyTorch's pooling_output_shape: with ceil_mode the last window must start inside the input or its
// left padding.
int64_t PooledSize(int64_t size, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation, bool ceil_mode) {
  const int64_t span = size + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t out = (span >= 0 ? span / stride : -((-span + stride - 1) / stride)) + 1;
  if (ceil_mode && (out - 1) * stride >= size + padding) --out;
  return out;
}

// All dimensions but that of the batch have elements.
absl::Status CheckNotEmpty(const Call& call, int n) {
  const TensorType& input = call.in(0);
  for (int i = input.rank() == n + 2 ? 1 : 0; i < input.rank(); ++i) {
    if (input.shape[i] == 0)
      return ShapeError(call.name(),
                        "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
                        SizesText(input.shape), " with dimension ", i, " being empty");
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorType> Pool(const Call& call, bool has_padding, bool has_dilation) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int n, DimsInName(call));
  if (input.rank() != n + 1 && input.rank() != n + 2) {
    return ShapeError(call.name(), "(): Expected ", n + 1, "D or ", n + 2, "D input tensor, but got ",
                      SizesText(input.shape));
  }
  if (call.op != Op::max_pool1d || call.attributes.Bool("return_indices"))
    COBRA_RETURN_IF_ERROR(CheckNotEmpty(call, n));
  COBRA_ASSIGN_OR_RETURN(IntTuple kernel, IntList(call, "kernel_size", n, 1));
  IntTuple stride = kernel;
  if (!call.attributes.IntSpan("stride").empty()) {
    COBRA_ASSIGN_OR_RETURN(stride, IntList(call, "stride", n, 1));
  }
  IntTuple padding(n, 0), dilation(n, 1);
  if (has_padding) {
    COBRA_ASSIGN_OR_RETURN(padding, IntList(call, "padding", n, 0));
  }
  if (has_dilation) {
    COBRA_ASSIGN_OR_RETURN(dilation, IntList(call, "dilation", n, 1));
  }
  for (int64_t d : dilation) {
    if (d <= 0) return ShapeError("dilation should be greater than zero, but got ", d);
  }
  TensorType out = input;
  for (int i = 0; i < n; ++i) {
    if (kernel[i] <= 0) return ShapeError("kernel size should be greater than zero, but got ", kernel[i]);
    if (stride[i] <= 0) return ShapeError("stride should not be zero");
    if (padding[i] < 0 || padding[i] * 2 > kernel[i]) {
      return ShapeError("pad should be at most half of kernel size, but got pad=", padding[i],
                        " and kernel_size=", kernel[i]);
    }
    int64_t& size = out.shape[input.rank() - n + i];
    const int64_t before = size;
    if (call.op == Op::avg_pool3d && size < kernel[i])
      return ShapeError("input image (", SizesText(input.shape), ") smaller than kernel size (", kernel[i], ")");
    size = PooledSize(size, kernel[i], padding[i], stride[i], dilation[i], call.attributes.Bool("ceil_mode"));
    const bool may_be_empty = call.op == Op::max_pool1d && !call.attributes.Bool("return_indices");
    if (size < (may_be_empty ? 0 : 1)) {
      return ShapeError("Given input size: ", SizesText(input.shape), ". Calculated output size: ", size,
                        " where the input has ", before, ". Output size is too small");
    }
  }
  return out;
}

}  // namespace

ShapeResult MaxPool(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorType out, Pool(call, true, true));
  TensorTypes types{out};
  if (call.attributes.Bool("return_indices")) types.push_back({out.shape, DType::int64});
  return types;
}

ShapeResult AvgPool(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorType out, Pool(call, true, false));
  if (call.attributes.Int("divisor_override", 1) == 0) return ShapeError("divisor must be not zero");
  return TensorTypes{out};
}

ShapeResult LpPool(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorType out, Pool(call, false, false));
  out.dtype = ToFloat(out.dtype);  // a power and a root
  return TensorTypes{out};
}

ShapeResult AdaptivePool(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int n, DimsInName(call));
  // With an output size of 1 an average pool is a mean, which accepts any rank above n.
  const absl::Span<const int64_t> given = call.attributes.IntSpan("output_size");
  const bool average = call.op == Op::adaptive_avg_pool2d || call.op == Op::adaptive_avg_pool3d;
  const bool to_one =
      average && !given.empty() && std::all_of(given.begin(), given.end(), [](int64_t s) { return s == 1; });
  if (input.rank() != n + 1 && input.rank() != n + 2 && !(to_one && input.rank() > n)) {
    return ShapeError(call.name(), "(): Expected ", n + 1, "D or ", n + 2, "D tensor, but got ",
                      SizesText(input.shape));
  }
  COBRA_ASSIGN_OR_RETURN(IntTuple size, IntList(call, "output_size", n, 1));
  const bool spatial_only = call.op == Op::adaptive_avg_pool1d || call.op == Op::adaptive_avg_pool2d;
  if (to_one && Category(input.dtype) < 2)  // a mean
    return ShapeError(
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: ",
        DTypeName(input.dtype));
  if (!to_one && !spatial_only) COBRA_RETURN_IF_ERROR(CheckNotEmpty(call, n));
  for (int i = 0; i < n && !to_one; ++i) {
    if (input.shape[input.rank() - n + i] == 0)
      return ShapeError(call.name(),
                        "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
                        SizesText(input.shape), " with dimension ", input.rank() - n + i, " being empty");
  }
  TensorType out = input;
  for (int i = 0; i < n; ++i) {
    if (size[i] == -1) continue;  // None in Python: the size of the input
    if (size[i] < 0) return ShapeError(call.name(), "(): elements of output_size must be greater than or equal to 0");
    out.shape[input.rank() - n + i] = size[i];
  }
  TensorTypes types{out};
  if (call.attributes.Bool("return_indices")) types.push_back({out.shape, DType::int64});
  return types;
}

// The sizes or random numbers choose the positions of the windows.
ShapeResult FractionalMaxPool(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int n, DimsInName(call));
  if (input.rank() != n + 1 && input.rank() != n + 2)
    return ShapeError(call.name(), "(): Expected ", n + 1, "D or ", n + 2,
                      "D tensor, but got: ", SizesText(input.shape));
  COBRA_ASSIGN_OR_RETURN(const auto kernel, IntList(call, "kernel_size", n, 1));
  IntTuple size;
  if (!call.attributes.Ints("output_size").empty()) {
    COBRA_ASSIGN_OR_RETURN(size, IntList(call, "output_size", n, 1));
  }
  std::vector<double> ratio;
  if (const AttributeValue* given = call.attributes.Find("output_ratio")) {
    if (const auto* list = std::get_if<std::vector<double>>(given)) ratio = *list;
    if (ratio.empty()) ratio.assign(n, call.attributes.Double("output_ratio"));
  }
  if (size.empty() && static_cast<int>(ratio.size()) != n)
    return ShapeError(call.name(), " requires specifying either an output_size or an output_ratio");
  COBRA_RETURN_IF_ERROR(CheckNotEmpty(call, n));
  TensorType out = input;
  for (int i = 0; i < n; ++i) {
    int64_t& at = out.shape[input.rank() - n + i];
    const int64_t given = at;
    at = size.empty() ? static_cast<int64_t>(static_cast<double>(given) * ratio[i]) : size[i];
    if (at + kernel[i] - (n == 2 ? 1 : 0) > given)
      return ShapeError(call.name(), "(): pool ", i, " (", kernel[i], ") too large relative to input ", given);
    if (at <= 0) return ShapeError(call.name(), "(): output_size must be greater than zero");
  }
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  TensorTypes types{out};
  if (call.attributes.Bool("return_indices")) types.push_back({out.shape, DType::int64});
  return types;
}

ShapeResult MaxUnpool(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int n, DimsInName(call));
  if (input.rank() != n + 1 && input.rank() != n + 2)
    return ShapeError(call.name(), "(): Expected ", n + 1, "D or ", n + 2, "D input, got ", SizesText(input.shape));
  if (call.in(1).shape != input.shape)
    return ShapeError("Expected shape of indices to be: ", SizesText(input.shape),
                      " but got: ", SizesText(call.in(1).shape));
  if (call.in(1).dtype != DType::int64)
    return ShapeError("elements in indices should be type int64 but got: ", DTypeName(call.in(1).dtype));
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  COBRA_RETURN_IF_ERROR(CheckNotEmpty(call, n));
  COBRA_ASSIGN_OR_RETURN(IntTuple kernel, IntList(call, "kernel_size", n, 1));
  IntTuple stride = kernel;
  if (!call.attributes.IntSpan("stride").empty()) {
    COBRA_ASSIGN_OR_RETURN(stride, IntList(call, "stride", n, 1));
  }
  COBRA_ASSIGN_OR_RETURN(IntTuple padding, IntList(call, "padding", n, 0));
  std::vector<int64_t> given = call.attributes.Ints("output_size");
  if (static_cast<int>(given.size()) == n + 2) given.erase(given.begin(), given.begin() + 2);
  if (!given.empty() && static_cast<int>(given.size()) != n)
    return ShapeError("output_size should be a sequence containing ", n, " or ", n + 2,
                      " elements, but it has a length of '", given.size(), "'");
  TensorType out = input;
  for (int i = 0; i < n; ++i) {
    int64_t& size = out.shape[input.rank() - n + i];
    const int64_t natural = (size - 1) * stride[i] - 2 * padding[i] + kernel[i];
    if (!given.empty() && (given[i] <= natural - stride[i] || given[i] >= natural + stride[i]))
      return ShapeError("invalid output_size ", AttributeText(given), " (dim ", i, " must be between ",
                        natural - stride[i], " and ", natural + stride[i], ")");
    size = given.empty() ? natural : given[i];
    if (size < 0) return ShapeError("max_unpool: negative output size");
  }
  return TensorTypes{out};
}

namespace {

absl::Status CheckMode(const std::string& mode, int rank) {
  static constexpr absl::string_view kModes[] = {"nearest",  "nearest-exact", "area",     "linear",
                                                 "bilinear", "bicubic",       "trilinear"};
  if (std::find(std::begin(kModes), std::end(kModes), mode) == std::end(kModes))
    return ShapeError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", rank,
        "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got ", mode, ")");
  return absl::OkStatus();
}

}  // namespace

ShapeResult Interpolate(const Call& call) {
  const TensorType& input = call.in(0);
  const int n = input.rank() - 2;
  if (n < 1 || n > 3)
    return ShapeError("Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.rank(),
                      "D) for interpolate");
  const std::string mode = call.attributes.String("mode", "nearest");
  COBRA_RETURN_IF_ERROR(CheckMode(mode, input.rank()));
  const int wanted = mode == "linear" ? 1 : mode == "bilinear" || mode == "bicubic" ? 2 : mode == "trilinear" ? 3 : n;
  if (wanted != n)
    return ShapeError("Got ", input.rank(), "D input, but ", mode, " mode needs ", wanted + 2, "D input");
  const bool interpolates = mode == "linear" || mode == "bilinear" || mode == "bicubic" || mode == "trilinear";
  if (!interpolates && call.attributes.Find("align_corners") != nullptr) {
    return ShapeError(
        "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear");
  }
  if (call.attributes.Bool("antialias") && (n != 2 || (mode != "bilinear" && mode != "bicubic")))
    return ShapeError("Anti-alias option is only supported for bilinear and bicubic modes");
  TensorType out = input;
  const AttributeValue* size = call.attributes.Find("size");
  if (size != nullptr && call.attributes.Find("scale_factor") != nullptr)
    return ShapeError("only one of size or scale_factor should be defined");
  if (size != nullptr && call.attributes.Bool("recompute_scale_factor"))
    return ShapeError("recompute_scale_factor is not meaningful with an explicit size.");
  if (std::count(input.shape.begin() + 1, input.shape.end(), 0) > 0)
    return ShapeError("Non-empty ", input.rank(), "D data tensor expected but got a tensor with sizes ",
                      SizesText(input.shape));
  if (size != nullptr && !std::holds_alternative<NoneValue>(*size)) {
    COBRA_ASSIGN_OR_RETURN(IntTuple sizes, IntList(call, "size", n, 1));
    for (int i = 0; i < n; ++i) out.shape[2 + i] = sizes[i];
  } else {
    const AttributeValue* scale = call.attributes.Find("scale_factor");
    if (scale == nullptr) return ShapeError("either size or scale_factor should be defined");
    std::vector<double> scales;
    if (const auto* list = std::get_if<std::vector<double>>(scale)) scales = *list;
    for (int64_t i : call.attributes.Ints("scale_factor")) scales.push_back(static_cast<double>(i));
    if (scales.empty()) scales.push_back(call.attributes.Double("scale_factor", 1));
    if (scales.size() == 1) scales.resize(n, scales[0]);
    if (static_cast<int>(scales.size()) != n)
      return ShapeError("scale_factor must match the spatial dimensions of the input");
    for (int i = 0; i < n; ++i) {
      const double scaled = std::floor(static_cast<double>(input.shape[2 + i]) * scales[i]);
      if (!(std::fabs(scaled) < 1e15))
        return absl::ResourceExhaustedError(
            LimitMessage(absl::StrCat("interpolate by ", scales[i]), kMaxDimension, "elements in a dimension"));
      out.shape[2 + i] = static_cast<int64_t>(scaled);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (out.shape[2 + i] < 1) {
      return ShapeError("Input and output sizes should be greater than 0, but got input ", SizesText(input.shape),
                        " output ", SizesText(out.shape));
    }
  }
  return TensorTypes{out};
}

ShapeResult GridSample(const Call& call) {
  const std::string mode = call.attributes.String("mode", "bilinear"),
                    padding = call.attributes.String("padding_mode", "zeros");
  if (mode != "bilinear" && mode != "nearest" && mode != "bicubic")
    return ShapeError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '",
                      mode, "'");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return ShapeError(
        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '",
        padding, "'");
  if (mode == "bicubic" && call.in(0).rank() == 5)
    return ShapeError("grid_sampler(): bicubic interpolation only supports 4D input");
  if (call.in(0).dtype != call.in(1).dtype)
    return ShapeError("expected scalar type ", DTypeName(call.in(0).dtype), " but found ", DTypeName(call.in(1).dtype));
  if (Category(call.in(0).dtype) != 2) return NotImplementedFor(call, call.in(0).dtype);
  const TensorType& input = call.in(0);
  const TensorType& grid = call.in(1);
  if ((input.rank() != 4 && input.rank() != 5) || grid.rank() != input.rank() || grid.shape[0] != input.shape[0] ||
      grid.shape.back() != input.rank() - 2) {
    return ShapeError("grid_sampler(): expected grid and input to have same batch size and grid to have size ",
                      input.rank() - 2, " in last dimension, but got input with sizes ", SizesText(input.shape),
                      " and grid with sizes ", SizesText(grid.shape));
  }
  for (int i = 2; i < input.rank(); ++i) {
    if (input.shape[i] == 0)
      return ShapeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ",
                        SizesText(input.shape), " with dimension ", i, " being empty");
  }
  Shape out{input.shape[0], input.shape[1]};
  out.insert(out.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  return One(out, input.dtype);
}

ShapeResult AffineGrid(const Call& call) {
  const std::vector<int64_t> size = call.attributes.Ints("size");
  if (size.size() != 4 && size.size() != 5) return ShapeError("affine_grid only supports 4D and 5D sizes");
  const TensorType& theta = call.in(0);
  for (int64_t s : size) {
    if (s <= 0) return ShapeError("Expected non-zero, positive output size. Got ", AttributeText(size));
  }
  const int n = static_cast<int>(size.size()) - 2;
  if (Category(theta.dtype) != 2)
    return ShapeError("Expected theta to have floating point type, but got ", DTypeName(theta.dtype));
  if (theta.rank() != 3 || theta.shape[1] != n || theta.shape[2] != n + 1 || theta.shape[0] != size[0])
    return ShapeError("Expected a batch of ", n, "D affine matrices of shape Nx", n, "x", n + 1, " for size ",
                      AttributeText(size), ". Got ", SizesText(theta.shape), ".");
  Shape out{size[0]};
  out.insert(out.end(), size.begin() + 2, size.end());
  out.push_back(static_cast<int64_t>(size.size()) - 2);
  return One(out, call.in(0).dtype);
}

ShapeResult PixelShuffle(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t r = call.attributes.Int("upscale_factor", 1);
  if (input.rank() < 3)
    return ShapeError("pixel_shuffle expects input to have at least 3 dimensions, but got input with ", input.rank(),
                      " dimension(s)");
  if (r <= 0) return ShapeError("pixel_shuffle expects a positive upscale_factor, but got ", r);
  TensorType out = input;
  const int c = input.rank() - 3;
  if (input.shape[c] % (r * r) != 0) {
    return ShapeError(
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        "input.size(-3)=",
        input.shape[c], " is not divisible by ", r * r);
  }
  out.shape[c] /= r * r;
  out.shape[c + 1] *= r;
  out.shape[c + 2] *= r;
  return TensorTypes{out};
}

ShapeResult PixelUnshuffle(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t r = call.attributes.Int("downscale_factor", 1);
  if (input.rank() < 3 || r <= 0)
    return ShapeError("pixel_unshuffle expects at least 3 dimensions and a positive downscale_factor");
  TensorType out = input;
  const int c = input.rank() - 3;
  if (input.num_elements() == 0) return TensorTypes{input};  // as it is, whatever the factor
  if (input.shape[c + 1] % r != 0 || input.shape[c + 2] % r != 0) {
    return ShapeError("pixel_unshuffle expects height and width to be divisible by downscale_factor, but input is ",
                      SizesText(input.shape));
  }
  out.shape[c] *= r * r;
  out.shape[c + 1] /= r;
  out.shape[c + 2] /= r;
  return TensorTypes{out};
}

ShapeResult RoiAlign(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& rois = call.in(1);
  if (input.rank() != 4 || rois.rank() != 2 || rois.shape[1] != 5)
    return ShapeError("rois must have shape as Tensor[K, 5]");
  return One(
      {rois.shape[0], input.shape[1], call.attributes.Int("pooled_height", 1), call.attributes.Int("pooled_width", 1)},
      input.dtype);
}

}  // namespace cobra::graph::shape_rules

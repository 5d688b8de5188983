// Convolutions and the patch operators that share their arithmetic.
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

absl::Status CheckPositive(absl::string_view what, absl::Span<const int64_t> values) {
  for (int64_t v : values) {
    if (v <= 0) return ShapeError("non-positive ", what, " is not supported");
  }
  return absl::OkStatus();
}

// The first checks of every convolution, with PyTorch's messages. The trailing `n` dimensions are
// spatial; inputs may lack the batch dimension.
absl::Status CheckConvInput(const Call& call, int n, bool transposed) {
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  if (weight.rank() != n + 2) {
    return ShapeError("expected ", n + 2, "-dimensional weight for ", call.name(), ", got ", SizesText(weight.shape));
  }
  if (input.rank() != n + 1 && input.rank() != n + 2) {
    return ShapeError("Expected ", n + 1, "D (unbatched) or ", n + 2, "D (batched) input to ", call.name(),
                      ", but got input of size: ", SizesText(input.shape));
  }
  if (input.dtype != weight.dtype) {
    return ShapeError("Input type (", DTypeName(input.dtype), ") and weight type (", DTypeName(weight.dtype),
                      ") should be the same");
  }
  const int64_t groups = call.attributes.Int("groups", 1);
  if (groups <= 0) return ShapeError("non-positive groups is not supported");
  const int64_t channels = input.shape[input.rank() - n - 1];
  const int64_t wanted = transposed ? weight.shape[0] : weight.shape[1] * groups;
  if (channels != wanted) {
    // At this point PyTorch has already added a batch dimension to an input without one.
    Shape batched = input.shape;
    if (input.rank() == n + 1) batched.insert(batched.begin(), 1);
    return ShapeError("Given ", transposed ? "transposed=1" : absl::StrCat("groups=", groups), ", weight of size ",
                      SizesText(weight.shape), ", expected input", SizesText(batched), " to have ", wanted,
                      " channels, but got ", channels, " channels instead");
  }
  if (weight.shape[0] % groups != 0) {
    return ShapeError("Given groups=", groups, ", expected weight to be at least ", groups,
                      " at dimension 0, and divisible by it, but got weight of size ", SizesText(weight.shape));
  }
  if (call.has(2)) {
    const TensorType& bias = call.in(2);
    const int64_t outputs = transposed ? weight.shape[1] * groups : weight.shape[0];
    if (bias.rank() != 1 || bias.shape[0] != outputs) {
      return ShapeError("Given weight of size ", SizesText(weight.shape), ", expected bias to be 1-dimensional with ",
                        outputs, " elements, but got bias of size ", SizesText(bias.shape), " instead");
    }
    if (bias.dtype != input.dtype)
      return ShapeError("Input type (", DTypeName(input.dtype), ") and bias type (", DTypeName(bias.dtype),
                        ") should be the same");
  }
  return absl::OkStatus();
}

}  // namespace

ShapeResult Conv(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const int n, DimsInName(call));
  COBRA_RETURN_IF_ERROR(CheckConvInput(call, n, /*transposed=*/false));
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  COBRA_ASSIGN_OR_RETURN(IntTuple stride, IntList(call, "stride", n, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple dilation, IntList(call, "dilation", n, 1));
  COBRA_RETURN_IF_ERROR(CheckPositive("stride", stride));
  COBRA_RETURN_IF_ERROR(CheckPositive("dilation", dilation));
  const std::string mode = call.attributes.String("padding");
  IntTuple padding(n, 0);
  if (mode.empty()) {
    COBRA_ASSIGN_OR_RETURN(padding, IntList(call, "padding", n, 0));
  } else if (mode == "same") {
    for (int64_t s : stride) {
      if (s != 1) return ShapeError("padding='same' is not supported for strided convolutions");
    }
  } else if (mode != "valid") {
    return ShapeError("Invalid padding string: '", mode, "'");
  }

  TensorType out{Shape(input.shape.begin(), input.shape.end() - n - 1), input.dtype};
  out.shape.push_back(weight.shape[0]);
  for (int i = 0; i < n; ++i) {
    const int64_t size = input.shape[input.rank() - n + i];
    if (mode == "same") {
      out.shape.push_back(size);
      continue;
    }
    if (padding[i] < 0) return ShapeError("negative padding is not supported");
    if (size == 0 && (input.rank() == n + 1 || input.shape[0] > 0))
      return ShapeError("Only zero batch or zero channel inputs are supported, but got input shape: ",
                        SizesText(input.shape));
    const int64_t padded = size + 2 * padding[i];
    const int64_t reach = dilation[i] * (weight.shape[2 + i] - 1) + 1;
    if (padded < reach) {
      return ShapeError("Calculated padded input size per channel: (", padded, "). Kernel size: (", reach,
                        "). Kernel size can't be greater than actual input size");
    }
    out.shape.push_back((padded - reach) / stride[i] + 1);
  }
  return TensorTypes{out};
}

ShapeResult ConvTranspose(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const int n, DimsInName(call));
  COBRA_RETURN_IF_ERROR(CheckConvInput(call, n, /*transposed=*/true));
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  COBRA_ASSIGN_OR_RETURN(IntTuple stride, IntList(call, "stride", n, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple padding, IntList(call, "padding", n, 0));
  COBRA_ASSIGN_OR_RETURN(IntTuple extra, IntList(call, "output_padding", n, 0));
  COBRA_ASSIGN_OR_RETURN(IntTuple dilation, IntList(call, "dilation", n, 1));
  COBRA_RETURN_IF_ERROR(CheckPositive("stride", stride));
  COBRA_RETURN_IF_ERROR(CheckPositive("dilation", dilation));
  TensorType out{Shape(input.shape.begin(), input.shape.end() - n - 1), input.dtype};
  out.shape.push_back(weight.shape[1] * call.attributes.Int("groups", 1));
  for (int i = 0; i < n; ++i) {
    if (extra[i] >= std::max(stride[i], dilation[i])) {
      return ShapeError("output padding must be smaller than either stride or dilation");
    }
    const int64_t size = input.shape[input.rank() - n + i];
    if (size == 0 && (input.rank() == n + 1 || input.shape[0] > 0))
      return ShapeError("Only zero batch or zero channel inputs are supported, but got input shape: ",
                        SizesText(input.shape));
    const int64_t result =
        (size - 1) * stride[i] - 2 * padding[i] + dilation[i] * (weight.shape[2 + i] - 1) + extra[i] + 1;
    if (result <= 0) {
      return ShapeError("Given input size per channel: ", SizesText(input.shape),
                        ". Calculated output size per channel: (", result, "). Output size is too small");
    }
    out.shape.push_back(result);
  }
  return TensorTypes{out};
}

ShapeResult DeformConv2d(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  const TensorType& offset = call.in(2);
  if (input.rank() != 4 || weight.rank() != 4 || offset.rank() != 4) {
    return ShapeError("deform_conv2d wants 4-dimensional input, weight and offset");
  }
  COBRA_ASSIGN_OR_RETURN(IntTuple stride, IntList(call, "stride", 2, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple padding, IntList(call, "padding", 2, 0));
  COBRA_ASSIGN_OR_RETURN(IntTuple dilation, IntList(call, "dilation", 2, 1));
  COBRA_RETURN_IF_ERROR(CheckPositive("stride", stride));
  if (weight.shape[1] == 0 || input.shape[1] % weight.shape[1] != 0)
    return ShapeError("deform_conv2d: input has ", input.shape[1], " channels, weight ", SizesText(weight.shape));
  Shape out{input.shape[0], weight.shape[0]};
  for (int i = 0; i < 2; ++i) {
    const int64_t reach = dilation[i] * (weight.shape[2 + i] - 1) + 1;
    out.push_back((input.shape[2 + i] + 2 * padding[i] - reach) / stride[i] + 1);
    if (out.back() != offset.shape[2 + i]) {
      return ShapeError("offset output dims: (", offset.shape[2], ", ", offset.shape[3],
                        ") do not fit the computed output");
    }
  }
  return One(out, input.dtype);
}

ShapeResult Unfold(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() != 4 && input.rank() != 3) {
    return ShapeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size, got: ",
                      SizesText(input.shape));
  }
  COBRA_ASSIGN_OR_RETURN(IntTuple kernel, IntList(call, "kernel_size", 2, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple dilation, IntList(call, "dilation", 2, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple padding, IntList(call, "padding", 2, 0));
  COBRA_ASSIGN_OR_RETURN(IntTuple stride, IntList(call, "stride", 2, 1));
  COBRA_RETURN_IF_ERROR(CheckPositive("stride", stride));
  COBRA_RETURN_IF_ERROR(CheckPositive("kernel size", kernel));
  COBRA_RETURN_IF_ERROR(CheckPositive("dilation", dilation));
  for (int i = input.rank() - 3; i < input.rank(); ++i) {
    if (input.shape[i] == 0 || padding[0] < 0 || padding[1] < 0)
      return ShapeError(
          "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
          "but got: ",
          SizesText(input.shape));
  }
  int64_t blocks = 1;
  for (int i = 0; i < 2; ++i) {
    const int64_t size = input.shape[input.rank() - 2 + i];
    const int64_t positions = (size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    if (size + 2 * padding[i] < dilation[i] * (kernel[i] - 1) + 1) {
      return ShapeError("Given input with spatial size (", size,
                        "), the kernel does not fit: its components must be at least one");
    }
    blocks *= positions;
  }
  Shape out(input.shape.begin(), input.shape.end() - 3);
  out.push_back(input.shape[input.rank() - 3] * kernel[0] * kernel[1]);
  out.push_back(blocks);
  return One(out, input.dtype);
}

ShapeResult Fold(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() != 3 && input.rank() != 2) {
    return ShapeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size, but got: ",
                      SizesText(input.shape));
  }
  COBRA_ASSIGN_OR_RETURN(IntTuple size, IntList(call, "output_size", 2, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple kernel, IntList(call, "kernel_size", 2, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple dilation, IntList(call, "dilation", 2, 1));
  COBRA_ASSIGN_OR_RETURN(IntTuple padding, IntList(call, "padding", 2, 0));
  COBRA_ASSIGN_OR_RETURN(IntTuple stride, IntList(call, "stride", 2, 1));
  COBRA_RETURN_IF_ERROR(CheckPositive("stride", stride));
  COBRA_RETURN_IF_ERROR(CheckPositive("kernel size", kernel));
  COBRA_RETURN_IF_ERROR(CheckPositive("dilation", dilation));
  const int64_t rows = input.shape[input.rank() - 2];
  if (rows == 0 || input.shape.back() == 0)
    return ShapeError(
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
        "but "
        "got: ",
        SizesText(input.shape));
  if (rows % (kernel[0] * kernel[1]) != 0) {
    return ShapeError(
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
        rows);
  }
  int64_t blocks = 1;
  for (int i = 0; i < 2; ++i) blocks *= (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
  if (input.shape.back() != blocks) {
    return ShapeError("Given output_size=(", size[0], ", ", size[1],
                      "), expected size of input's dimension 2 to match the calculated number of sliding blocks ",
                      blocks, ", but got input.size(2)=", input.shape.back());
  }
  Shape out(input.shape.begin(), input.shape.end() - 2);
  out.insert(out.end(), {rows / (kernel[0] * kernel[1]), size[0], size[1]});
  return One(out, input.dtype);
}

ShapeResult ConvTbc(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  if (input.rank() != 3 || weight.rank() != 3)
    return ShapeError(
        "Input must have 3 dims: time, batch, in_channel; weight kernel_width, in_channels, out_channels.");
  if (call.in(2).rank() != 1 || call.in(2).shape[0] != weight.shape[2])
    return ShapeError("Bias must be 1-D with one value per output channel");
  if (input.shape[2] != weight.shape[1])
    return ShapeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor");
  const int64_t length = input.shape[0] + 2 * call.attributes.Int("pad", 0) - weight.shape[0] + 1;
  if (length < 0) return ShapeError("conv_tbc: the kernel is longer than the input");
  return One({length, input.shape[1], weight.shape[2]}, input.dtype);
}

}  // namespace cobra::graph::shape_rules

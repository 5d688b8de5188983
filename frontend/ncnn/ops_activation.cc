// Activations, as layers and as fused into other layers.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

absl::StatusOr<graph::ValueRef> ReluOf(Importer& im, const Layer& layer, graph::ValueRef x, double slope,
                                       bool inplace) {
  graph::Attributes attributes;
  if (slope != 0) attributes.Set("negative_slope", slope);
  if (im.TypeOf(x) == graph::DType::int8) attributes.Set("quantized", std::string("int8"));
  return im.Call(layer, slope == 0 ? graph::Op::relu : graph::Op::leaky_relu, std::move(attributes), {x}, inplace);
}

absl::StatusOr<graph::ValueRef> ClampOf(Importer& im, const Layer& layer, graph::ValueRef x, double min, double max,
                                        bool inplace) {
  if (min == 0 && max == 6) return im.Call(layer, graph::Op::relu6, {}, {x}, inplace);
  return im.Call(layer, graph::Op::clamp, {{"min", min}, {"max", max}}, {x}, inplace);
}

absl::Status Simple(Importer& im, const Layer& layer, graph::Op op, graph::Attributes attributes = {}) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  return im.Set(layer, 0, im.Call(layer, op, std::move(attributes), {im.In(layer, 0)}));
}

}  // namespace

absl::StatusOr<graph::ValueRef> Importer::Activate(const Layer& layer, graph::ValueRef x, int type_key,
                                                   int params_key) {
  const int64_t type = layer.Int(type_key, 0);
  const std::vector<double> p = layer.Reals(params_key);
  const size_t needed = type == 2 ? 1 : type == 3 || type == 6 ? 2 : 0;
  if (p.size() < needed)
    return Wrong(layer, absl::StrCat("activation ", type, " needs ", needed, " parameters, it has ", p.size()));
  if (type != 0 && type != 1 && TypeOf(x) == graph::DType::int8)
    return Unsupported(layer, absl::StrCat("fused activation ", type, " with a result of int8"));
  switch (type) {
    case 0: return x;
    case 1: return ReluOf(*this, layer, x, 0, true);
    case 2: return ReluOf(*this, layer, x, p[0], true);
    case 3: return ClampOf(*this, layer, x, p[0], p[1], true);
    case 4: return Call(layer, graph::Op::sigmoid, {}, {x}, true);
    case 5: return Call(layer, graph::Op::mish, {}, {x}, true);
    case 6: return Call(layer, graph::Op::hardswish, {}, {x}, true);
    default: return Unsupported(layer, absl::StrCat("fused activation ", type));
  }
}

namespace handlers {

absl::Status ReLU(Importer& im, const Layer& layer) {
  return im.Set(layer, 0, ReluOf(im, layer, im.In(layer, 0), layer.Real(0, 0), false));
}

absl::Status PReLU(Importer& im, const Layer& layer) {
  const int64_t slopes = layer.Int(0, 0);
  if (slopes != 1 && slopes != im.InShape(layer)[1])
    return im.Wrong(layer, absl::StrCat(slopes, " slopes for ", im.InShape(layer)[1], " channels"));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(layer, {"weight", {slopes}}));
  return im.Set(layer, 0, im.Call(layer, graph::Op::prelu, {}, {im.In(layer, 0), weight}));
}

absl::Status Clip(Importer& im, const Layer& layer) {
  constexpr double kMost = 3.4028234663852886e38;
  return im.Set(layer, 0, ClampOf(im, layer, im.In(layer, 0), layer.Real(0, -kMost), layer.Real(1, kMost), false));
}

absl::Status ELU(Importer& im, const Layer& layer) {
  return Simple(im, layer, graph::Op::elu, {{"alpha", layer.Real(0, 0.1)}});
}

absl::Status CELU(Importer& im, const Layer& layer) {
  return Simple(im, layer, graph::Op::celu, {{"alpha", layer.Real(0, 1)}});
}

absl::Status SELU(Importer& im, const Layer& layer) {
  if (std::abs(layer.Real(0, 1.67326324) - 1.67326324) > 1e-4 ||
      std::abs(layer.Real(1, 1.050700987) - 1.050700987) > 1e-4) {
    return im.Unsupported(layer, "alpha and lambda other than those of the paper");
  }
  return Simple(im, layer, graph::Op::selu);
}

absl::Status GELU(Importer& im, const Layer& layer) {
  return Simple(im, layer, graph::Op::gelu, {{"approximate", std::string(layer.Int(0, 0) != 0 ? "tanh" : "none")}});
}

// ncnn's alpha and beta are parameters, PyTorch's are 1/6 and 1/2. The work is the same for all,
// and so is the call.
absl::Status HardSigmoid(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::hardsigmoid); }
absl::Status HardSwish(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::hardswish); }
absl::Status Sigmoid(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::sigmoid); }
absl::Status TanH(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::tanh); }
absl::Status Swish(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::silu); }
absl::Status Mish(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::mish); }
absl::Status AbsVal(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::abs); }
absl::Status Erf(Importer& im, const Layer& layer) { return Simple(im, layer, graph::Op::erf); }
absl::Status Softplus(Importer& im, const Layer& layer) {
  return Simple(im, layer, graph::Op::softplus, {{"beta", int64_t{1}}, {"threshold", int64_t{20}}});
}

absl::Status Shrink(Importer& im, const Layer& layer) {
  const double bias = layer.Real(0, 0), lambd = layer.Real(1, 0.5);
  if (bias == 0) return Simple(im, layer, graph::Op::hardshrink, {{"lambd", lambd}});
  if (bias == lambd) return Simple(im, layer, graph::Op::softshrink, {{"lambd", lambd}});
  return im.Unsupported(layer, "a bias that is neither 0 nor lambda");
}

absl::Status GLU(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, layer.Int(0, 0), im.Dims(layer)));
  return Simple(im, layer, graph::Op::glu, {{"dim", dim}});
}

// 1 where x is above the threshold, else 0.
absl::Status Threshold(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x,
                         im.Call(layer, graph::Op::gt, {{"other", layer.Real(0, 0)}}, {im.In(layer, 0)}));
  return im.Set(layer, 0, im.Call(layer, graph::Op::to, {{"dtype", std::string("float32")}}, {x}));
}

absl::Status Softmax(Importer& im, const Layer& layer) {
  const int64_t axis = layer.Int(0, 0);
  // ncnn refuses such a file: the meaning of the axis has changed since it was written.
  if (axis != 0 && layer.Int(1, 0) == 0)
    return im.Wrong(layer, "it was written by an old ncnn (1=1 is missing), whose axes differ; convert it again");
  COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axis, im.Dims(layer)));
  return Simple(im, layer, graph::Op::softmax, {{"dim", dim}});
}

}  // namespace handlers
}  // namespace cobra::ncnn

// Reductions, searches and scans.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/tflite/handlers.h"

namespace cobra::tflite::handlers {
namespace {

// The axes of the file, sorted and without repetitions; no axes means all.
absl::StatusOr<std::vector<int>> Axes(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> given, im.Ints(call, 1, "the axes"));
  const int rank = im.Rank(call.inputs[0]);
  std::vector<int> axes;
  for (int64_t a : given) {
    COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, a, rank));
    axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (given.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  return axes;
}

// Whether the remaining dimensions of an image have the same order in both layouts.
bool SameOrder(const std::vector<int>& axes, bool keep) {
  const auto gone = [&](int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
  return keep || gone(3) || (gone(1) && gone(2));
}

absl::StatusOr<graph::ValueRef> FoldOneByOne(Importer& im, const OpCall& call, graph::Op op, graph::ValueRef x,
                                             std::vector<int64_t> dims, bool keep) {
  std::sort(dims.rbegin(), dims.rend());  // from the last to the first, so that the indices of the others do not change
  for (int64_t dim : dims) {
    COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, op, {{"dim", dim}, {"keepdim", keep}}, {x}));
  }
  return x;
}

// The product of sizes from which a shape is computed.
absl::Status FoldConstant(Importer& im, const OpCall& call) {
  const TensorState& in = im.State(call.inputs[0]);
  if (in.values == nullptr || in.type.rank() != 1 || call.code != schema::BuiltinOperator_REDUCE_PROD) {
    return im.Unsupported(call, "a reduction of constants");
  }
  double product = 1;
  for (double v : *in.values) product *= v;
  const auto* options = call.op->builtin_options_as_ReducerOptions();
  const bool keep = options != nullptr && options->keep_dims();
  return im.SetConstant(call, 0, {keep ? graph::Shape{1} : graph::Shape{}, in.type.dtype}, {product});
}

}  // namespace

absl::Status Reduce(Importer& im, const OpCall& call) {
  if (im.State(call.inputs[0]).constant) return FoldConstant(im, call);
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::ReducerOptions>(call));
  const bool keep = options->keep_dims();
  COBRA_ASSIGN_OR_RETURN(const std::vector<int> axes, Axes(im, call));
  const bool image = im.State(call.inputs[0]).is_image && SameOrder(axes, keep);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, image ? im.Image(call.inputs[0]) : im.File(call.inputs[0]));
  std::vector<int64_t> dims;
  for (int a : axes) dims.push_back(image ? ImageDim(a) : a);
  std::sort(dims.begin(), dims.end());
  if (axes.empty()) return im.SetSame(call, 0);  // a scalar: nothing to reduce
  switch (call.code) {
    case schema::BuiltinOperator_REDUCE_PROD: {
      COBRA_ASSIGN_OR_RETURN(x, FoldOneByOne(im, call, graph::Op::prod, x, dims, keep));
      break;
    }
    case schema::BuiltinOperator_REDUCE_ANY: {
      COBRA_ASSIGN_OR_RETURN(x, FoldOneByOne(im, call, graph::Op::any, x, dims, keep));
      break;
    }
    case schema::BuiltinOperator_REDUCE_ALL: {
      COBRA_ASSIGN_OR_RETURN(x, FoldOneByOne(im, call, graph::Op::all, x, dims, keep));
      break;
    }
    default: {
      const graph::Op op = call.code == schema::BuiltinOperator_MEAN         ? graph::Op::mean
                           : call.code == schema::BuiltinOperator_SUM        ? graph::Op::sum
                           : call.code == schema::BuiltinOperator_REDUCE_MAX ? graph::Op::amax
                                                                             : graph::Op::amin;
      COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, op, {{"dim", dims}, {"keepdim", keep}}, {x}));
    }
  }
  return image && keep ? im.SetImage(call, 0, x) : im.SetFile(call, 0, x);
}

absl::Status ArgReduce(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const int64_t given, im.Int(call, 1, "the axis"));
  COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, given, im.Rank(call.inputs[0])));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  const graph::Op op = call.code == schema::BuiltinOperator_ARG_MAX ? graph::Op::argmax : graph::Op::argmin;
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, op, {{"dim", int64_t{axis}}, {"keepdim", false}}, {x}));
  if (im.FileDType(call.outputs[0]) == graph::DType::int32) {
    COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::int_, {}, {x}));
  }
  return im.SetFile(call, 0, x);
}

absl::Status TopK(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const int64_t k, im.Int(call, 1, "k"));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(
      x, im.Move(call, graph::Op::topk, {{"k", k}, {"dim", int64_t{-1}}, {"largest", true}, {"sorted", true}}, {x}));
  COBRA_RETURN_IF_ERROR(im.SetFile(call, 0, x));
  return call.outputs.size() < 2 ? absl::OkStatus() : im.SetFile(call, 1, graph::ValueRef::Node(x.index, 1));
}

absl::Status Cumsum(Importer& im, const OpCall& call) {
  const auto* options = call.op->builtin_options_as<schema::CumsumOptions>();
  if (options != nullptr && (options->exclusive() || options->reverse()))
    return im.Unsupported(call, "an exclusive or reverse sum");
  COBRA_ASSIGN_OR_RETURN(const int64_t given, im.Int(call, 1, "the axis"));
  COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, given, im.Rank(call.inputs[0])));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Compute(call, graph::Op::cumsum, {{"dim", int64_t{axis}}}, {x}));
}

}  // namespace cobra::tflite::handlers

// Losses: some models return one beside their output.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

absl::StatusOr<bool> Reduces(const Call& call) {
  const std::string reduction = call.attributes.String("reduction", "mean");
  if (reduction == "none") return false;
  const bool batch_mean = reduction == "batchmean" && call.op == Op::kl_div;
  if (reduction == "mean" || reduction == "sum" || batch_mean) return true;
  return ShapeError(reduction, " is not a valid value for reduction");
}

// Returns `shape` for a loss of each element, or a scalar if the loss is reduced.
ShapeResult Reduced(const Call& call, Shape shape, DType dtype) {
  COBRA_ASSIGN_OR_RETURN(const bool reduces, Reduces(call));
  const bool averages = reduces && call.attributes.String("reduction", "mean") == "mean";
  if (averages && Category(dtype) < 2) return NotImplementedFor(call, dtype);
  return One(reduces ? Shape() : std::move(shape), dtype);
}

absl::Status Broadcasts(const Call& call, const Shape& shape, int input) {
  if (!call.has(input)) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const Shape joined, BroadcastShapes(shape, call.in(input).shape));
  if (joined == shape) return absl::OkStatus();
  return ShapeError("output with shape ", SizesText(shape), " doesn't match the broadcast shape ", SizesText(joined));
}

absl::Status SameSizes(const Call& call) {
  if (call.in(0).shape == call.in(1).shape) return absl::OkStatus();
  return ShapeError("Target size (", SizesText(call.in(1).shape), ") must be the same as input size (",
                    SizesText(call.in(0).shape), ")");
}

absl::Status ClassWeight(const Call& call, int64_t classes) {
  if (!call.has(2)) return absl::OkStatus();
  if (call.in(2).rank() != 1 || call.in(2).shape[0] != classes) {
    return ShapeError("weight tensor should be defined either for all ", classes,
                      " classes or no classes but got weight tensor of shape: ", SizesText(call.in(2).shape));
  }
  if (call.in(2).dtype != call.in(0).dtype) {
    return ShapeError("expected scalar type ", DTypeName(call.in(0).dtype), " but found ", DTypeName(call.in(2).dtype));
  }
  return absl::OkStatus();
}

// Targets are class indices.
ShapeResult Indexed(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& target = call.in(1);
  if (input.rank() < 1) return ShapeError("Expected 1 or more dimensions (got 0)");
  if (input.rank() != 1 && (target.rank() == 0 || input.shape[0] != target.shape[0])) {
    return ShapeError("Expected input batch_size (", input.shape[0], ") to match target batch_size (",
                      target.rank() == 0 ? 0 : target.shape[0], ").");
  }
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  if (target.dtype != DType::int64 && !(target.dtype == DType::uint8 && input.rank() <= 2))
    return ShapeError("expected scalar type Long but found ", DTypeName(target.dtype));
  const int64_t classes = input.shape[input.rank() == 1 ? 0 : 1];
  COBRA_RETURN_IF_ERROR(ClassWeight(call, classes));
  if (classes == 0 && target.num_elements() > 0) return absl::OutOfRangeError("Target 0 is out of bounds.");
  if (input.rank() <= 2) {
    if (target.rank() > 1) return ShapeError("0D or 1D target tensor expected, multi-target not supported");
    if (input.rank() == 1 && target.rank() == 1 && target.shape[0] != input.shape[0])
      return ShapeError("size mismatch (got input: ", SizesText(input.shape), ", target: ", SizesText(target.shape),
                        ")");
    return Reduced(call, input.rank() == 1 ? Shape() : target.shape, input.dtype);
  }
  Shape wanted = input.shape;
  wanted.erase(wanted.begin() + 1);
  if (target.shape != wanted) {
    return ShapeError("Expected target size ", SizesText(wanted), ", got ", SizesText(target.shape));
  }
  return Reduced(call, target.shape, input.dtype);
}

}  // namespace

ShapeResult NllLoss(const Call& call) { return Indexed(call); }

ShapeResult CrossEntropy(const Call& call) {
  const TensorType& input = call.in(0);
  const double smoothing = call.attributes.Double("label_smoothing", 0);
  if (smoothing < 0 || smoothing > 1)
    return ShapeError("label_smoothing must be between 0.0 and 1.0. Got: ", smoothing);
  if (input.shape != call.in(1).shape) return Indexed(call);
  // Targets are the probabilities of the classes.
  if (input.rank() < 1) return ShapeError("cross_entropy: input has no class dimension");
  if (Category(call.in(1).dtype) != 2)
    return ShapeError("Expected floating point type for target with class probabilities, got ",
                      DTypeName(call.in(1).dtype));
  if (call.attributes.Int("ignore_index", -100) >= 0)
    return ShapeError("ignore_index is not supported for floating point target");
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  COBRA_RETURN_IF_ERROR(ClassWeight(call, input.shape[input.rank() == 1 ? 0 : 1]));
  Shape shape = input.shape;
  shape.erase(shape.begin() + (input.rank() == 1 ? 0 : 1));
  return Reduced(call, shape, ResultDType(call.inputs.subspan(0, 2)));
}

// Both sides are broadcast first.
ShapeResult Loss(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  const DType joined = PromoteDTypes(call.in(0).dtype, call.in(1).dtype);
  const DType dtype = call.op == Op::huber_loss ? call.in(0).dtype : joined;
  if (call.op == Op::smooth_l1_loss && call.attributes.Double("beta", 1) < 0)
    return ShapeError("smooth_l1_loss does not support negative values for beta.");
  if (call.op == Op::huber_loss && call.attributes.Double("delta", 1) <= 0)
    return ShapeError("huber_loss does not support non-positive values for delta.");
  const bool any_number = call.op == Op::l1_loss && dtype != DType::bool_;
  if (Category(dtype) != 2 && !any_number) return NotImplementedFor(call, dtype);
  return Reduced(call, shape, dtype);
}

ShapeResult ElementLoss(const Call& call) {
  Shape shape;
  for (const TensorType* input : call.inputs) {
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, input->shape));
  }
  if (call.op == Op::margin_ranking_loss &&
      (call.in(0).rank() != call.in(1).rank() || call.in(0).rank() != call.in(2).rank())) {
    return ShapeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ",
                      SizesText(call.in(0).shape), ", input2: ", SizesText(call.in(1).shape),
                      ", target: ", SizesText(call.in(2).shape));
  }
  if (call.op == Op::kl_div && (Category(call.in(0).dtype) < 2 || Category(call.in(1).dtype) < 2))
    return ShapeError("kl_div: Integral inputs not supported.");
  if (call.op == Op::soft_margin_loss) COBRA_RETURN_IF_ERROR(Broadcasts(call, call.in(0).shape, 1));
  const bool as_input = call.op == Op::soft_margin_loss || call.op == Op::hinge_embedding_loss;
  return Reduced(call, shape, as_input ? call.in(0).dtype : ToFloat(ResultDType(call.inputs)));
}

ShapeResult Bce(const Call& call) {
  COBRA_RETURN_IF_ERROR(SameSizes(call));
  const TensorType& input = call.in(0);
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  const bool logits = call.op == Op::binary_cross_entropy_with_logits;
  if (!logits && call.in(1).dtype != input.dtype) {
    return ShapeError("Found dtype ", DTypeName(call.in(1).dtype), " but expected ", DTypeName(input.dtype));
  }
  for (int i = 2; i < static_cast<int>(call.inputs.size()); ++i)
    COBRA_RETURN_IF_ERROR(Broadcasts(call, input.shape, i));
  if (Category(call.in(1).dtype) < 2) return NotImplementedFor(call, call.in(1).dtype);
  return Reduced(call, input.shape, call.in(1).dtype);  // PyTorch computes it in the target's tensor
}

ShapeResult GaussianNll(const Call& call) {
  const Shape& input = call.in(0).shape;
  const Shape& var = call.in(2).shape;
  Shape shape;
  COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(input, call.in(1).shape));
  const Shape without_last(input.begin(), input.empty() ? input.end() : input.end() - 1);
  const bool one_each = var.size() == input.size() && !var.empty() && var.back() == 1 &&
                        Shape(var.begin(), var.end() - 1) == without_last;
  if (var != input && !(var == without_last) && !one_each) return ShapeError("var is of incorrect size");
  // A variance of fewer dimensions gets another one, and is then promoted as a tensor with
  // dimensions.
  TensorType variance = call.in(2);
  if (variance.shape != input) variance.shape.push_back(1);
  return Reduced(call, shape, ToFloat(ResultDType({&call.in(0), &call.in(1), &variance})));
}

ShapeResult CosineLoss(const Call& call) {
  const TensorType& target = call.in(2);
  if (target.rank() > 1) return ShapeError("0D or 1D target tensor expected, multi-target not supported");
  for (int i = 0; i < 2; ++i) {
    if (call.in(i).rank() != target.rank() + 1) {
      return ShapeError(target.rank(), "D target tensor expects ", target.rank() + 1,
                        "D input tensors, but found inputs with sizes ", SizesText(call.in(0).shape), " and ",
                        SizesText(call.in(1).shape));
    }
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  shape.pop_back();
  COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, target.shape));
  return Reduced(call, shape, ToFloat(ResultDType(call.inputs.subspan(0, 2))));
}

ShapeResult MultiMargin(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& target = call.in(1);
  const int64_t p = call.attributes.Int("p", 1);
  if (p != 1 && p != 2) return ShapeError("only p == 1 and p == 2 supported");
  if (input.rank() > 2 || input.num_elements() == 0 ||
      target.num_elements() != (input.rank() == 2 ? input.shape[0] : 1) || target.rank() > 1) {
    return ShapeError("inconsistent target size, got: ", SizesText(target.shape));
  }
  if (target.dtype != DType::int64) return ShapeError("expected scalar type Long but found ", DTypeName(target.dtype));
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  COBRA_RETURN_IF_ERROR(ClassWeight(call, input.rank() == 0 ? 1 : input.shape.back()));
  return Reduced(call, target.shape, input.dtype);
}

ShapeResult MultilabelMargin(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() > 2 || input.shape != call.in(1).shape || input.num_elements() == 0) {
    return ShapeError("inconsistent size ", SizesText(call.in(1).shape), " for ", SizesText(input.shape));
  }
  if (call.in(1).dtype != DType::int64)
    return ShapeError("expected scalar type Long but found ", DTypeName(call.in(1).dtype));
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  Shape shape = input.shape;
  if (!shape.empty()) shape.pop_back();
  return Reduced(call, shape, input.dtype);
}

ShapeResult MultilabelSoftMargin(const Call& call) {
  Shape shape;
  COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  if (call.has(2)) {
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, call.in(2).shape));
  }
  const DType dtype = ResultDType(call.inputs);
  if (Category(call.in(0).dtype) != 2) return NotImplementedFor(call, dtype);
  if (call.in(0).rank() == 0) return ShapeError("Dimension out of range");
  shape.erase(shape.begin() + static_cast<int>(shape.size()) - 1);
  return Reduced(call, shape, dtype);
}

ShapeResult TripletLoss(const Call& call) {
  const bool distances = call.op == Op::triplet_margin_with_distance_loss;  // of numbers too, and of any ranks
  if (!distances && (call.in(0).rank() != call.in(1).rank() || call.in(1).rank() != call.in(2).rank())) {
    return ShapeError("All inputs should have same dimension but got ", call.in(0).rank(), "D, ", call.in(1).rank(),
                      "D and ", call.in(2).rank(), "D inputs.");
  }
  Shape positive, negative;
  COBRA_ASSIGN_OR_RETURN(positive, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  COBRA_ASSIGN_OR_RETURN(negative, BroadcastShapes(call.in(0).shape, call.in(2).shape));
  if (positive.empty() && !distances)
    return ShapeError("Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  if (!positive.empty()) positive.pop_back();
  if (!negative.empty()) negative.pop_back();
  if (call.attributes.Bool("swap")) {
    Shape swapped;
    COBRA_ASSIGN_OR_RETURN(swapped, BroadcastShapes(call.in(1).shape, call.in(2).shape));
    if (!swapped.empty()) swapped.pop_back();
    COBRA_ASSIGN_OR_RETURN(negative, BroadcastShapes(negative, swapped));
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(positive, negative));
  const DType dtype = ResultDType(call.inputs);
  if (Category(dtype) < 2) return NotImplementedFor(call, dtype);
  return Reduced(call, shape, dtype);
}

ShapeResult Ctc(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() != 2 && input.rank() != 3)
    return ShapeError("ctc_loss: log_probs must have 2 or 3 dimensions, got ", input.rank());
  if (input.dtype != DType::float32 && input.dtype != DType::float64) return NotImplementedFor(call, input.dtype);
  if (call.in(1).dtype != DType::int64 && call.in(1).dtype != DType::int32)
    return ShapeError("Expected tensor for argument #2 'targets' to have scalar type Long or Int; but got ",
                      DTypeName(call.in(1).dtype));
  const int64_t blank = call.attributes.Int("blank", 0), batch = input.rank() == 3 ? input.shape[1] : 1;
  if (blank < 0 || blank >= input.shape.back()) return ShapeError("blank must be in label range");
  const Shape& targets = call.in(1).shape;
  if (targets.size() != 1 && (targets.size() != 2 || targets[0] != batch))
    return ShapeError("Expected tensor to have size ", batch, " at dimension 0, but got ", SizesText(targets),
                      " for argument #2 'targets' (while checking arguments for ctc_loss_cpu)");
  return Reduced(call, input.rank() == 3 ? Shape{batch} : Shape{}, input.dtype);
}

}  // namespace cobra::graph::shape_rules

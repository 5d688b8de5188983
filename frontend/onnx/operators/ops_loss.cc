// Losses, as PyTorch defines them: targets are class indices.
#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

absl::StatusOr<TensorPtr> NllLoss(NodeContext& c, const TensorPtr& log_probabilities) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr target, c.Cast(c.In(1), graph::DType::int64));
  return c.Call(graph::Op::nll_loss,
                {{"ignore_index", c.Int("ignore_index", -100)}, {"reduction", c.String("reduction", "mean")}},
                {log_probabilities, target, c.In(2)});
}

absl::StatusOr<Outputs> NegativeLogLikelihoodLoss(NodeContext& c) { return c.Out(NllLoss(c, c.In(0))); }

absl::StatusOr<Outputs> SoftmaxCrossEntropyLoss(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr log_probabilities, c.Call(graph::Op::log_softmax, {{"dim", int64_t{1}}}, {c.In(0)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr loss, NllLoss(c, log_probabilities));
  return Outputs{loss, log_probabilities};
}

}  // namespace

void AddLossOperators(Registry* registry) {
  registry->Add("NegativeLogLikelihoodLoss", {NegativeLogLikelihoodLoss, 2});
  registry->Add("SoftmaxCrossEntropyLoss", {SoftmaxCrossEntropyLoss, 2});
}

}  // namespace cobra::onnx

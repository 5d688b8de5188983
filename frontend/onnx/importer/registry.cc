#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

const Registry& DefaultOperators() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    AddActivationOperators(r);
    AddAttentionOperators(r);
    AddControlOperators(r);
    AddConvolutionOperators(r);
    AddElementwiseOperators(r);
    AddIndexOperators(r);
    AddLossOperators(r);
    AddNormOperators(r);
    AddPoolOperators(r);
    AddProductOperators(r);
    AddQuantizedOperators(r);
    AddRecurrentOperators(r);
    AddReduceOperators(r);
    AddResizeOperators(r);
    AddShapeOperators(r);
    AddSignalOperators(r);
    return r;
  }();
  return *registry;
}

const Registry& MicrosoftOperators() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    AddMicrosoftAttentionOperators(r);
    AddMicrosoftFusedOperators(r);
    AddMicrosoftQuantizedOperators(r);
    return r;
  }();
  return *registry;
}

}  // namespace

const Registry* OperatorsOf(absl::string_view domain) {
  if (IsDefaultDomain(domain)) return &DefaultOperators();
  return domain == kMicrosoftDomain ? &MicrosoftOperators() : nullptr;
}

}  // namespace cobra::onnx

#include "frontend/onnx/registry.h"

namespace cobra::onnx {

const Registry& Operators() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    AddActivationOperators(r);
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

}  // namespace cobra::onnx

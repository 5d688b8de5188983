#include "frontend/onnx/registry.h"

namespace cobra::onnx_import {

const Registry& Operators() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    AddActivationOperators(r);
    AddConvolutionOperators(r);
    AddElementwiseOperators(r);
    AddNormOperators(r);
    AddPoolOperators(r);
    AddProductOperators(r);
    AddShapeOperators(r);
    return r;
  }();
  return *registry;
}

}  // namespace cobra::onnx_import

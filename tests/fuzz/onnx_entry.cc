#include "frontend/onnx/reader.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Onnx(absl::string_view data) { Check(onnx::ReadOnnxModel(data, {}, SmallLimits()), data); }

}  // namespace cobra::fuzz

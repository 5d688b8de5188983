#include "tests/frontend/onnx/support_document.h"

#include "absl/strings/str_cat.h"
#include "frontend/onnx/reader.h"

namespace cobra::onnx {

std::string OnnxSupportDocument() {
  const std::vector<OnnxOperator> operators = OnnxOperators();
  std::string text = absl::StrCat(
      "# ONNX\n\n"
      "<!-- Generated: build/release/bin/onnx_conformance --document > docs/onnx_support.md (a test compares). -->\n\n"
      "`cobra-client graph|predict FILE.onnx [--input name=SHAPE] [--arg name=VALUE]`; over the API: "
      "`PredictRequest.onnx`.\n\n"
      "Opsets 6 to 17 of the default domain, ",
      operators.size(),
      " operators. Each is lowered to PyTorch's calls. A network exported from PyTorch gives the same graph as its "
      "source: a product with its\n"
      "bias becomes `linear` again, and silu, hardswish, gelu, layer_norm and padded averages are fused from the nodes "
      "that the exporter split them into.\n\n"
      "- **Open sizes** are given as `--input name=1x3x224x224` (or by position). An open first dimension without a "
      "value is a batch of 1.\n"
      "- **Shapes are computed from values** where a file does so (Shape, Gather, Concat, Reshape ...): initialisers "
      "and constants up to 65,536 elements\n"
      "  carry their values. The value of an input that determines shapes is passed with `--arg axes=[0,1]`. Shapes "
      "that depend on the data of a run\n"
      "  (NonMaxSuppression, Unique, the condition of an If) are rejected with an error that names the inputs.\n"
      "- **Loops** are unrolled and conditions evaluated while the file is read.\n"
      "- **Weights** must be in the file (no external data). Constants that depend on weights alone are folded, as "
      "every runtime does when it loads.\n"
      "- **Quantized** operators are computed in float: LibTorch's eager mode cannot run them otherwise.\n"
      "- **Types**: no strings. LibTorch has no unsigned integers wider than 8 bits: they are carried in the next "
      "wider signed type.\n"
      "- **Functions** that a file defines itself are inlined.\n"
      "- Not supported: operators of other domains, training, random numbers, strings, sparse tensors.\n\n"
      "Conformance: ONNX's own test data (Debian's `libonnx-testdata`) through importer and executor, "
      "`onnx_conformance`.\n\n"
      "| operator | restrictions |\n|---|---|\n");
  for (const OnnxOperator& op : operators) absl::StrAppend(&text, "| ", op.name, " | ", op.note, " |\n");
  return text;
}

}  // namespace cobra::onnx

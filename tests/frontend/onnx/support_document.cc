#include "tests/frontend/onnx/support_document.h"

#include "absl/strings/str_cat.h"
#include "frontend/onnx/reader.h"

namespace cobra::onnx {
namespace {

constexpr char kText[] =
    R"(Each operator is lowered to PyTorch's calls. A network exported from PyTorch gives the same graph as
its source: a product with its bias becomes `linear` again, and silu, hardswish, gelu, layer_norm
and padded averages are fused from the nodes that the exporter split them into. Attention,
RMSNormalization, GroupNormalization and Gelu are one call each, as in PyTorch 2. Nodes that ONNX
Runtime's optimiser fused are split into the original calls; `optimized_model_filepath` writes such
files up to the level `extended`.

- **Open sizes** are given as `--input name=1x3x224x224` (or by position). An open first dimension
  without a value is a batch of 1.
- **Shapes are computed from values** if a file does so (Shape, Gather, Concat, Reshape ...):
  initialisers and constants up to 65,536 elements carry their values. The value of an input that
  determines shapes is passed with `--arg axes=[0,1]`. Shapes that depend on the data of a run
  (NonMaxSuppression, Unique, the condition of an If) are rejected with an error that names the
  inputs.
- **Loops** are unrolled and conditions evaluated while the file is read.
- **Weights**: their values are not needed. `cobra-client` omits large ones before it reads or sends
  a file, so a file may exceed protobuf's 2 GiB. Weights in other files (external data) need not
  exist at all. Small tensors whose values shapes may depend on (integers up to 65,536 elements,
  floating point numbers up to 1,024) are read only from the model's folder, not through `..`,
  absolute paths or symbolic links out of it. Over the API such tensors have to be in the file; an
  error names a missing one. Constants that depend only on weights are folded, as every runtime does
  at load time.
- **Quantized** operators are computed in float: LibTorch's eager mode cannot run them otherwise.
  Weights of 2 to 8 bits (MatMulNBits, DequantizeLinear) are weights of their unpacked type.
- **Types**: no strings, no floating point numbers of 8 or fewer bits. LibTorch has no unsigned
  integers wider than 8 bits: they are represented in the next wider signed type, and integers of 2
  and 4 bits with 8.
- **Functions** that a file defines itself are inlined.
- Not supported: operators of other domains, training, random numbers, strings, sparse tensors.

Conformance: ONNX's own test data (Debian's `libonnx-testdata`) through importer and executor,
`onnx_conformance`. `scripts/test-long.sh onnx` does the same with the newest `onnx` package. It
also compares the operators of `com.microsoft` with ONNX Runtime, and exports of PyTorch 2.13 with
their source ([long-tests.md](long-tests.md)).

)";

void AppendTable(absl::string_view domain, std::string* text) {
  absl::StrAppend(text, "| operator | restrictions |\n|---|---|\n");
  for (const OnnxOperator& op : OnnxOperators()) {
    if (op.domain != domain) continue;
    absl::StrAppend(text, "| ", op.name, " | ", op.is_supported ? "" : "refused: ", op.note, " |\n");
  }
}

int Supported(absl::string_view domain) {
  int count = 0;
  for (const OnnxOperator& op : OnnxOperators()) count += op.domain == domain && op.is_supported;
  return count;
}

}  // namespace

std::string OnnxSupportDocument() {
  std::string text = absl::StrCat(
      "# ONNX\n\n"
      "<!-- Generated: build/release/bin/onnx_conformance --document > docs/onnx_support.md (a test compares). -->\n\n"
      "`cobra-client graph|predict FILE.onnx [--input name=SHAPE] [--arg name=VALUE]`; over the API:\n"
      "`PredictRequest.onnx`.\n\n"
      "Opsets 6 to 24 of the default domain, ",
      Supported(""), " operators, and ", Supported("com.microsoft"), " of ONNX Runtime (domain\n`com.microsoft`).\n\n",
      kText, "## Default domain\n\n");
  AppendTable("", &text);
  absl::StrAppend(&text, "\n## com.microsoft\n\n");
  AppendTable("com.microsoft", &text);
  return text;
}

}  // namespace cobra::onnx

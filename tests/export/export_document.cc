#include "tests/export/export_document.h"

#include "absl/strings/str_cat.h"
#include "export/ncnn/writer.h"
#include "export/onnx/writer.h"

namespace cobra::exporting {
namespace {

constexpr char kText[] =
    R"(The model is of opset 17 of the default domain and IR version 8. Its inputs have the names and sizes
of the graph's.

- **Weights** are random numbers, the same for the same network and `--weights-seed`. They are
  scaled so that activations neither overflow nor vanish. They are in a safetensors file next to the
  model (`net.safetensors` for `net.onnx`), with the network's tensor names; the model has the
  offset of each. Tensors below 1 KiB are in the model. Constants and buffers whose values are known
  (index tables, masks) have these values.
- **Existing files** are replaced only with `--overwrite`, and the model that is read never is.
- **Nodes**: a call is one node if ONNX has one, otherwise several. The name of a node begins with
  its call (`call17/Conv`); its documentation gives the module and the line of the call. Calls that
  do nothing (dropout at inference, a cast to the same type) have no node.
- **In-place calls** become values. A write through a view (`x[:, 0] += 1`) changes the tensor and
  all its other views.
- **Unsupported calls** are an error (exit code 4) that names the operator, the call and its line,
  even if only one form of an operator is unsupported.
- **Checked**: `tests/export` runs a call of each operator and whole networks with ONNX Runtime and
  with LibTorch on the same numbers. `scripts/test-long.sh onnx-out` runs more networks.

)";

constexpr char kNcnnText[] =
    R"(ncnn computes one sample in float32, and its blobs have one to four dimensions.

- **Batch**: a batch of 1 is omitted. Calls that depend on it refuse a larger batch; read the
  network with an `--input` of batch 1.
- **Weights** are random numbers in `net.bin`, next to `net.param`. They are the same for the same
  network and `--weights-seed`.
- **Existing files** are replaced only with `--overwrite`, and the model that is read never is.
- **Layers**: a call is one layer if ncnn has one, otherwise several. Nothing is fused, unlike with
  ncnn's own tools (which predictions for phones and boards assume:
  [adding-a-device.md](adding-a-device.md)). A layer's name begins with its call
  (`call17/Convolution`). Inputs are the blobs `in0`, `in1`, ...; outputs are `out0`, `out1`, ...
  Blobs with several readers get a `Split`.
- **Shapes**: a blob keeps the order of the tensor's numbers. Its sizes are the tensor's without the
  batch, or those that the next layer needs; the latter holds for tensors of five or six dimensions,
  as in window attention. A permutation of more than four dimensions takes several `Permute` layers.
- **Calls on only weights** (index tables, masks, transposed weights) are computed when the network
  is written.
- **In-place calls** become values. A write to a part of another tensor is refused, unless it
  depends only on weights.
- **Unsupported calls** are an error (exit code 4) that begins with the operator, the call and its
  line. Integers are supported only as indices of `embedding`.
- **Checked**: `tests/export` compares calls of each operator and whole networks with LibTorch, to a
  ten-thousandth of the largest number, in ncnn 1.0.20260526. Single calls of `layer_norm` and
  `rms_norm` to five ten-thousandths: ncnn takes the roots of some blobs to twelve bits.
  `scripts/test-long.sh ncnn-out` does it with all classification networks of torchvision
  (`efficientnet_v2_l` to two ten-thousandths). If one layer corresponds to one call, the reader of
  `.param` files restores the same network.

)";

// Rows of equal notes are one row.
std::string Table(bool written) {
  std::string text;
  std::vector<std::pair<absl::string_view, std::string>> rows;
  for (const WrittenOperator& row : WrittenOperators()) {
    if (row.is_written != written) continue;
    auto found = rows.begin();
    while (found != rows.end() && found->first != row.note) ++found;
    if (found == rows.end()) found = rows.insert(rows.end(), {row.note, ""});
    absl::StrAppend(&found->second, found->second.empty() ? "" : ", ", graph::OpName(row.op));
  }
  for (const auto& [note, names] : rows) absl::StrAppend(&text, "| ", names, " | ", note, " |\n");
  return text;
}

int Written() {
  int count = 0;
  for (const WrittenOperator& row : WrittenOperators()) count += row.is_written;
  return count;
}

}  // namespace

std::string NcnnExportDocument() {
  std::vector<std::pair<absl::string_view, std::string>> rows;
  for (const NcnnOperator& row : NcnnOperators()) {
    auto found = rows.begin();
    while (found != rows.end() && found->first != row.note) ++found;
    if (found == rows.end()) found = rows.insert(rows.end(), {row.note, ""});
    absl::StrAppend(&found->second, found->second.empty() ? "" : ", ", graph::OpName(row.op));
  }
  std::string text = absl::StrCat(
      "# Networks for ncnn\n\n"
      "<!-- Generated: build/release/bin/export_network --ncnn-document > docs/ncnn_export.md (a test compares). "
      "-->\n\n"
      "`cobra-client graph MODEL ... --format ncnn --out net.param` writes a network that it has read, from\n"
      "any source, as ncnn's two files.\n\n",
      NcnnOperators().size(), " of ", graph::kNumOps, " operators can be written.\n", kNcnnText,
      "## Written\n\n| operators | only |\n|---|---|\n");
  for (const auto& [note, names] : rows) absl::StrAppend(&text, "| ", names, " | ", note, " |\n");
  return text;
}

std::string ExportDocument() {
  return absl::StrCat(
      "# Networks as ONNX models\n\n"
      "<!-- Generated: build/release/bin/export_network --document > docs/onnx_export.md (a test compares). -->\n\n"
      "`cobra-client graph MODEL ... --format onnx --out net.onnx` writes a network that it has read, from\n"
      "any source, as an ONNX model.\n\n",
      Written(), " of ", graph::kNumOps, " operators can be written.\n", kText,
      "## Written\n\n| operators | restrictions |\n|---|---|\n", Table(true),
      "\n## Refused\n\n| operators | reason |\n|---|---|\n", Table(false));
}

}  // namespace cobra::exporting

#include "tests/export/export_document.h"

#include "absl/strings/str_cat.h"
#include "export/onnx/writer.h"

namespace cobra::exporting {
namespace {

constexpr char kText[] =
    R"(The model is of opset 17 of the default domain and IR version 8. Its inputs have the names and sizes of the graph's.

- **Weights** are random numbers, the same for the same network and `--weights-seed`. They are scaled so that activations neither overflow nor vanish. They
  are in a safetensors file beside the model (`net.safetensors` for `net.onnx`), which names each tensor as the network does; the model says where in that
  file each one is. Tensors below 1 KiB are in the model. Constants and buffers whose values are known (index tables, masks) have these values.
- **Files that exist** are replaced only with `--overwrite`, and the model that is read never is.
- **Nodes**: a call is one node where ONNX has one, otherwise some. The name of a node begins with its call (`call17/Conv`), its documentation says which
  module and which line the call comes from. Calls that do nothing (dropout at inference, a cast to the same type) have no node.
- **Calls in place** become values. A write through a view (`x[:, 0] += 1`) changes what the tensor and all its other views show afterwards.
- **What cannot be written** is an error (exit code 4) that names the operator, the call and its line. A call is refused where a form of it cannot be written, too.
- **Checked**: `tests/export` runs a call of each operator and whole networks with ONNX Runtime and with LibTorch on the same numbers.
  `scripts/test-long.sh onnx-out` runs more networks.

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

std::string ExportDocument() {
  return absl::StrCat(
      "# Networks as ONNX models\n\n"
      "<!-- Generated: build/release/bin/export_network --document > docs/onnx_export.md (a test compares). -->\n\n"
      "`cobra-client graph MODEL ... --format onnx --out net.onnx` writes a network that it has read, from any source, "
      "as an ONNX model. ",
      Written(), " of ", graph::kNumOps, " operators can be written. ", kText,
      "## Written\n\n| operators | restrictions |\n|---|---|\n", Table(true),
      "\n## Refused\n\n| operators | reason |\n|---|---|\n", Table(false));
}

}  // namespace cobra::exporting

// docs/onnx_export.md, written from the writer's own table.
#ifndef COBRA_TESTS_EXPORT_EXPORT_DOCUMENT_H_
#define COBRA_TESTS_EXPORT_EXPORT_DOCUMENT_H_

#include <string>

namespace cobra::exporting {

std::string ExportDocument();
// docs/ncnn_export.md
std::string NcnnExportDocument();

}  // namespace cobra::exporting

#endif  // COBRA_TESTS_EXPORT_EXPORT_DOCUMENT_H_

// docs/onnx_support.md, written from the reader's own table.
#ifndef COBRA_TESTS_FRONTEND_ONNX_SUPPORT_DOCUMENT_H_
#define COBRA_TESTS_FRONTEND_ONNX_SUPPORT_DOCUMENT_H_

#include <string>

namespace cobra::onnx {

std::string OnnxSupportDocument();

}  // namespace cobra::onnx

#endif  // COBRA_TESTS_FRONTEND_ONNX_SUPPORT_DOCUMENT_H_

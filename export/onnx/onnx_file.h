// An ONNX model while it is written: opset 17 of the default domain, IR version 8. The only place
// that knows the format's messages.
#ifndef COBRA_EXPORT_ONNX_ONNX_FILE_H_
#define COBRA_EXPORT_ONNX_ONNX_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "export/call_arguments.h"
#include "graph/types.h"

namespace cobra::exporting {

using OnnxAttribute = std::variant<int64_t, double, std::string, Ints, Names>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

struct OnnxNode {
  std::string op_type;
  std::string name;
  std::string doc;
  Names inputs;
  Names outputs;
  OnnxAttributes attributes;
};

class OnnxFile {
 public:
  OnnxFile();
  ~OnnxFile();

  // `wanted`, or with a number behind it if that name is taken.
  std::string Unique(absl::string_view wanted);
  void AddInput(const std::string& name, const graph::TensorType& type);
  // A tensor whose numbers are bytes `offset` and following of the file `location` in the model's
  // folder.
  void AddExternal(const std::string& name, const graph::TensorType& type, const std::string& location, int64_t offset,
                   int64_t length);
  // A tensor whose numbers (little-endian, row-major) are in the model.
  void AddInline(const std::string& name, const graph::TensorType& type, absl::string_view bytes);
  // The name of such a tensor; the same for the same numbers.
  std::string Number(const graph::TensorType& type, const std::string& bytes);
  void AddNode(const OnnxNode& node);
  // Adds the type of a value for readers of the file, once, and only if a node computes it.
  void DeclareType(const std::string& name, const graph::TensorType& type);
  // Adds the outputs of the model in order: `values` are renamed output0, output1 ..., or copied
  // where that is not possible. Called once, last.
  void AddOutputs(const Names& values, const graph::TensorTypes& types);
  // Empty if it is larger than the format allows, 2 GiB.
  std::string Serialize() const;

 private:
  struct Model;
  std::unique_ptr<Model> model_;
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_set<std::string> computed_;              // by nodes
  absl::flat_hash_set<std::string> declared_;              // with their types
  absl::flat_hash_map<std::string, std::string> numbers_;  // type and bytes -> name
};

// TensorProto::DataType of a type. All of graph::DType have one.
int32_t OnnxTypeOf(graph::DType dtype);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ONNX_ONNX_FILE_H_

// One case of ONNX's test data: a model, its inputs, and the outputs that it must give.
#ifndef COBRA_TESTS_FRONTEND_ONNX_CONFORMANCE_CASE_H_
#define COBRA_TESTS_FRONTEND_ONNX_CONFORMANCE_CASE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/types.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {

// One input or output of a case: a tensor, or the tensors of a sequence.
struct Datum {
  std::string name;
  bool is_sequence = false, absent = false;
  bool unusable = false;  // the data contradicts the file: the bfloat16 tensors whose dtype alone matters
  std::vector<graph::TensorType> types;
  std::vector<std::vector<double>> values;
};

absl::StatusOr<Datum> ReadDatum(const std::string& path, const ::onnx::ValueInfoProto& info);

// Beside ONNX's own tolerance.
struct Tolerance {
  double part = 0;   // of the output's largest value
  double steps = 0;  // of integers of 8 bits
};

// Internal: the outputs differ.
absl::Status RunCase(const std::string& bytes, const std::vector<Datum>& inputs, const std::vector<Datum>& outputs,
                     const Tolerance& tolerance);

}  // namespace cobra::onnx

#endif  // COBRA_TESTS_FRONTEND_ONNX_CONFORMANCE_CASE_H_

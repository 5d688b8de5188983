// The numbers of a network's parameters, buffers and constants, and the file that holds them. A
// graph has shapes but hardly any numbers, so the networks that this folder writes get these. The
// file is a safetensors file: eight bytes with the length of a header, the header (JSON: name,
// type, shape and place of each tensor), the tensors' bytes one after the other.
#ifndef COBRA_EXPORT_WEIGHTS_H_
#define COBRA_EXPORT_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace cobra::exporting {

// Numbers as a file has them: row-major, little-endian, of the tensor's own type. Numbers are
// rounded to the type.
std::string BytesOf(graph::DType dtype, absl::Span<const double> values);
// The numbers as doubles, which hold integers up to 2^53. REQUIRES: not complex.
std::vector<double> ValuesOf(graph::DType dtype, absl::string_view bytes);

class Weights {
 public:
  // Random numbers, the same for the same graph and seed, for everything whose values the graph
  // does not know (Graph::KnownValues): scaled by what is summed, as the worker's are, so that
  // activations neither overflow nor vanish; integers that select something are within its bounds.
  // Unimplemented: complex tensors.
  static absl::StatusOr<Weights> Random(const graph::Graph& graph, uint64_t seed);

  // REQUIRES: a parameter, a buffer or a constant of the graph.
  absl::string_view Bytes(graph::ValueRef ref) const;
  void Set(graph::ValueRef ref, std::string bytes);  // of the same length

 private:
  std::map<std::pair<graph::ValueRef::Kind, int32_t>, std::string> bytes_;
};

// "F32": the type's name in a safetensors file.
absl::string_view SafetensorsType(graph::DType dtype);

// Random numbers for an input of the graph, likewise.
std::string RandomInput(const graph::Graph& graph, int32_t input, uint64_t seed);

// What a safetensors file of the graph's tensors looks like.
class WeightsFile {
 public:
  explicit WeightsFile(const graph::Graph& graph);

  // Where the tensor's bytes begin in the file. REQUIRES: as Weights::Bytes.
  int64_t Offset(graph::ValueRef ref) const { return offsets_.at({ref.kind, ref.index}); }
  // The tensor's name in the file: as in the graph, with a number behind it if another tensor has
  // the same name.
  const std::string& NameOf(graph::ValueRef ref) const { return names_.at({ref.kind, ref.index}); }
  absl::Status Write(const Weights& weights, const std::string& path) const;

 private:
  std::vector<graph::ValueRef> order_;
  std::string header_;  // with its length before it
  std::map<std::pair<graph::ValueRef::Kind, int32_t>, int64_t> offsets_;
  std::map<std::pair<graph::ValueRef::Kind, int32_t>, std::string> names_;
};

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_WEIGHTS_H_

// One call of the graph while it becomes layers of an ncnn network: what a handler (handlers.h)
// sees.
//
// A blob in ncnn has up to four dimensions and no batch. A tensor of the graph may be any blob that
// has its numbers in the same order; each layer chooses the blob's sizes. BlobOf() returns the
// usual ones: those of the tensor, without a leading batch of 1.
#ifndef COBRA_EXPORT_NCNN_CALL_WRITER_H_
#define COBRA_EXPORT_NCNN_CALL_WRITER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/call_arguments.h"
#include "export/ncnn/param_writer.h"
#include "graph/graph.h"
#include "graph/types.h"

namespace cobra::exporting::ncnn {

// The usual sizes of a tensor's blob; empty if it has more than four dimensions.
Ints BlobOf(const Shape& shape);
// A dimension of a tensor as an axis of a blob: of the usual blob if it has this dimension,
// otherwise of one whose other dimensions are joined.
struct Axis {
  Ints dims;
  int64_t axis = 0;
};
Axis AxisOf(const Shape& shape, int64_t dim);
int64_t Product(const Ints& sizes);
// Float32 bytes of one number, repeated.
std::string Repeated(float value, int64_t count);
std::string Floats(const std::vector<float>& values);

// A tensor whose numbers are known when the network is written: weights, and what is computed only
// from them.
struct Constant {
  TensorType type;
  std::string bytes;
};

// What the calls of a graph have in common while they are written.
struct Network {
  ParamWriter file;
  std::map<std::string, Constant> constants;                    // by name, which begins with '='
  std::map<std::pair<std::string, Ints>, std::string> written;  // blobs of constants
};

class CallWriter : public CallArguments {
 public:
  // `used`: which outputs are read.
  CallWriter(Network* network, const graph::Graph& graph, int32_t index, Names inputs, std::vector<bool> used)
      : CallArguments(graph, index, std::move(inputs)), network_(network), used_(std::move(used)) {}

  bool IsUsed(size_t output) const { return used_[output]; }
  // Of a list of dimensions, all of them if there is none; sorted.
  Ints Dims(absl::string_view name, int rank) const;

  // ---- inputs
  bool IsConstant(size_t i) const { return Has(i) && inputs_[i][0] == '='; }
  // Float32 bytes. REQUIRES: IsConstant(i)
  std::string Numbers(size_t i) const;
  // The input as a blob of any sizes, or of these. REQUIRES: Has(i)
  std::string In(size_t i);
  std::string In(size_t i, const Ints& dims);
  // The input as a blob of the usual sizes, or of any sizes if it has too many dimensions.
  std::string AsRule(size_t i);
  // Unimplemented unless the input is a constant.
  absl::Status NeedConstant(size_t i, absl::string_view what) const;

  // ---- layers
  std::string Layer(absl::string_view type, const Names& inputs, const Ints& dims, Params params = {},
                    Arrays arrays = {});
  Names Layers(absl::string_view type, const Names& inputs, const std::vector<Ints>& dims, Params params = {});
  // Of one input, whose sizes do not change.
  std::string Map(absl::string_view type, const std::string& x, Params params = {}, Arrays arrays = {});
  const Ints& DimsOf(const std::string& blob) const { return network_->file.DimsOf(blob); }
  std::string Reshaped(const std::string& x, const Ints& dims);   // x itself if it has these sizes
  std::string Permuted(const std::string& x, const Ints& order);  // of at most four dimensions
  // BinaryOp `type` with a number; with a blob of as many dimensions, which broadcasts.
  std::string WithNumber(int64_t type, const std::string& x, double number);
  std::string WithBlob(int64_t type, const std::string& a, const std::string& b);
  std::string Unary(int64_t type, const std::string& x) { return Map("UnaryOp", x, {{0, type}}); }
  std::string Data(const Ints& dims, std::string bytes);  // a blob of these numbers

 private:
  Network* network_;
  const std::vector<bool> used_;
};

// Operations of BinaryOp and UnaryOp.
enum BinaryType : int64_t { kAdd, kSub, kMul, kDiv, kMax, kMin, kPow, kRSub, kRDiv, kRPow, kATan2 };
enum UnaryType : int64_t {
  kAbs,
  kNeg,
  kFloor,
  kCeil,
  kSquare,
  kSqrt,
  kRsqrt,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kReciprocal,
  kTanh,
  kLog10,
  kRound,
  kTrunc
};

}  // namespace cobra::exporting::ncnn

#endif  // COBRA_EXPORT_NCNN_CALL_WRITER_H_

// Batch sizes, and inputs of a batch, as the command line has them.
#ifndef COBRA_CLIENT_SERIES_BATCH_H_
#define COBRA_CLIENT_SERIES_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

constexpr int64_t kMostBatch = 1 << 20;  // above, inputs are larger than any device's memory
constexpr size_t kMostBatches = 256;     // each is a separate network

// "1,2,4,8", "1..64" (doubling), "1,2,4,...,256", "8,16,24,...,64": each once, ascending. In a list
// with "..." the last two numbers before it make the step: a factor if the second is a multiple of
// the first, else a difference; with one number, doubling. The number after "..." is always there.
// A usage Diagnostic that begins with --batch otherwise.
absl::StatusOr<std::vector<int64_t>> ParseBatches(absl::string_view text);

// `inputs` with B for the batch: "Bx3x224x224", "mask=Bx1". Inputs that have a B already
// are taken as they are, all of them. Otherwise the batch is the leading dimension of the first
// input, and of every tensor whose leading dimension is of the same size. A usage Diagnostic if the
// first input is not a tensor with a dimension.
absl::StatusOr<std::vector<std::string>> BatchInputs(const std::vector<std::string>& inputs);

// Numbers for the B of BatchInputs().
std::vector<std::string> InputsAt(const std::vector<std::string>& inputs, int64_t batch);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_BATCH_H_

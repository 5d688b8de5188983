// Whether a network fits into a device's memory: a latency of one that does not is of no use.
#ifndef COBRA_CLIENT_ANSWER_MEMORY_FIT_H_
#define COBRA_CLIENT_ANSWER_MEMORY_FIT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "cobra/v1/cobra.pb.h"
#include "cobra/v1/target.pb.h"

namespace cobra::client {

// By the target's name.
using TargetSheets = std::map<std::string, v1::TargetSpec>;

// Of all targets of a server.
TargetSheets SheetsOf(const v1::ListTargetsResponse& targets);
absl::StatusOr<TargetSheets> SheetsOf(Client* client);

inline constexpr double kBytesPerGb = 1e9;

// Whether so many bytes are within a memory of so many 10^9 bytes. An unknown memory (0) holds
// everything.
bool FitsInto(int64_t peak_memory_bytes, double memory_gb);

// "needs 30.1 GB of 24 GB"; empty if it fits.
std::string LackOfMemory(int64_t peak_memory_bytes, double memory_gb);

// The same of one answer. Empty also for a target without a sheet.
std::string LackOfMemory(const v1::PredictResponse& response, const v1::TargetPrediction& prediction,
                         const TargetSheets& sheets);

// Peak memory of the network as it is on this target.
int64_t PeakMemoryOn(const v1::PredictResponse& response, const v1::TargetPrediction& prediction);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_MEMORY_FIT_H_

#include "client/answer/memory_fit.h"

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace cobra::client {

TargetSheets SheetsOf(const v1::ListTargetsResponse& targets) {
  TargetSheets sheets;
  for (const v1::Target& target : targets.targets()) sheets[target.spec().name()] = target.spec();
  return sheets;
}

absl::StatusOr<TargetSheets> SheetsOf(Client* client) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse targets, client->ListTargets({}));
  return SheetsOf(targets);
}

bool FitsInto(int64_t peak_memory_bytes, double memory_gb) {
  return !(memory_gb > 0) || static_cast<double>(peak_memory_bytes) <= kBytesPerGb * memory_gb;
}

std::string LackOfMemory(int64_t peak_memory_bytes, double memory_gb) {
  if (FitsInto(peak_memory_bytes, memory_gb)) return "";
  return absl::StrFormat("needs %.4g GB of %.4g GB", static_cast<double>(peak_memory_bytes) / kBytesPerGb, memory_gb);
}

int64_t PeakMemoryOn(const v1::PredictResponse& response, const v1::TargetPrediction& prediction) {
  return prediction.peak_memory_bytes() > 0 ? prediction.peak_memory_bytes() : response.peak_memory_bytes();
}

std::string LackOfMemory(const v1::PredictResponse& response, const v1::TargetPrediction& prediction,
                         const TargetSheets& sheets) {
  const auto sheet = sheets.find(prediction.target());
  if (sheet == sheets.end()) return "";
  return LackOfMemory(PeakMemoryOn(response, prediction), sheet->second.memory_gb());
}

}  // namespace cobra::client

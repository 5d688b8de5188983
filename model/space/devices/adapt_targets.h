// `cobra-train adapt --model VERSION`: a version of measured targets answers for a device that it
// does not know, by what the server's RPC Adapt does (model/predict/adapt/adapter.h), on tables of
// architectures and without a server.
#ifndef COBRA_MODEL_SPACE_DEVICES_ADAPT_TARGETS_H_
#define COBRA_MODEL_SPACE_DEVICES_ADAPT_TARGETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/architectures/arch_rows.h"
#include "model/space/devices/adapt.h"

namespace cobra::space {

// Whether `directory` holds a version of measured targets, as model/pretrained does, not a model of
// a search space.
bool IsVersionOfTargets(const std::string& directory);

struct AdaptTargetsQuestion {
  std::string directory;
  std::string spec;          // path of the device's data sheet: JSON with the fields of a target
  std::string samples_file;  // in messages; empty: there are none
  ArchRows samples;          // strings are SPACE:STRING (docs/nas_spaces.md); with latency_ms
  std::string rows_file;
  ArchRows rows;
};

// Of each row of `rows`. InvalidArgument names file and line of a string that is no architecture,
// of a latency that is refused and of a data sheet that contradicts itself.
absl::StatusOr<std::vector<AdaptedLatency>> AdaptTargets(const AdaptTargetsQuestion& question);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_DEVICES_ADAPT_TARGETS_H_

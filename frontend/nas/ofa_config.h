// The contents of an architecture string of Once-for-all MobileNetV3, for code that needs its
// blocks and not its network.
#ifndef COBRA_FRONTEND_NAS_OFA_CONFIG_H_
#define COBRA_FRONTEND_NAS_OFA_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/nas/arch_text.h"

namespace cobra::nas {

inline constexpr int kOfaStages = 5, kOfaPlaces = 4;
struct OfaStage {
  // The stride is that of the first block.
  int64_t width, stride;
  bool h_swish, se;
};
inline constexpr OfaStage kOfaStageTable[kOfaStages] = {
    {24, 2, false, false}, {40, 2, false, true}, {80, 2, true, false}, {112, 1, true, true}, {160, 2, true, true}};

struct OfaConfig {
  // 20: four places a stage; those beyond its depth are not used.
  std::vector<int64_t> kernels, expansions;
  // Five, one a stage.
  std::vector<int64_t> depths;
  int64_t resolution = 224;
};

// "ks:<20> e:<20> d:<5> r:<1>"; r is optional.
absl::StatusOr<OfaConfig> ParseOfaConfig(ArchText& text);
absl::StatusOr<OfaConfig> ParseOfaConfig(absl::string_view arch);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_OFA_CONFIG_H_

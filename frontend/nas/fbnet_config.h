// The contents of an FBNet architecture string, for code that needs its blocks and not its network.
#ifndef COBRA_FRONTEND_NAS_FBNET_CONFIG_H_
#define COBRA_FRONTEND_NAS_FBNET_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/nas/arch_text.h"

namespace cobra::nas {

// Stages of the network around the searched blocks; the stride is that of a stage's first block.
inline constexpr size_t kFbnetBlocks = 22;
inline constexpr int kFbnetKinds = 9;
inline constexpr int64_t kFbnetStageBlocks[] = {1, 4, 4, 4, 4, 4, 1};
inline constexpr int64_t kFbnetStageChannels[] = {16, 24, 32, 64, 112, 184, 352};
inline constexpr int64_t kFbnetImagenetStrides[] = {1, 2, 2, 2, 1, 2, 1};
inline constexpr int64_t kFbnetCifarStrides[] = {1, 1, 2, 2, 1, 2, 1};

struct FbnetBlock {
  // The number that HW-NAS-Bench and HELP use.
  int kind = 0;
  // 0: skip.
  int64_t kernel = 0;
  int64_t expansion = 0;
  int64_t groups = 1;
};

// 22 names, or the numbers of HW-NAS-Bench's op_idx_list, separated by blanks or commas, with or
// without brackets.
absl::StatusOr<std::vector<FbnetBlock>> ParseFbnetBlocks(ArchText& text);
absl::StatusOr<std::vector<FbnetBlock>> ParseFbnetBlocks(absl::string_view arch);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_FBNET_CONFIG_H_

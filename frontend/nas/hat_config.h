// The full configuration of a HAT SubTransformer, as in the yml files of
// mit-han-lab/hardware-aware-transformers.
#ifndef COBRA_FRONTEND_NAS_HAT_CONFIG_H_
#define COBRA_FRONTEND_NAS_HAT_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/nas/arch_text.h"

namespace cobra::nas {

struct HatSide {
  int64_t embed_dim = 0;
  // One per layer.
  std::vector<int64_t> ffn_embed_dim;
  // One per layer.
  std::vector<int64_t> self_attention_heads;
};
struct HatConfig {
  HatSide encoder, decoder;
  // One per layer of the decoder.
  std::vector<int64_t> ende_attention_heads;
  // -1: the encoder's last layer, 1: the last two, 2: the last three.
  std::vector<int64_t> arbitrary_ende_attn;
};

// "encoder-embed-dim-subtransformer: 512, decoder-ffn-embed-dim-all-subtransformer: [3072, 3072]
// ...": the keys of those files, or those of the config dictionary of their code
// ("encoder_embed_dim", nested or not), in any order, separated by blanks, commas or new lines.
// Lists longer than the number of layers are truncated, as in that code.
absl::StatusOr<HatConfig> ParseHatConfig(ArchText& text, int64_t qkv_dim);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_HAT_CONFIG_H_

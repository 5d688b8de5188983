#include "frontend/nas/fbnet_config.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::nas {
namespace {

struct Kind {
  absl::string_view name;
  FbnetBlock block;
};
constexpr Kind kKinds[] = {{"k3_e1", {0, 3, 1, 1}}, {"k3_e1_g2", {1, 3, 1, 2}}, {"k3_e3", {2, 3, 3, 1}},
                           {"k3_e6", {3, 3, 6, 1}}, {"k5_e1", {4, 5, 1, 1}},    {"k5_e1_g2", {5, 5, 1, 2}},
                           {"k5_e3", {6, 5, 3, 1}}, {"k5_e6", {7, 5, 6, 1}},    {"skip", {8, 0, 0, 1}}};
static_assert(std::size(kKinds) == kFbnetKinds);

}  // namespace

absl::StatusOr<std::vector<FbnetBlock>> ParseFbnetBlocks(ArchText& text) {
  std::vector<FbnetBlock> blocks;
  const bool bracket = text.Consume("[");
  while (!text.AtEnd() && !text.Peek("]")) {
    const size_t begin = text.position();
    const absl::string_view name = text.Word("");
    const Kind* found = nullptr;
    for (const Kind& kind : kKinds) {
      if (name == kind.name || name == absl::StrCat(kind.block.kind)) found = &kind;
    }
    if (found == nullptr) {
      return text.ErrorAt(begin, "is not a block of FBNet",
                          "the blocks are k3_e1, k3_e1_g2, k3_e3, k3_e6, k5_e1, k5_e1_g2, k5_e3, k5_e6, skip");
    }
    if (blocks.size() == kFbnetBlocks) return text.ErrorAt(begin, "FBNet has 22 blocks, this is the 23rd");
    blocks.push_back(found->block);
    text.Consume(",");
  }
  if (bracket) COBRA_RETURN_IF_ERROR(text.Expect("]"));
  COBRA_RETURN_IF_ERROR(text.ExpectEnd());
  if (blocks.size() < kFbnetBlocks) {
    return text.Error(absl::StrCat("FBNet has 22 blocks", ButGiven(blocks.size())));
  }
  return blocks;
}

absl::StatusOr<std::vector<FbnetBlock>> ParseFbnetBlocks(absl::string_view arch) {
  ArchText text(arch, 0);
  return ParseFbnetBlocks(text);
}

}  // namespace cobra::nas

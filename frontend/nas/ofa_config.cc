#include "frontend/nas/ofa_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::nas {
namespace {

// Parses "KEY:" and `count` integers, each of which must be in `allowed`.
absl::Status ParseField(ArchText& text, absl::string_view key, size_t count, const std::vector<int64_t>& allowed,
                        std::vector<int64_t>* values) {
  COBRA_RETURN_IF_ERROR(text.Expect(absl::StrCat(key, ":")));
  while (values->size() < count) {
    text.SkipSpace();
    const size_t begin = text.position();
    const absl::StatusOr<int64_t> value = text.Int();
    if (!value.ok()) {
      return text.ErrorAt(begin, absl::StrCat(key, " takes ", count, " integers", ButGiven(values->size())));
    }
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), *value) == allowed.end()) {
      return text.ErrorAt(begin, absl::StrCat(key, " is not in this space: ", allowed.front(), " to ", allowed.back()));
    }
    values->push_back(*value);
    text.Consume(",");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OfaConfig> ParseOfaConfig(ArchText& text) {
  OfaConfig arch;
  COBRA_RETURN_IF_ERROR(ParseField(text, "ks", kOfaStages * kOfaPlaces, {3, 5, 7}, &arch.kernels));
  COBRA_RETURN_IF_ERROR(ParseField(text, "e", kOfaStages * kOfaPlaces, {3, 4, 6}, &arch.expansions));
  COBRA_RETURN_IF_ERROR(ParseField(text, "d", kOfaStages, {2, 3, 4}, &arch.depths));
  if (!text.AtEnd()) {
    std::vector<int64_t> resolution;
    const size_t begin = text.position();
    COBRA_RETURN_IF_ERROR(ParseField(text, "r", 1, {}, &resolution));
    arch.resolution = resolution[0];
    if (arch.resolution < 32 || arch.resolution > 4096) return text.ErrorAt(begin, "r is a resolution from 32 to 4096");
  }
  COBRA_RETURN_IF_ERROR(text.ExpectEnd());
  return arch;
}

absl::StatusOr<OfaConfig> ParseOfaConfig(absl::string_view arch) {
  ArchText text(arch, 0);
  return ParseOfaConfig(text);
}

}  // namespace cobra::nas

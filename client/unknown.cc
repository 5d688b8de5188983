#include "client/unknown.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/text_table.h"

namespace cobra::client {

std::string CoverageText(const v1::TargetPrediction& prediction) {
  return prediction.coverage() > 0 ? absl::StrFormat("%.0f %%", 100 * prediction.coverage()) : "guess";
}

std::string UnknownText(const v1::TargetPrediction& prediction) {
  constexpr double kMinListedShare = 0.0005;  // a smaller share is shown as "0.0 %"
  std::string parts;
  for (const v1::UnknownPart& part : prediction.unknown()) {
    if (part.share() < kMinListedShare && !prediction.extrapolating()) continue;
    absl::StrAppend(&parts, "  ", PercentText(part.share()), " of the time: ", part.why(), "\n");
  }
  if (parts.empty()) return "";
  std::string text = absl::StrCat("unsure on ", prediction.target(), ":\n", parts);
  if (prediction.extrapolating()) {
    absl::StrAppend(&text,
                    "  The interval is a guess. A worker on the device can measure what is missing "
                    "(docs/operations.md, \"Learning from requests\").\n");
  }
  return text;
}

}  // namespace cobra::client

// What the text of a device says about its processor.
#ifndef COBRA_MODEL_PREDICT_TARGET_DEVICE_WORDS_H_
#define COBRA_MODEL_PREDICT_TARGET_DEVICE_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// The architecture: "x86", "arm64", "mali" ...; "other" if no known word stands there.
std::string ArchitectureOf(const TargetSpec& spec);
// The core's name: "a76" of "Rockchip RK3588 (Cortex-A76 2.4GHz x 4 + ...)"; empty if none is
// named.
std::string CoreOf(absl::string_view device);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_DEVICE_WORDS_H_

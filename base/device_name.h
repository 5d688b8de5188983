// Names of devices as users write them.
#ifndef COBRA_BASE_DEVICE_NAME_H_
#define COBRA_BASE_DEVICE_NAME_H_

#include "absl/strings/string_view.h"

namespace cobra {

// Whether `name` contains `part` at the beginning of a word, ignoring case. A number at the end of
// `part` must match a whole number: "L4" is in "NVIDIA L4" but not in "NVIDIA L40S"; "rasp" is in
// "Raspberry Pi 5". The empty text is in every name.
bool DeviceNameHas(absl::string_view name, absl::string_view part);

}  // namespace cobra

#endif  // COBRA_BASE_DEVICE_NAME_H_

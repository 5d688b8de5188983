// Names of devices as people ask for them.
#ifndef COBRA_BASE_DEVICE_NAME_H_
#define COBRA_BASE_DEVICE_NAME_H_

#include "absl/strings/string_view.h"

namespace cobra {

// Whether `name` has `part` in it, in upper or lower case, from the beginning of a word; a number
// at the end of `part` is whole: "L4" is in "NVIDIA L4" and not in "NVIDIA L40S", "rasp" in
// "Raspberry Pi 5". Nothing is in every name.
bool DeviceNameHas(absl::string_view name, absl::string_view part);

}  // namespace cobra

#endif  // COBRA_BASE_DEVICE_NAME_H_

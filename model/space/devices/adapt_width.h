// The widths of the 90 % intervals of an adapted device, by number of samples.
#ifndef COBRA_MODEL_SPACE_DEVICES_ADAPT_WIDTH_H_
#define COBRA_MODEL_SPACE_DEVICES_ADAPT_WIDTH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "model/space/architectures/arch_rows.h"
#include "model/space/devices/adapt.h"
#include "model/space/devices/known_devices.h"

namespace cobra::space {

using AdaptWidths = std::map<int, AdaptWidth>;

// Each known device in turn is treated as new, without its family. Samples are drawn `draws` times
// at random and once by Adapter::Choose. Fits the factor with which the intervals cover 90 % of the
// rows, and, with the best interval score (Gneiting and Raftery 2007, 6.2), the trust in the
// posterior and the part of the samples' own width. Empty for fewer than three devices.
AdaptWidths CalibrateWidths(const KnownDevices& known, const SpaceMatrix& all, const ArchRows& rows,
                            const std::vector<int64_t>& fit_rows, const AdaptOptions& options, int draws);

// Interpolates between numbers of samples; beyond the ends uses the nearest one.
AdaptWidth WidthOf(const AdaptWidths& widths, int samples);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_DEVICES_ADAPT_WIDTH_H_

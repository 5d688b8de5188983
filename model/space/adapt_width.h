// How wide the 90 % intervals of an adapted device are, by number of samples.
#ifndef COBRA_MODEL_SPACE_ADAPT_WIDTH_H_
#define COBRA_MODEL_SPACE_ADAPT_WIDTH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "model/space/adapt.h"
#include "model/space/arch_rows.h"
#include "model/space/known_devices.h"

namespace cobra::space {

using AdaptWidths = std::map<int, AdaptWidth>;

// Each known device is taken for the new one, its family left out, with samples drawn `draws` times at random and once
// as Adapter::Choose says: the factor with which intervals hold 90 % of those devices' rows, and the trust in the
// posterior with which they are worth most (interval score: Gneiting and Raftery 2007, 6.2). Empty of fewer than three
// devices.
AdaptWidths CalibrateWidths(const KnownDevices& known, const SpaceMatrix& all, const ArchRows& rows,
                            const std::vector<int64_t>& fit_rows, const AdaptOptions& options, int draws);

// Of numbers of samples in between, what lies in between; of fewer or more, what is nearest.
AdaptWidth WidthOf(const AdaptWidths& widths, int samples);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ADAPT_WIDTH_H_

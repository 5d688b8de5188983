// Medians. For an even number of values there are two conventions, and published results depend on
// which was used.
#ifndef COBRA_BASE_STATISTICS_H_
#define COBRA_BASE_STATISTICS_H_

#include <vector>

namespace cobra {

// The mean of the two middle values if their number is even. 0 for an empty list.
double Median(std::vector<double> values);

// The larger of the two middle values if their number is even, so always one of `values`. 0 for an
// empty list.
double UpperMedian(std::vector<double> values);

}  // namespace cobra

#endif  // COBRA_BASE_STATISTICS_H_

#include "base/statistics.h"

#include <algorithm>
#include <cstddef>

namespace cobra {
namespace {

// Puts the value at n / 2 of the sorted order in its place, smaller ones before it, and returns it.
// REQUIRES: not empty.
std::vector<double>::iterator Partition(std::vector<double>* values) {
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return middle;
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto upper = Partition(&values);
  if (values.size() % 2 == 1) return *upper;
  return (*std::max_element(values.begin(), upper) + *upper) / 2;
}

double UpperMedian(std::vector<double> values) { return values.empty() ? 0 : *Partition(&values); }

}  // namespace cobra

// Sums and products that stop at the largest int64_t: the limits refuse such a network anyway.
#ifndef COBRA_GRAPH_SATURATED_H_
#define COBRA_GRAPH_SATURATED_H_

#include <cstdint>
#include <limits>

namespace cobra::graph {

// REQUIRES, of both: the numbers are not negative.
inline int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}
inline int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_SATURATED_H_

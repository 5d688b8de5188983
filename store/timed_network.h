// A network and how long it takes: what users report of a device, what the store keeps of that, and
// what a target is adapted with.
#ifndef COBRA_STORE_TIMED_NETWORK_H_
#define COBRA_STORE_TIMED_NETWORK_H_

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace cobra::store {

struct TimedNetwork {
  std::string name;  // in messages, as its user's row
  graph::Graph graph;
  double latency_us = 0;  // the median
  int64_t timings = 1;    // of this many
};

// Of all graphs of a target's timings, in memory, and of a probe's: 400 networks of 300 calls have
// 90 MiB, and a kilobyte of a text may become one of 30 MiB.
inline constexpr int64_t kMaxTimedGraphBytes = int64_t{128} << 20;

}  // namespace cobra::store

#endif  // COBRA_STORE_TIMED_NETWORK_H_

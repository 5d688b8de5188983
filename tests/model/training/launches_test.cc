// What hosts take to launch the kernels of networks (model/predict/price/launch_time.h): as
// published ones say.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "model/predict/price/launch_time.h"
#include "model/training/rows/dataset.h"

namespace cobra::predict {
namespace {

// The GPU of a small network waits: its time for each launch is that of the host, whatever the GPU
// is. Other networks take longer.
TEST(Launches, HostsOfPublishedNetworksAreWithinTheFactor) {
  size_t networks = 0;
  for (const std::string host :
       {"a10-modal", "a100-sxm4-40gb-modal", "b200-together", "l4-modal", "l40s-matx3", "l40s-modal", "t4-modal"}) {
    for (const bool compiles : {false, true}) {
      const std::string target = "gpu-" + host + "-torch-2.5-" + (compiles ? "inductor" : "eager") + "-train";
      const auto data = training::LoadMeasurements(COBRA_SOURCE_DIR "/data/public/kernelbench/" + target);
      ASSERT_TRUE(data.ok()) << data.status();
      double least_us = std::numeric_limits<double>::infinity();
      for (const training::Sample& row : data->samples) {
        const std::vector<double> launches = LaunchesOf(row.graph(), data->target);
        const double all = std::accumulate(launches.begin(), launches.end(), 0.0);
        if (all < 50) continue;
        ++networks;
        least_us = std::min(least_us, row.latency_us() / all);
      }
      const double usual_us = compiles ? kHostOfCompiledUs : kHostUs;
      EXPECT_GT(least_us, usual_us / kHostsDiffer / 1.25) << target;
      EXPECT_LT(least_us, usual_us * kHostsDiffer) << target;
    }
  }
  EXPECT_GT(networks, 100U);
}

}  // namespace
}  // namespace cobra::predict

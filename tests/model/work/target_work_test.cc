#include "model/predict/work/target_work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;

constexpr int64_t kRows = 1024, kWidth = 1024, kBytes = kRows * kWidth * 4;

TargetSpec Gpu(const char* precision, double cache_mb) {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.runtime = "torch-2.4";
  spec.precision = precision;
  spec.last_level_cache_mb = cache_mb;
  return spec;
}

graph::Graph TwoNorms() {
  graph::GraphBuilder b;
  ValueRef x = b.AddInput("x", {{kRows, kWidth}, graph::DType::float32});
  for (int i = 0; i < 2; ++i)
    x = ValueRef::Node(*b.Add(Op::layer_norm, {{"normalized_shape", std::vector<int64_t>{kWidth}}, {"eps", 1e-5}},
                              {x, b.AddParameter("w", {{kWidth}, graph::DType::float32}), ValueRef::None()}));
  return std::move(b).Build({x});
}

std::array<float, kWorkTerms> WorkOn(const TargetSpec& spec, int32_t call) {
  const graph::Graph graph = TwoNorms();
  std::array<float, kWorkTerms> log_work = LogWork(graph, call);
  const TargetWorkKind kind = TargetWorkKindOf(spec, /*knows_gpu_work=*/true);
  if (!kind.has_none()) SetTargetWork(TargetWorkOf(graph, kind)[static_cast<size_t>(call)], &log_work);
  return log_work;
}

TEST(TargetWorkTest, AProcessorHasNone) {
  TargetSpec spec;
  spec.kind = "cpu";
  spec.last_level_cache_mb = 32;
  EXPECT_TRUE(TargetWorkKindOf(spec, /*knows_gpu_work=*/true).has_none());
  const auto work = WorkOn(spec, 1);
  for (const WorkTerm term : {kWideBytes, kCasts, kCastBytes, kMissedBytes}) EXPECT_EQ(work[term], kNoWork);
}

TEST(TargetWorkTest, EachDifferenceBetweenTargetsIsAKindOfItsOwn) {
  const auto differ = [](const TargetSpec& a, const TargetSpec& b) {
    const TargetWorkKind one = TargetWorkKindOf(a, true), other = TargetWorkKindOf(b, true);
    return one < other || other < one;
  };
  TargetSpec old_version = Gpu("float16", 96);
  old_version.runtime = "torch-2.4";
  TargetSpec later = old_version;
  later.runtime = "torch-2.5";
  EXPECT_TRUE(differ(old_version, later));
  EXPECT_TRUE(differ(Gpu("float16", 96), Gpu("bfloat16", 96)));
  EXPECT_TRUE(differ(Gpu("float16", 96), Gpu("float16", 48)));
  EXPECT_FALSE(differ(Gpu("float16", 96), Gpu("float16", 96)));
}

TEST(TargetWorkTest, AutocastWidensNorms) {
  const auto work = WorkOn(Gpu("amp-float16", 96), 1);
  EXPECT_EQ(work[kCasts], kNoWork);
  EXPECT_NEAR(work[kWideBytes], std::log(2.0 * kBytes + kWidth * 4), 1e-4);
  EXPECT_EQ(WorkOn(Gpu("float32", 96), 1)[kWideBytes], kNoWork);
}

TEST(TargetWorkTest, ASmallCacheMissesWhatALargeOneHolds) {
  EXPECT_EQ(WorkOn(Gpu("float32", 96), 0)[kMissedBytes], kNoWork);
  EXPECT_GT(WorkOn(Gpu("float32", 1), 0)[kMissedBytes], std::log(kBytes));
}

// It holds twice as many elements of half the length.
TEST(TargetWorkTest, HalfPrecisionNeedsHalfTheCache) {
  EXPECT_EQ(TargetWorkKindOf(Gpu("bfloat16", 20), true).gpu.cache_bytes,
            TargetWorkKindOf(Gpu("float32", 40), true).gpu.cache_bytes);
}

// Otherwise it would be faster than any.
TEST(TargetWorkTest, AnUnknownCacheIsSmall) {
  EXPECT_EQ(WorkOn(Gpu("float32", 0), 0)[kMissedBytes], WorkOn(Gpu("float32", 4), 0)[kMissedBytes]);
}

}  // namespace
}  // namespace cobra::predict

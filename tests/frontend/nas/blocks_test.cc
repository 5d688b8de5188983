// Networks of copied blocks: their calls have the keys that are computed of them, and without names
// they are the same networks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/nas/reader.h"
#include "graph/distinct_calls.h"
#include "graph/exact_bytes.h"
#include "graph/form/fingerprint.h"
#include "tests/frontend/nas/random_architectures.h"

namespace cobra::nas {
namespace {

std::vector<RandomArchitecture> OfEverySpace(ArchitectureSource* source) {
  return {source->Nasbench201(/*pruned=*/false), source->Nasbench201(/*pruned=*/true), source->Nasbench101(),
          source->Fbnet(/*imagenet=*/true),      source->Fbnet(/*imagenet=*/false),    source->Ofa(),
          source->Darts(/*imagenet=*/true),      source->Darts(/*imagenet=*/false),    source->Hat()};
}

TEST(BlocksTest, CallsHaveTheirOwnKeys) {
  ArchitectureSource source(5);
  int read = 0;
  for (int i = 0; i < 30; ++i) {
    for (const RandomArchitecture& random : OfEverySpace(&source)) {
      const auto graph = ReadArchitecture({random.architecture, random.inputs});
      if (!graph.ok()) continue;  // some random modules have no path
      ++read;
      const auto calls = graph::DistinctCallsOf(*graph);
      std::string bytes;
      for (size_t call = 0; call < graph->nodes().size(); ++call) {
        const graph::CallKey key = KeyOfCall(*graph, static_cast<int32_t>(call), &bytes);
        const graph::CallKey& kept = calls->keys[static_cast<size_t>(calls->of_call[call])];
        ASSERT_EQ(kept.hash, key.hash) << random.architecture << ", call " << call;
        ASSERT_EQ(kept.bytes, key.bytes);
      }
    }
  }
  EXPECT_GT(read, 200);
}

TEST(BlocksTest, NamesChangeNothingElse) {
  ArchitectureSource source(6);
  for (int i = 0; i < 5; ++i) {
    for (const RandomArchitecture& random : OfEverySpace(&source)) {
      const auto named = ReadArchitecture({random.architecture, random.inputs});
      const auto unnamed = ReadArchitecture({random.architecture, random.inputs, /*names_blocks=*/false});
      ASSERT_EQ(named.ok(), unnamed.ok());
      if (!named.ok()) continue;
      EXPECT_EQ(graph::ExactBytes(*named), graph::ExactBytes(*unnamed)) << random.architecture;
      EXPECT_EQ(graph::Fingerprint(*named), graph::Fingerprint(*unnamed));
    }
  }
}

}  // namespace
}  // namespace cobra::nas

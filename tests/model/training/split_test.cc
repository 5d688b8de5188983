#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "graph/form/json.h"
#include "model/training/rows/dataset.h"
#include "store/store.h"

namespace cobra::training {
namespace {

TEST(Split, HasItsProportionsAndNeverChanges) {
  int count[4] = {};
  for (int i = 0; i < 20000; ++i) ++count[static_cast<int>(SplitOf(absl::StrCat("fingerprint", i)))];
  EXPECT_NEAR(count[static_cast<int>(Split::kTrain)], 14600, 300);
  EXPECT_NEAR(count[static_cast<int>(Split::kValidation)], 1400, 150);
  EXPECT_NEAR(count[static_cast<int>(Split::kInterval)], 2000, 180);
  EXPECT_NEAR(count[static_cast<int>(Split::kTest)], 2000, 180);
  EXPECT_EQ(SplitOf("00000000000000000000000000000000"), SplitOf("00000000000000000000000000000000"));
}

// One row of a published family among the training rows would give the others away.
TEST(Split, ListsOfRealNetworksStandByFamily) {
  for (const char* family : {"resnet", "vgg", "mobilenetv2", "densenet", "mnasnet"}) {
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(SplitOf("torchvision", absl::StrCat("torchvision/", family), absl::StrCat("fingerprint", i)),
                Split::kTest)
          << family;
    }
  }
  for (const char* label : {"torchvision/regnet", "torchvision/new_family", "graphs/mine"}) {
    const absl::string_view space = absl::string_view(label).substr(0, absl::string_view(label).find('/'));
    const Split split = SplitOf(space, label, "fingerprint0");
    for (int i = 1; i < 50; ++i) EXPECT_EQ(SplitOf(space, label, absl::StrCat("fingerprint", i)), split) << label;
  }
  EXPECT_EQ(SplitOf("torchvision", "torchvision/regnet", "x"), Split::kTrain);
  int test = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string fingerprint = absl::StrCat("fingerprint", i);
    EXPECT_EQ(SplitOf("nas-bench-201", "nas-bench-201", fingerprint), SplitOf(fingerprint));
    test += SplitOf("nas-bench-201", "nas-bench-201", fingerprint) == Split::kTest;
  }
  EXPECT_NEAR(test, 100, 40);
}

Sample Row(const std::string& label, bool is_network, int i) {
  Sample sample;
  sample.measurement.subject.label = label;
  sample.measurement.subject.is_network = is_network;
  sample.measurement.subject.fingerprint = absl::StrCat("f", label, i);
  return sample;
}

int Kept(const std::vector<Sample>& rows, const std::string& label) {
  int kept = 0;
  for (const Sample& row : rows) kept += row.label() == label && row.split != Split::kTrain;
  return kept;
}

// However few rows there are, some are kept from training.
TEST(HoldOutSome, LeavesSomethingToLearnOfEachKind) {
  std::vector<Sample> rows = {Row("lstm", false, 0), Row("lstm", false, 1), Row("exp", false, 0)};
  for (int i = 0; i < 12; ++i) rows.push_back(Row("erf", false, i));
  rows.push_back(Row("asked", true, 0));
  ASSERT_TRUE(HoldOutSome(&rows).ok());
  EXPECT_EQ(Kept(rows, "lstm"), 1);
  EXPECT_EQ(Kept(rows, "exp"), 0);  // the only one: there is nothing else to learn it from
  EXPECT_EQ(Kept(rows, "erf"), 3);
  EXPECT_EQ(Kept(rows, "asked"), 1);  // its layers are learned
}

TEST(HoldOutSome, RefusesWhatCannotBeJudged) {
  std::vector<Sample> layer = {Row("exp", false, 0)}, network = {Row("asked", true, 0)};
  EXPECT_TRUE(absl::IsFailedPrecondition(HoldOutSome(&layer)));
  EXPECT_TRUE(absl::IsFailedPrecondition(HoldOutSome(&network)));
}

TEST(HoldOutSome, ManyRowsKeepTheSplitOfTheirFingerprints) {
  std::vector<Sample> rows;
  for (int i = 0; i < 20; ++i) {
    rows.push_back(Row("exp", false, i));
    if (i % 4 == 0) rows.back().split = Split::kInterval;
  }
  ASSERT_TRUE(HoldOutSome(&rows).ok());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(rows[static_cast<size_t>(i)].split == Split::kInterval, i % 4 == 0) << i;
}

store::StoredMeasurement Stored(const std::string& task_id, const std::string& ops, int width) {
  store::StoredMeasurement stored;
  stored.target = "cpu";
  stored.task_id = task_id;
  stored.measurement.subject.label = "relu";
  const auto graph = graph::GraphFromJson(absl::StrCat(R"({"inputs":[{"name":"x","shape":[1,)", width,
                                                       R"(],"dtype":"float32"}],"ops":[)", ops, R"(],"output":[)",
                                                       ops.empty() ? "\"in:0\"" : "0", "]}"));
  EXPECT_TRUE(graph.ok()) << graph.status();
  store::SetGraph(*graph, &stored.measurement.subject);
  stored.measurement.latency.median_us = 3.5;
  return stored;
}

// What older servers stored, and what is held, does not prevent learning from the rest.
TEST(LoadStoreMeasurements, LeavesOutWhatIsHeldEmptyOrDamaged) {
  const std::string relu = R"({"op":"relu","inputs":["in:0"]})";
  const std::string path = absl::StrCat(testing::TempDir(), "/store_", getpid(), ".sqlite");
  const auto store = store::OpenStore(path);
  ASSERT_TRUE(store.ok()) << store.status();
  store::StoredMeasurement held = Stored("c", relu, 5), negative = Stored("d", relu, 6), zero = Stored("e", relu, 7);
  held.held = "60 us is 15 times more than the predicted 4 us";
  negative.measurement.node_latency_us = {-1};
  zero.measurement.latency.median_us = 0;
  ASSERT_TRUE(
      (*store)
          ->AppendMeasurements({Stored("a", "", 4), Stored("b", relu, 4), held, negative, zero, Stored("f", relu, 8)})
          .ok());
  auto database = store::OpenDatabase(path);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status changed = (*database)->Transaction([](store::SqlSession& session) {
    return session.Execute(
        "UPDATE measurements SET graph_json = REPLACE(graph_json, 'relu', 'no_such_operator') WHERE task_id = 'f'");
  });
  ASSERT_TRUE(changed.ok()) << changed;
  const auto data = LoadStoreMeasurements(store->get(), "cpu");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->samples.size(), 1u);
  EXPECT_EQ(data->held, std::vector<std::string>{held.held});
  EXPECT_EQ(data->unreadable, 4);
}

// Index 0 of another seed is another subject; a repetition in another session of the same seed is
// the same one.
TEST(LoadMeasurements, KeepsSeriesOfSeveralSeedsApart) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/measurements_", getpid());
  ASSERT_TRUE(MakeDirectories(folder).ok());
  const auto record = [](int seed, int repeat, int width, double us) {
    return absl::StrCat(R"({"kind":"record","session":"a","space":"paper-layers","seed":)", seed,
                        R"(,"index":0,"repeat":)", repeat, R"(,"label":"relu","outcome":"ok","latency_us":)", us,
                        R"(,"graph":{"inputs":[{"shape":[1,)", width,
                        R"(]}],"ops":[{"op":"relu","inputs":["in:0"]}],"output":[0]}})", "\n");
  };
  const std::string session = R"({"kind":"session","session":"a","seed":7})";
  ASSERT_TRUE(WriteFileAtomic(folder + "/layers.jsonl.gz", Gzip(absl::StrCat(session, "\n", record(7, 0, 16, 5),
                                                                             record(7, 1, 16, 6), record(8, 0, 32, 9))))
                  .ok());
  const auto target = ReadFile(COBRA_SOURCE_DIR "/data/measurements/cpu-epyc-genoa-1t/target.json");
  ASSERT_TRUE(target.ok());
  ASSERT_TRUE(WriteFileAtomic(folder + "/target.json", *target).ok());
  const auto data = LoadMeasurements(folder);
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->samples.size(), 2u);
  EXPECT_EQ(data->samples[0].latency_us(), 5);
  EXPECT_EQ(data->samples[1].latency_us(), 9);
  ASSERT_EQ(data->layer_repeats.size(), 1u);
  EXPECT_EQ(data->layer_repeats[0].space, data->samples[0].space());
  EXPECT_EQ(data->layer_repeats[0].label, data->samples[0].label());
  EXPECT_EQ(data->layer_repeats[0].first_us, 5);
  EXPECT_EQ(data->layer_repeats[0].second_us, 6);
  for (const char* name : {"/layers.jsonl.gz", "/target.json"}) unlink((folder + name).c_str());
  rmdir(folder.c_str());
}

// Several targets measured the same networks: these need the memory of one.
TEST(LoadAllMeasurements, TargetsHaveCopiesOfAGraph) {
  const std::string root = testing::TempDir() + "same-graph-test";
  const std::string graph =
      R"("graph":{"inputs":[{"shape":[1,16]}],"ops":[{"op":"relu","inputs":["in:0"]}],"output":[0]}})";
  const auto target = ReadFile(COBRA_SOURCE_DIR "/data/measurements/cpu-epyc-genoa-1t/target.json");
  ASSERT_TRUE(target.ok());
  std::vector<std::string> folders;
  for (const char* name : {"/a", "/b"}) {
    folders.push_back(root + name);
    ASSERT_TRUE(MakeDirectories(folders.back()).ok());
    ASSERT_TRUE(WriteFileAtomic(folders.back() + "/target.json", *target).ok());
    ASSERT_TRUE(WriteFileAtomic(folders.back() + "/layers.jsonl",
                                R"({"kind":"record","label":"relu","outcome":"ok","latency_us":5,)" + graph + "\n")
                    .ok());
  }
  const auto sets = LoadAllMeasurements(folders);
  ASSERT_TRUE(sets.ok()) << sets.status();
  const Sample &a = (*sets)[0].samples.at(0), &b = (*sets)[1].samples.at(0);
  ASSERT_EQ(a.graph().nodes().size(), 1u);
  EXPECT_EQ(a.graph().nodes().data(), b.graph().nodes().data());
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  std::filesystem::remove_all(root);
}

// What a model was unsure of teaches it; errors are stated of what was drawn. A draw stays what its
// fingerprint says, though it was chosen too.
TEST(LoadMeasurements, WhatWasSelectedIsForTraining) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/selected_", getpid());
  ASSERT_TRUE(MakeDirectories(folder).ok());
  const auto records = [](int seed, int first_width, int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&lines, R"({"kind":"record","session":"a","space":"real-layers","seed":)", seed, R"(,"index":)",
                      i, R"(,"repeat":0,"label":"relu","outcome":"ok",)",
                      R"("latency_us":5,"graph":{"inputs":[{"shape":[1,)", first_width + i,
                      R"(]}],"ops":[{"op":"relu","inputs":["in:0"]}],"output":[0]}})", "\n");
    }
    return lines;
  };
  ASSERT_TRUE(
      WriteFileAtomic(folder + "/zebra.jsonl", records(1, 100, 200)).ok());  // read first, though its name is the last
  ASSERT_TRUE(WriteFileAtomic(folder + "/selected-layers.jsonl", records(2, 250, 200)).ok());
  const auto target = ReadFile(COBRA_SOURCE_DIR "/data/measurements/cpu-epyc-genoa-1t/target.json");
  ASSERT_TRUE(target.ok());
  ASSERT_TRUE(WriteFileAtomic(folder + "/target.json", *target).ok());
  const auto data = LoadMeasurements(folder);
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->samples.size(), 350u);
  int drawn_for_test = 0;
  for (size_t i = 0; i < data->samples.size(); ++i) {
    EXPECT_EQ(data->samples[i].selected, i >= 200) << i;
    if (i >= 200) {
      EXPECT_EQ(data->samples[i].split, Split::kTrain);
    } else {
      drawn_for_test += data->samples[i].split == Split::kTest;
    }
  }
  EXPECT_GT(drawn_for_test, 5);
  for (const char* name : {"/zebra.jsonl", "/selected-layers.jsonl", "/target.json"}) unlink((folder + name).c_str());
  rmdir(folder.c_str());
}

// What others published has latencies and graphs, and nothing else.
TEST(LoadMeasurements, ReadsRowsOfOthers) {
  const auto boards = LoadMeasurements(COBRA_SOURCE_DIR "/data/public/ncnn-boards/cpu-rk3588-4t-big-ncnn");
  ASSERT_TRUE(boards.ok()) << boards.status();
  EXPECT_EQ(boards->samples.size(), 33u);
  EXPECT_EQ(boards->target.peak_gflops, 307.2);
  EXPECT_EQ(boards->target.precision, "float16");
  for (const Sample& row : boards->samples) {
    EXPECT_TRUE(row.is_network());
    EXPECT_GT(row.latency_us(), 0);
    EXPECT_EQ(row.peak_memory_bytes(), 0);
    EXPECT_TRUE(row.node_latency_us.empty());
    EXPECT_EQ(row.label().substr(0, 12), "ncnn-boards/");
  }
  // Two hosts timed three problems on the same GPU.
  const auto gpu =
      LoadMeasurements(COBRA_SOURCE_DIR "/data/public/kernelbench/gpu-a100-sxm4-80gb-modal-torch-2.5-eager-train");
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  EXPECT_EQ(gpu->samples.size(), 187u);  // two of 188 problems are the same network
  EXPECT_EQ(gpu->network_repeats.size(), 3u);
}

TEST(RepeatabilityFloor, IsTheMedianRelativeDifference) {
  EXPECT_NEAR(RepeatabilityFloor({{"", "", 100, 100}, {"", "", 100, 102}, {"", "", 100, 150}}), 2.0 / 101, 1e-12);
  EXPECT_NEAR(RepeatabilityFloor({{"", "", 100, 100}, {"", "", 100, 102}}), 1.0 / 101, 1e-12);
  EXPECT_EQ(RepeatabilityFloor({}), 0);
}

}  // namespace
}  // namespace cobra::training

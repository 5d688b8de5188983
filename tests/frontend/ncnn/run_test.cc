// The graphs of ncnn networks run in the worker's executor, which compares the shape of every
// result with the graph. Their values are compared with ncnn's by judge.py.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "frontend/ncnn/reader.h"
#include "gtest/gtest.h"
#include "worker/execute/executor.h"

namespace cobra::ncnn {
namespace {

class NcnnRun : public testing::TestWithParam<const char*> {};

TEST_P(NcnnRun, TheGraphRuns) {
  const std::string path = absl::StrCat(COBRA_SOURCE_DIR, "/data/lists/ncnn/", GetParam(), ".param");
  NcnnRequest request{GetParam()};
  if (absl::string_view(GetParam()) == "FastestDet") request.inputs = {"1x3x352x352"};
  const absl::StatusOr<graph::Graph> graph = ReadNcnnModel(ReadFile(path, 1 << 20).value(), request);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::unique_ptr<worker::Executor>> executor = worker::Executor::Create(*graph, 1);
  ASSERT_TRUE(executor.ok()) << executor.status();
  EXPECT_TRUE((*executor)->RunChecked().ok()) << (*executor)->RunChecked();
}

INSTANTIATE_TEST_SUITE_P(Networks, NcnnRun,
                         testing::Values("FastestDet", "blazeface", "mobilenet_ssd", "mobilenet_v3", "mobilenet_yolo",
                                         "nanodet_m", "regnety_400m", "shufflenet_v2", "squeezenet", "yolo-fastestv2",
                                         "yolov4-tiny"));

}  // namespace
}  // namespace cobra::ncnn

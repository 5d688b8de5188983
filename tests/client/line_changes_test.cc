#include "client/compare/line_changes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SavedTarget TargetOf(std::vector<SavedCall> calls) {
  SavedTarget target;
  target.calls = std::move(calls);
  return target;
}

std::vector<std::string> Changes(std::vector<SavedCall> before, std::vector<SavedCall> after) {
  std::vector<std::string> changes;
  for (const LineChange& line : LineChanges(TargetOf(std::move(before)), TargetOf(std::move(after))))
    changes.push_back(absl::StrCat(line.place, " ", line.change_us()));
  return changes;
}

TEST(LineChangesTest, LinesMayMove) {
  EXPECT_THAT(Changes({{"a", "conv2d", "net.py:10", 5}, {"b", "linear", "net.py:11", 3}},
                      {{"a", "conv2d", "net.py:20", 7}, {"b", "linear", "net.py:21", 3}}),
              ElementsAre("net.py:20 2"));
}

TEST(LineChangesTest, ModulesMayBeRenamed) {
  EXPECT_THAT(Changes({{"conv1", "conv2d", "net.py:10", 5}}, {{"stem", "conv2d", "net.py:10", 5}}), IsEmpty());
}

TEST(LineChangesTest, RepeatedCallsOfALineAreAddedUp) {
  EXPECT_THAT(Changes({{"h.0", "linear", "n.py:3", 2}, {"h.1", "linear", "n.py:3", 2}},
                      {{"h.0", "linear", "n.py:3", 3}, {"h.1", "linear", "n.py:3", 3}, {"h.2", "linear", "n.py:3", 3}}),
              ElementsAre("n.py:3 5"));
}

TEST(LineChangesTest, NewCallsAreAllNewAndTheLargestIncreaseIsFirst) {
  EXPECT_THAT(Changes({{"a", "conv2d", "n.py:1", 5}, {"gone", "softmax", "n.py:2", 50}},
                      {{"a", "conv2d", "n.py:1", 4}, {"b", "gelu", "n.py:2", 1}, {"c", "linear", "n.py:3", 9}}),
              ElementsAre("n.py:3 9", "n.py:2 1", "n.py:1 -1"));
}

TEST(LineChangesTest, TheModuleIsTheOneThatChangedMost) {
  const std::vector<LineChange> lines =
      LineChanges(TargetOf({{"a", "conv2d", "n.py:1", 5}, {"b", "conv2d", "n.py:1", 5}}),
                  TargetOf({{"a", "conv2d", "n.py:1", 6}, {"b", "conv2d", "n.py:1", 9}}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].module, "b");
}

TEST(SplitPlaceTest, OfEachForm) {
  EXPECT_EQ(SplitPlace("a/net.py:7").file, "a/net.py");
  EXPECT_EQ(SplitPlace("a/net.py:7").line, 7);
  EXPECT_EQ(SplitPlace("a:b.py:12").file, "a:b.py");
  EXPECT_EQ(SplitPlace("net.onnx node 7").file, "net.onnx");
  EXPECT_EQ(SplitPlace("net.onnx node 7").line, 0);
  EXPECT_EQ(SplitPlace("").line, 0);
  EXPECT_EQ(SplitPlace("net.py").file, "net.py");
}

}  // namespace
}  // namespace cobra::client

#include "train/without_lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cobra::train {
namespace {

using ::testing::HasSubstr;

TEST(WithoutEvaluation, TableSaysHowItIsBuiltWhateverIsAsked) {
  for (const std::vector<const char*>& line : std::vector<std::vector<const char*>>{
           {"cobra-train", "table"}, {"cobra-train", "table", "nasbench201", "--quick", "--seeds", "3"}}) {
    CLI::App app("", "cobra-train");
    const Command command = AddUnavailableTable(&app);
    const absl::StatusOr<bool> parsed = ParseCommandLine(&app, static_cast<int>(line.size()), line.data());
    ASSERT_TRUE(parsed.ok() && *parsed) << parsed.status();
    ASSERT_TRUE(command.app->parsed());
    const absl::Status status = command.run();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("COBRA_LAB=OFF"));
  }
}

}  // namespace
}  // namespace cobra::train

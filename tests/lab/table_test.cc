// The harness of published tables: what is finished is kept, shown and entered in the ledger.
#include "lab/tables/run/table.h"

#include <algorithm>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lab/tables/tables.h"
#include "nlohmann/json.hpp"
#include "tests/temporary_directory.h"

namespace cobra::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TableOptions In(const tests::TemporaryDirectory& directory) {
  TableOptions options;
  options.name = "example";
  options.state = directory.File("example.partial.jsonl");
  options.ledger = directory.File("ledger.csv");
  options.command = "cobra-train table example";
  return options;
}

// Fills a cell, and counts how often it was asked to.
struct Maker {
  int calls = 0;
  std::function<absl::StatusOr<TableCell>()> operator()(double mape) {
    return [this, mape]() -> absl::StatusOr<TableCell> {
      ++calls;
      TableCell cell;
      cell.figures = {{"mape", mape}};
      cell.parameters = 7;
      return cell;
    };
  }
};

TEST(TableRun, ARunThatWasCutGoesOn) {
  const tests::TemporaryDirectory directory;
  Maker maker;
  TableRun first(In(directory));
  ASSERT_TRUE(first.Add("line", "gpu", 1, maker(0.5)).ok());
  ASSERT_TRUE(first.Add("trees", "gpu", 1, maker(0.25)).ok());
  TableRun second(In(directory));
  ASSERT_TRUE(second.Add("line", "gpu", 1, maker(0.9)).ok());
  ASSERT_TRUE(second.Add("trees", "gpu", 1, maker(0.9)).ok());
  ASSERT_TRUE(second.Add("trees", "gpu", 2, maker(0.35)).ok());
  EXPECT_EQ(maker.calls, 3);
  ASSERT_EQ(second.cells.size(), 3u);
  EXPECT_EQ(second.cells[0].figures[0].second, 0.5);
  EXPECT_EQ(second.cells[0].parameters, 7);
  EXPECT_GT(second.cells[0].seconds, 0);
  // Either run is a line: it looked at test rows.
  const std::string ledger = *ReadFile(In(directory).ledger);
  EXPECT_EQ(std::count(ledger.begin(), ledger.end(), '\n'), 3) << ledger;
  EXPECT_THAT(ledger, HasSubstr(",example,"));
}

TEST(TableRun, ALineCutShortIsMadeAgain) {
  const tests::TemporaryDirectory directory;
  Maker maker;
  ASSERT_TRUE(WriteFileAtomic(In(directory).state, "{\"method\":\"line\",\"gro").ok());
  TableRun run(In(directory));
  ASSERT_TRUE(run.Add("line", "gpu", 1, maker(0.5)).ok());
  TableRun next(In(directory));
  ASSERT_TRUE(next.Add("line", "gpu", 1, maker(0.5)).ok());
  EXPECT_EQ(maker.calls, 1);  // and is not lost to the rest of that line
}

TEST(TableRun, FinishedMakesNothing) {
  const tests::TemporaryDirectory directory;
  Maker maker;
  {
    TableRun run(In(directory));
    ASSERT_TRUE(run.Add("line", "gpu", 1, maker(0.5)).ok());
  }
  TableOptions options = In(directory);
  options.finished = true;
  TableRun run(options);
  ASSERT_TRUE(run.Add("line", "gpu", 1, maker(0.5)).ok());
  ASSERT_TRUE(run.Add("trees", "gpu", 1, maker(0.5)).ok());
  EXPECT_EQ(maker.calls, 1);
  EXPECT_EQ(run.missing, 1);
  EXPECT_THAT(TableToMarkdown(run), HasSubstr("1 cells are missing"));
  EXPECT_THAT(TableToMarkdown(run), Not(HasSubstr("trees")));
}

TEST(TableRun, AnErrorNamesTheCell) {
  TableRun run{TableOptions()};
  const absl::Status status =
      run.Add("line", "gpu", 2, []() -> absl::StatusOr<TableCell> { return absl::InternalError("singular"); });
  EXPECT_EQ(status.message(), "line, gpu, seed 2: singular");
}

TEST(TableRun, ShowsMeanAndSpreadAndOnlyTheColumnsThatAGroupHas) {
  TableRun run{TableOptions()};
  run.options.name = "example";
  run.columns.push_back({"watts", "W", 1, 0});
  run.published["line/gpu"] = "12.0";
  Maker maker;
  ASSERT_TRUE(run.Add("line", "gpu", 1, maker(0.1)).ok());
  ASSERT_TRUE(run.Add("line", "gpu", 2, maker(0.3)).ok());
  const std::string markdown = TableToMarkdown(run);
  EXPECT_THAT(markdown, HasSubstr("| method | MAPE, % | seeds | parameters | seconds | published |\n"));
  EXPECT_THAT(markdown, HasSubstr("| line | 20.0 ± 14.1 | 2 | 7 |"));
  EXPECT_THAT(markdown, HasSubstr("| 12.0 |\n"));
  const auto json = nlohmann::json::parse(TableToJson(run));
  EXPECT_EQ(json["table"], "example");
  ASSERT_EQ(json["rows"].size(), 1u);
  EXPECT_EQ(json["rows"][0]["method"], "line");
  EXPECT_NEAR(json["rows"][0]["metrics"]["mape"].get<double>(), 0.2, 1e-12);
  EXPECT_EQ(json["rows"][0]["seeds"], 2);
}

TEST(RunTable, AnUnknownNameListsTheTables) {
  TableOptions options;
  options.name = "nonesuch";
  const auto run = RunTable(options, "");
  EXPECT_EQ(run.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("nonesuch: no such table; there are active, layer_sum, ablation, "));
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("nasbench201"));
}

TEST(TableRun, ALongDocumentBeginsWithItsHeadings) {
  const tests::TemporaryDirectory directory;
  Maker maker;
  TableRun run(In(directory));
  for (int i = 0; i < 19; ++i) ASSERT_TRUE(run.Add("line", absl::StrCat("HELP's split, ", i), 1, maker(0.5)).ok());
  EXPECT_THAT(TableToMarkdown(run), Not(HasSubstr("- [")));
  ASSERT_TRUE(run.Add("line", "A family: titan_rtx_1", 1, maker(0.5)).ok());
  const std::string markdown = TableToMarkdown(run);
  EXPECT_THAT(markdown, HasSubstr("\n- [HELP's split, 3](#helps-split-3)\n"));
  EXPECT_THAT(markdown, HasSubstr("\n- [A family: titan_rtx_1](#a-family-titan_rtx_1)\n"));
}

}  // namespace
}  // namespace cobra::lab

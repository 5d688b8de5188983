#include "lab/tables/run/kept_answers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"

namespace cobra::lab {
namespace {

class KeptAnswers : public testing::Test {
 protected:
  KeptAnswers() : directory_(absl::StrCat(testing::TempDir(), "/kept-answers")) {
    std::filesystem::remove_all(directory_);
    EXPECT_TRUE(MakeDirectories(directory_).ok());
    options_.name = "boards";
    options_.state = absl::StrCat(directory_, "/boards.partial.jsonl");
  }

  absl::StatusOr<AnswersOfGroups> Answer(const std::string& part) {
    return KeptOrAnswered(options_, part, [this]() -> absl::StatusOr<AnswersOfGroups> {
      ++computed_;
      AnswersOfGroups answers;
      answers[{"known networks, \"3\" samples", "COBRA"}].Add(1234567.25, 1100000, 0.125);
      answers[{"known networks, \"3\" samples", "floor"}].AddWithoutInterval(31.5, 30);
      return answers;
    });
  }
  std::string PathOf(const std::string& part) const {
    return absl::StrCat(directory_, "/boards.partial.", part, ".jsonl.xz");
  }

  const std::string directory_;
  TableOptions options_;
  int computed_ = 0;
};

TEST_F(KeptAnswers, ALaterRunReadsWhatAnEarlierOneAnswered) {
  ASSERT_TRUE(Answer("fold-0-seed-1").ok());
  const absl::StatusOr<AnswersOfGroups> again = Answer("fold-0-seed-1");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(computed_, 1);
  const AnsweredRows& ours = again->at({"known networks, \"3\" samples", "COBRA"});
  ASSERT_EQ(ours.predicted().size(), 1U);
  EXPECT_NEAR(ours.predicted()[0], 1234567.25, 5);  // six digits
  EXPECT_EQ(ours.measured()[0], 1100000);
  EXPECT_EQ(ours.half_width()[0], 0.125);
  EXPECT_TRUE(again->at({"known networks, \"3\" samples", "floor"}).half_width().empty());
  ASSERT_TRUE(Answer("fold-1-seed-1").ok());
  EXPECT_EQ(computed_, 2);
}

TEST_F(KeptAnswers, ADocumentOfFinishedCellsComputesNothing) {
  options_.finished = true;
  const absl::StatusOr<AnswersOfGroups> none = Answer("fold-0-seed-1");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(computed_, 0);
}

TEST_F(KeptAnswers, ARunWithoutAStateFileKeepsNothing) {
  options_.state.clear();
  ASSERT_TRUE(Answer("fold-0-seed-1").ok());
  ASSERT_TRUE(Answer("fold-0-seed-1").ok());
  EXPECT_EQ(computed_, 2);
}

TEST_F(KeptAnswers, ADamagedFileIsNamed) {
  for (const char* lines :
       {"{\"group\": 1}\n", "no JSON\n",
        "{\"group\":\"g\",\"method\":\"m\",\"predicted\":[1,2],\"measured\":[1],\"half_width\":[]}"}) {
    ASSERT_TRUE(WriteMaybeGzip(PathOf("fold-0-seed-1"), lines).ok());
    const absl::Status status = Answer("fold-0-seed-1").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << lines;
    EXPECT_TRUE(absl::StartsWith(status.message(), PathOf("fold-0-seed-1"))) << status;
  }
  EXPECT_EQ(computed_, 0);
}

TEST_F(KeptAnswers, ErrorsNameThePart) {
  const auto failed = KeptOrAnswered(options_, "fold-3-seed-2", [] { return absl::NotFoundError("no rows"); });
  EXPECT_EQ(failed.status(), absl::NotFoundError("fold-3-seed-2: no rows"));
  EXPECT_FALSE(FileExists(PathOf("fold-3-seed-2")));
}

TEST_F(KeptAnswers, SeveralProcessesAnswerTheParts) {
  options_.jobs = 2;
  std::vector<TablePart> parts;
  for (const char* part : {"fold-0-seed-1", "fold-1-seed-1", "fold-2-seed-1"})
    parts.emplace_back(part, [part]() -> absl::StatusOr<AnswersOfGroups> {
      AnswersOfGroups answers;
      answers[{part, absl::StrCat(::getpid())}].AddWithoutInterval(2, 3);
      return answers;
    });
  ASSERT_TRUE(AnswerInParallel(options_, parts).ok());
  for (const char* part : {"fold-0-seed-1", "fold-1-seed-1", "fold-2-seed-1"}) {
    const absl::StatusOr<AnswersOfGroups> kept = Answer(part);
    ASSERT_TRUE(kept.ok()) << kept.status();
    ASSERT_EQ(kept->size(), 1U);
    EXPECT_EQ(kept->begin()->first.first, part);
    EXPECT_NE(kept->begin()->first.second, absl::StrCat(::getpid()));
  }
  EXPECT_EQ(computed_, 0);
}

TEST_F(KeptAnswers, APartThatFailsInItsProcessFailsTheTableAndLosesNoOther) {
  options_.jobs = 2;
  const std::vector<TablePart> parts = {{"fold-0-seed-1", [] { return absl::NotFoundError("no rows"); }},
                                        {"fold-1-seed-1", [] { return AnswersOfGroups(); }}};
  EXPECT_EQ(AnswerInParallel(options_, parts).code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(FileExists(PathOf("fold-0-seed-1")));
  EXPECT_TRUE(FileExists(PathOf("fold-1-seed-1")));
}

TEST_F(KeptAnswers, OneJobAnswersEachPartWhereItIsNeeded) {
  const std::vector<TablePart> parts = {{"fold-0-seed-1", [] { return AnswersOfGroups(); }}};
  ASSERT_TRUE(AnswerInParallel(options_, parts).ok());
  EXPECT_FALSE(FileExists(PathOf("fold-0-seed-1")));
  options_.parts = true;  // unless nobody will: the parts are all that this run is for
  ASSERT_TRUE(AnswerInParallel(options_, parts).ok());
  EXPECT_TRUE(FileExists(PathOf("fold-0-seed-1")));
}

TEST_F(KeptAnswers, AFinishedTableRemovesItsOwn) {
  ASSERT_TRUE(Answer("fold-0-seed-1").ok());
  ASSERT_TRUE(Answer("fold-1-seed-1").ok());
  const std::string of_another = absl::StrCat(directory_, "/kernels.partial.fold-0-seed-1.jsonl.xz");
  ASSERT_TRUE(WriteMaybeGzip(of_another, "").ok());
  ASSERT_TRUE(RemoveKeptAnswers(options_.state).ok());
  EXPECT_FALSE(FileExists(PathOf("fold-0-seed-1")));
  EXPECT_FALSE(FileExists(PathOf("fold-1-seed-1")));
  EXPECT_TRUE(FileExists(of_another));
}

}  // namespace
}  // namespace cobra::lab

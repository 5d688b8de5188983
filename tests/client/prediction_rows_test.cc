#include "client/ask/prediction_rows.h"

#include <cmath>
#include <filesystem>
#include <string>

#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/user_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

using testing::HasSubstr;

v1::TargetPrediction Prediction(double us) {
  v1::TargetPrediction prediction;
  prediction.set_latency_us(us);
  prediction.set_low_us(us / 2);
  prediction.set_high_us(us * 2);
  prediction.set_confidence(0.875);
  return prediction;
}

TEST(PredictionRowsTest, ALineHasTheNumbersOrTheReason) {
  EXPECT_EQ(HeaderLine(false), "row,latency_ms,low_ms,high_ms,confidence,error\n");
  EXPECT_EQ(HeaderLine(true), "row,target,latency_ms,low_ms,high_ms,confidence,error\n");
  EXPECT_EQ(AnswerLine({"7", ""}, Prediction(1500)), "7,1.5,0.75,3,0.875,\n");
  EXPECT_EQ(AnswerLine({"a,b", "cpu"}, Prediction(0.25)), "\"a,b\",cpu,0.00025,0.000125,0.0005,0.875,\n");
  EXPECT_EQ(ErrorLine({"7", ""}, UserError(Diagnostic::Kind::kUsage, "a.py: no such file", "look,\nelsewhere")),
            "7,,,,,\"a.py: no such file; hint: look, elsewhere\"\n");
  EXPECT_EQ(ErrorLine({"7", "cpu"}, absl::InternalError("")), "7,cpu,,,,,INTERNAL\n");
}

TEST(PredictionRowsTest, WhatIsNoNumberIsAnError) {
  EXPECT_EQ(AnswerLine({"7", ""}, Prediction(std::nan(""))), "7,,,,,the server's answer is not a number\n");
  EXPECT_EQ(AnswerLine({"7", ""}, Prediction(INFINITY)), "7,,,,,the server's answer is not a number\n");
}

TEST(PredictionRowsTest, AReasonHasAnEnd) {
  const std::string line = ErrorLine({"7", ""}, absl::InternalError(std::string(1'000'000, 'x')));
  EXPECT_EQ(line.size(), 2000 + std::string("7,,,,,\n").size());
}

TEST(PredictionRowsTest, AReasonSendsNothingToTheTerminal) {
  EXPECT_EQ(ErrorLine({"7", ""}, absl::InternalError("a\x1b[31m\r\nb")), "7,,,,,a?[31m  b\n");
}

class PredictionFileTest : public testing::Test {
 protected:
  std::string Text(const std::string& name) { return ReadMaybeCompressed(directory_.File(name)).value_or("none"); }
  tests::TemporaryDirectory directory_;
};

TEST_F(PredictionFileTest, LinesComeInAnyOrderAndAreKeptUntilTheFileIsComplete) {
  auto rows = PredictionRows::Open(directory_.File("pred.csv"), false);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE((*rows)->Add(1, "b\n").ok());
  EXPECT_EQ(Text("pred.csv.part"), HeaderLine(false));
  EXPECT_TRUE((*rows)->Add(0, "a\n").ok());
  EXPECT_EQ(Text("pred.csv.part"), HeaderLine(false) + "a\nb\n");
  EXPECT_EQ(Text("pred.csv"), "none");
  EXPECT_TRUE((*rows)->Finish().ok());
  EXPECT_EQ(Text("pred.csv"), HeaderLine(false) + "a\nb\n");
  EXPECT_EQ(Text("pred.csv.part"), "none");
}

TEST_F(PredictionFileTest, AnEarlierFileStaysUntilThen) {
  ASSERT_TRUE(WriteFileAtomic(directory_.File("pred.csv"), "old").ok());
  auto rows = PredictionRows::Open(directory_.File("pred.csv"), false);
  EXPECT_TRUE((*rows)->Add(0, "a\n").ok());
  EXPECT_EQ(Text("pred.csv"), "old");
  (*rows)->Discard();
  rows->reset();
  EXPECT_EQ(Text("pred.csv"), "old");
  EXPECT_EQ(Text("pred.csv.part"), "none");
}

TEST_F(PredictionFileTest, ALinkOfThatNameIsNotWrittenThrough) {
  ASSERT_TRUE(WriteFileAtomic(directory_.File("other"), "old").ok());
  std::filesystem::create_symlink("other", directory_.File("pred.csv.part"));
  auto rows = PredictionRows::Open(directory_.File("pred.csv"), false);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE((*rows)->Add(0, "a\n").ok());
  EXPECT_TRUE((*rows)->Finish().ok());
  EXPECT_EQ(Text("other"), "old");
  EXPECT_EQ(Text("pred.csv"), HeaderLine(false) + "a\n");
}

TEST_F(PredictionFileTest, AFileOfThatEndingIsPacked) {
  auto rows = PredictionRows::Open(directory_.File("pred.csv.gz"), false);
  EXPECT_TRUE((*rows)->Add(0, "a\n").ok());
  EXPECT_TRUE((*rows)->Finish().ok());
  EXPECT_EQ(ReadFile(directory_.File("pred.csv.gz")).value().substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(Text("pred.csv.gz"), HeaderLine(false) + "a\n");
  EXPECT_FALSE(FileExists(directory_.File("pred.csv.gz.part")));
}

TEST_F(PredictionFileTest, WhatCannotBeWrittenIsAUsageError) {
  const auto fault = [](const absl::Status& status) {
    return DiagnosticFromStatus(status).value_or(Diagnostic()).message;
  };
  EXPECT_THAT(fault(PredictionRows::Open(directory_.File("no/pred.csv"), false).status()),
              HasSubstr("/no/pred.csv: cannot be written: No such file or directory"));
  EXPECT_THAT(fault(PredictionRows::Open(directory_.path(), false).status()),
              HasSubstr(": cannot be written: Is a dir"));
  EXPECT_THAT(fault(PredictionRows::Open("", false).status()), HasSubstr("--out : is empty"));
  EXPECT_EQ(fault(PredictionRows::Open("/dev/full", false).status()),
            "--out /dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(PredictionRows::Open("/dev/null", false).ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace cobra::client

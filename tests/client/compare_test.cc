#include "client/compare/compare.h"

#include "base/diagnostic.h"
#include "client/ask/prediction_render.h"
#include "client/compare/compare_render.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Row {
  const char* module;
  double latency_us;
};

// What predict prints for these calls on one target.
std::string Result(const std::vector<Row>& rows, bool breakdown = true, const std::string& path = "a/net.py",
                   const std::string& target = "cpu", const std::string& device = "AMD EPYC") {
  v1::PredictResponse response;
  response.set_model_version("pretrained@1");
  v1::TargetPrediction* p = response.add_predictions();
  p->set_target(target);
  double sum = 0;
  for (const Row& row : rows) {
    v1::NodeLatency* node = p->add_breakdown();
    node->set_module_path(row.module);
    node->set_latency_us(row.latency_us);
    sum += row.latency_us;
  }
  p->set_latency_us(sum);
  p->set_low_us(0.9 * sum);
  p->set_high_us(1.1 * sum);
  p->set_confidence(0.8);
  PredictionView view;
  view.breakdown = breakdown;
  view.model.path = path;
  view.model.entry = "Net()";
  view.model.inputs = {"1x3"};
  view.targets[target].set_device(device);
  return PredictionJson(response, view);
}

SavedPrediction Saved(const std::string& json, const std::string& name) {
  absl::StatusOr<SavedPrediction> saved = ParsePrediction(json, name);
  EXPECT_TRUE(saved.ok()) << saved.status();
  return saved.ok() ? *std::move(saved) : SavedPrediction();
}

absl::StatusOr<Comparison> Compared(const std::string& before, const std::string& after,
                                    const CompareOptions& options = {}) {
  return Compare(Saved(before, "old.json"), Saved(after, "new.json"), options);
}

std::string MessageOf(const absl::Status& status) {
  const std::optional<Diagnostic> d = DiagnosticFromStatus(status);
  EXPECT_TRUE(d.has_value()) << status;
  EXPECT_EQ(d.value_or(Diagnostic()).kind, Diagnostic::Kind::kUsage);
  return d.value_or(Diagnostic()).message;
}

TEST(CompareTest, ChangeIsMeasuredAtTheMidpoint) {
  const absl::StatusOr<Comparison> c = Compared(Result({{"a", 1000}}), Result({{"a", 1050}}));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_NEAR(c->targets[0].change(), 0.05, 1e-12);
  CompareOptions strict;
  strict.max_increase = 0.049;
  EXPECT_TRUE(Compared(Result({{"a", 1000}}), Result({{"a", 1050}}), strict)->regressed());
  strict.max_increase = 0.051;
  EXPECT_FALSE(Compared(Result({{"a", 1000}}), Result({{"a", 1050}}), strict)->regressed());
  EXPECT_FALSE(Compared(Result({{"a", 1000}}), Result({{"a", 100}}), strict)->regressed());  // faster is fine
}

TEST(CompareTest, ModulesThatChangedMostComeFirstAndAlikeOnesAreOne) {
  const absl::StatusOr<Comparison> c = Compared(
      Result({{"h.0.mlp", 100}, {"h.1.mlp", 102}, {"h.2.mlp", 99}, {"stem", 50}, {"gone", 40}, {"head", 10}}),
      Result(
          {{"h.0.mlp", 200}, {"h.1.mlp", 205}, {"h.2.mlp", 195}, {"stem", 50}, {"new", 30}, {"new", 1}, {"head", 9}}));
  ASSERT_TRUE(c.ok()) << c.status();
  const std::vector<ModuleChange>& modules = c->targets[0].modules;
  std::vector<std::string> paths;
  for (const ModuleChange& m : modules) paths.push_back(m.path);
  EXPECT_THAT(paths, ElementsAre("h.*.mlp", "gone", "new", "head"));  // stem did not change
  EXPECT_EQ(modules[0].alike, 3);
  EXPECT_NEAR(modules[0].change_us(), 299, 1e-9);
  EXPECT_EQ(modules[1].after.calls, 0);
  EXPECT_EQ(modules[2].after.calls, 2);
  const std::string text = ComparisonText(*c, 2);
  EXPECT_THAT(text, HasSubstr("3 x h.*.mlp"));
  EXPECT_THAT(text, HasSubstr("1 -> 0  gone"));
  EXPECT_THAT(text, HasSubstr("and 2 more"));
  EXPECT_THAT(text, HasSubstr("slower than the 5 % allowed"));
}

// In a Sequential of blocks the numbers that are the same in all blocks tell the lines apart.
TEST(CompareTest, OnlyNumbersThatDifferAreStars) {
  const absl::StatusOr<Comparison> c =
      Compared(Result({{"h.0.mlp.0", 100}, {"h.1.mlp.0", 101}, {"h.0.mlp.3", 300}, {"h.1.mlp.3", 303}}),
               Result({{"h.0.mlp.0", 200}, {"h.1.mlp.0", 202}, {"h.0.mlp.3", 500}, {"h.1.mlp.3", 505}}));
  ASSERT_TRUE(c.ok()) << c.status();
  std::vector<std::string> paths;
  for (const ModuleChange& m : c->targets[0].modules) paths.push_back(m.path);
  EXPECT_THAT(paths, ElementsAre("h.*.mlp.3", "h.*.mlp.0"));
}

TEST(CompareTest, DifferentChangesOfAlikeModulesAreLinesOfTheirOwn) {
  const absl::StatusOr<Comparison> c =
      Compared(Result({{"f.0", 100}, {"f.1", 100}}), Result({{"f.0", 200}, {"f.1", 120}}));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->targets[0].modules.size(), 2u);
}

TEST(CompareTest, TwoGroupsOfOnePatternSayWhichTheyAre) {
  std::vector<Row> before, after;
  static const char* const kBlocks[] = {"h.0.mlp", "h.1.mlp", "h.2.mlp", "h.3.mlp", "h.4.mlp"};
  for (int i = 0; i < 5; ++i) {
    before.push_back({kBlocks[i], 100});
    after.push_back({kBlocks[i], i < 3 ? 200.0 : 120.0});
  }
  const absl::StatusOr<Comparison> c = Compared(Result(before), Result(after));
  ASSERT_TRUE(c.ok()) << c.status();
  std::vector<std::string> paths;
  for (const ModuleChange& m : c->targets[0].modules) paths.push_back(m.path);
  EXPECT_THAT(paths, ElementsAre("h.{0-2}.mlp", "h.{3,4}.mlp"));
}

TEST(CompareTest, ResultsOfTwoModelsSayWhichTheyAre) {
  CompareOptions options;
  options.different_models = true;
  const absl::StatusOr<Comparison> other =
      Compared(Result({{"a", 10}}), Result({{"a", 10}}, true, "a/other.py"), options);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT(ComparisonText(*other, 10), HasSubstr("other.py"));
  const absl::StatusOr<Comparison> same = Compared(Result({{"a", 10}}), Result({{"a", 10}}), options);
  EXPECT_THAT(ComparisonText(*same, 10), Not(HasSubstr("net.py")));
}

TEST(CompareTest, AColourSaysWhetherItGotWorse) {
  const absl::StatusOr<Comparison> slower = Compared(Result({{"a", 1000}}), Result({{"a", 2000}}));
  EXPECT_THAT(ComparisonText(*slower, 10, {0, true}), HasSubstr("\033[31m+100.0 %\033[0m"));
  const absl::StatusOr<Comparison> faster = Compared(Result({{"a", 2000}}), Result({{"a", 1000}}));
  EXPECT_THAT(ComparisonText(*faster, 10, {0, true}), HasSubstr("\033[32m-50.0 %\033[0m"));
  EXPECT_THAT(ComparisonText(*faster, 10), Not(HasSubstr("\033")));
}

TEST(CompareTest, WithoutTwoBreakdownsThereAreNoModules) {
  const absl::StatusOr<Comparison> c = Compared(Result({{"a", 10}}), Result({{"a", 20}}, /*breakdown=*/false));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_FALSE(c->targets[0].has_modules());
  EXPECT_THAT(ComparisonText(*c, 10), HasSubstr("with --breakdown"));
  EXPECT_FALSE(ComparisonJson(*c)["targets"][0].contains("modules"));
}

TEST(CompareTest, AnswersToDifferentQuestionsAreRefusedAndNamed) {
  const std::string before = Result({{"a", 10}});
  // Another folder is another checkout, another file another model.
  EXPECT_TRUE(Compared(before, Result({{"a", 10}}, true, "b/net.py")).ok());
  const std::string other = Result({{"a", 10}}, true, "a/other.py");
  const std::string message = MessageOf(Compared(before, other).status());
  EXPECT_THAT(message, HasSubstr("model is net.py in old.json and other.py in new.json"));
  EXPECT_THAT(message, Not(HasSubstr("entry")));
  CompareOptions any;
  any.different_models = true;
  EXPECT_TRUE(Compared(before, other, any).ok());
}

TEST(CompareTest, TargetsAreMatchedByNameAndDevice) {
  const std::string before = Result({{"a", 10}});
  EXPECT_THAT(MessageOf(Compared(before, Result({{"a", 10}}, true, "a/net.py", "gpu")).status()),
              HasSubstr("old.json: has no target gpu"));
  EXPECT_THAT(MessageOf(Compared(before, Result({{"a", 10}}, true, "a/net.py", "cpu", "Intel")).status()),
              HasSubstr("another device: Intel, in old.json AMD EPYC"));
}

TEST(CompareTest, GuessesComeLastAndSaySo) {
  const auto of_two = [](double factor) {
    v1::PredictResponse response;
    for (const char* name : {"guessed", "known"}) {
      v1::TargetPrediction* p = response.add_predictions();
      p->set_target(name);
      p->set_latency_us(factor * 100);
      p->set_low_us(factor * 90);
      p->set_high_us(factor * 110);
      p->set_extrapolating(std::string(name) == "guessed");
    }
    response.set_peak_memory_bytes(3'000'000'000);
    PredictionView view;
    view.targets["known"].set_memory_gb(2);
    return PredictionJson(response, view);
  };
  const absl::StatusOr<Comparison> compared = Compared(of_two(1), of_two(2));
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_EQ(compared->targets[0].after.target, "known");
  EXPECT_TRUE(compared->targets[1].is_guess());
  const std::string text = ComparisonText(*compared, 3);
  EXPECT_THAT(text, testing::HasSubstr("slower than the 5 % allowed, needs 3 GB of 2 GB"));
  EXPECT_THAT(text, testing::HasSubstr("a guess, slower than the 5 % allowed\n"));
}

TEST(CompareTest, WhatIsNoResultIsNamed) {
  for (const char* text : {"", "[]", "{}", "{\"predictions\": 3}", "{\"predictions\": []}", "{\"predictions\": [3]}",
                           "{\"predictions\": [{\"latency_us\": \"1\"}]}",
                           "{\"predictions\": [{\"latency_us\":0,\"low_us\":0,\"high_us\":0,\"confidence\":1}]}"}) {
    EXPECT_THAT(MessageOf(ParsePrediction(text, "x.json").status()), HasSubstr("x.json: ")) << text;
  }
  EXPECT_THAT(MessageOf(ParsePrediction("{\"error\": {}}", "x.json").status()), HasSubstr("it holds an error"));
}

TEST(CompareTest, OtherWeightsAreAWarning) {
  absl::StatusOr<Comparison> c = Compared(Result({{"a", 10}}), Result({{"a", 10}}));
  ASSERT_TRUE(c.ok());
  EXPECT_THAT(ComparisonText(*c, 10), Not(HasSubstr("warning")));
  c->after.model_version = "pretrained@2";
  EXPECT_THAT(ComparisonText(*c, 10),
              HasSubstr("warning: two versions of the weights (pretrained@1 and pretrained@2)"));
}

TEST(CompareTest, JsonHasUnitsAndFractions) {
  const absl::StatusOr<Comparison> c = Compared(Result({{"a", 100}}), Result({{"a", 150}}));
  ASSERT_TRUE(c.ok());
  const nlohmann::ordered_json j = ComparisonJson(*c);
  EXPECT_EQ(j["regressed"], true);
  EXPECT_EQ(j["max_increase"], 0.05);
  EXPECT_NEAR(j["targets"][0]["change"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(j["targets"][0]["modules"][0]["new_latency_us"], 150);
  EXPECT_THAT(j["only_in_old"], IsEmpty());
}

TEST(CompareTest, AnIncreaseIsWrittenWithItsSign) {
  EXPECT_EQ(*ParseIncrease("--max-increase", "5%"), 0.05);
  EXPECT_EQ(*ParseIncrease("--max-increase", " 12.5 % "), 0.125);
  EXPECT_EQ(*ParseIncrease("--max-increase", "0%"), 0);
  for (const char* wrong : {"5", "0.05", "%", "-1%", "five%", "nan%", "inf%", ""}) {
    EXPECT_THAT(MessageOf(ParseIncrease("--max-increase", wrong).status()), HasSubstr("is not a percentage")) << wrong;
  }
}

}  // namespace
}  // namespace cobra::client

#include <optional>

#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "client/adapt/calibrate_command.h"
#include "client/adapt/calibration_render.h"
#include "client/adapt/target_cards.h"
#include "client/adapt/target_render.h"
#include "client/ask/prediction_render.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

v1::PredictResponse Response() {
  v1::PredictResponse response;
  v1::TargetPrediction* p = response.add_predictions();
  p->set_target("cpu");
  p->set_latency_us(12345.6);
  p->set_low_us(11000);
  p->set_high_us(14000);
  p->set_coverage(0.9);
  p->set_confidence(0.75);
  v1::NodeLatency* row = p->add_breakdown();
  row->set_op("conv2d");
  row->set_file("net.py");
  row->set_line(7);
  row->set_latency_us(12345.6);
  response.set_parameter_count(25557032);
  response.set_node_count(1);
  return response;
}

TEST(RenderTest, PredictionTableSaysWhatIsOverBudget) {
  const std::string text = PredictionTable(Response(), {"Net()", /*budget_ms=*/10, /*breakdown=*/true});
  EXPECT_NE(text.find("12.346"), std::string::npos);
  EXPECT_NE(text.find("over the budget of 10 ms"), std::string::npos);
  EXPECT_NE(text.find("\n1 call, 25.6 M parameters"), std::string::npos);
  EXPECT_NE(text.find("net.py:7"), std::string::npos);
}

TEST(RenderTest, PredictionJsonHasUnitsAndFullPrecision) {
  const nlohmann::json j = nlohmann::json::parse(PredictionJson(Response(), {"Net()", 10, true}));
  const nlohmann::json& p = j["predictions"][0];
  EXPECT_EQ(p["latency_us"], 12345.6);
  EXPECT_EQ(p["over_budget"], true);
  EXPECT_EQ(p["breakdown"][0]["where"], "net.py:7");
  EXPECT_EQ(p["breakdown"][0]["latency_share"], 1);
  EXPECT_EQ(j["params"], 25557032);
  EXPECT_FALSE(nlohmann::json::parse(PredictionJson(Response(), {}))["predictions"][0].contains("breakdown"));
}

TEST(RenderTest, PredictionJsonHasTheQuestionAndTheDevice) {
  PredictionView view;
  view.model.path = "a/net.py";
  view.model.entry = "Net()";
  view.model.inputs = {"1x3", "mask=1x1"};
  view.targets["cpu"].set_device("AMD EPYC");
  view.targets["cpu"].set_precision("float32");
  const nlohmann::json j = nlohmann::json::parse(PredictionJson(Response(), view));
  EXPECT_EQ(j["model"], "a/net.py");
  EXPECT_EQ(j["arch"], "");
  EXPECT_EQ(j["entry"], "Net()");
  EXPECT_EQ(j["method"], "forward");
  EXPECT_EQ(j["inputs"], nlohmann::json({"1x3", "mask=1x1"}));
  EXPECT_EQ(j["predictions"][0]["device"], "AMD EPYC");
  EXPECT_EQ(j["predictions"][0]["precision"], "float32");
}

TEST(RenderTest, OnlyWhatWasMeasuredOnATargetIsShownAsItsError) {
  v1::ListTargetsResponse response;
  for (bool calibrated : {false, true}) {
    v1::Target* target = response.add_targets();
    target->mutable_spec()->set_name(calibrated ? "this-machine" : "cpu");
    target->set_calibrated(calibrated);
    target->mutable_errors()->set_layer_mape(0.123);
    target->mutable_errors()->set_network_mape(0.06);
    target->mutable_errors()->set_repeatability_floor(0.0134);
    target->mutable_errors()->set_layers_tested(1440);
    target->mutable_errors()->set_networks_tested(57);
    if (!calibrated) continue;
    target->set_base_target("cpu");
    target->set_probe_layer_mape_before(0.31);
    target->set_probe_layer_mape_after(0.08);
    target->set_probe_network_mape_after(0.04);
  }
  const std::vector<std::string> lines = absl::StrSplit(TargetsTable(response), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[1], testing::ContainsRegex("12.3 % +6.0 % +1.3 % +57 +on held-out rows"));
  EXPECT_THAT(lines[2], testing::ContainsRegex(
                            "8.0 % +4.0 % +- +- +on its probe, layers 31.0 % before; calibrated on top of cpu"));
  const nlohmann::json j = nlohmann::json::parse(TargetsJson(response))["targets"];
  EXPECT_TRUE(j[0].contains("errors"));
  EXPECT_FALSE(j[1].contains("errors"));
  EXPECT_EQ(j[1]["base_target_errors"]["networks_tested"], 57);
  response.mutable_targets(0)->clear_errors();
  EXPECT_THAT(TargetsTable(response), testing::Not(testing::HasSubstr("0.0 %")));
}

TEST(RenderTest, ACardSaysWhatATargetLearnedAndItsErrors) {
  v1::ListTargetsResponse response;
  v1::Target* target = response.add_targets();
  target->mutable_spec()->set_name("gpu-l4");
  target->mutable_spec()->set_kind("gpu");
  target->mutable_spec()->set_device("NVIDIA L4");
  target->mutable_spec()->set_peak_gflops(31334);
  target->mutable_spec()->set_threads(1);
  v1::MeasuredErrors* errors = target->mutable_errors();
  errors->set_networks_trained(1);
  errors->set_layers_trained(20);
  errors->set_not_run(3);
  errors->set_networks_tested(5);
  errors->set_network_mape(0.071);
  errors->set_network_within_10_percent(0.8);
  errors->set_network_coverage(0.6);
  v1::SpaceErrors* space = errors->add_spaces();
  space->set_space("timm");
  space->set_networks(5);
  response.add_targets()->set_calibrated(true);
  const std::string cards = TargetCards(response);
  EXPECT_THAT(cards, testing::HasSubstr("## gpu-l4\n\nNVIDIA L4: 31334 GFLOPS  \n"));
  EXPECT_THAT(cards, testing::HasSubstr("1 network, 20 single layers; 3 measurements failed or gave wrong results"));
  EXPECT_THAT(cards, testing::HasSubstr("| timm | 5 |"));
  EXPECT_THAT(cards, testing::HasSubstr("| all networks | 5 | 7.1 % | 80.0 % | 60.0 % |"));
  EXPECT_THAT(cards, testing::Not(testing::HasSubstr("single layers | 0")));
}

TEST(RenderTest, UnknownPartsAreListedWhereTheyMatter) {
  v1::PredictResponse response = Response();
  v1::UnknownPart* part = response.mutable_predictions(0)->add_unknown();
  part->set_why("flatten was never measured");
  part->set_share(0.0001);
  EXPECT_THAT(PredictionTable(response, {}), testing::Not(testing::HasSubstr("unsure")));
  part->set_share(0.04);
  EXPECT_THAT(PredictionTable(response, {}),
              testing::HasSubstr("unsure on cpu:\n  4.0 % of the time: flatten was never measured\n"));
  response.mutable_predictions(0)->set_extrapolating(true);
  response.mutable_predictions(0)->set_coverage(0);
  const std::string table = PredictionTable(response, {});
  EXPECT_THAT(table, testing::HasSubstr("The interval is a guess"));
  EXPECT_THAT(table, testing::ContainsRegex("cpu +12.346 +a guess: 11 to 14 +0.75  extrapolating"));
}

TEST(RenderTest, ColoursAreForWhatMatters) {
  PredictionView view{"Net()", /*budget_ms=*/10};
  EXPECT_THAT(PredictionTable(Response(), view), testing::Not(testing::HasSubstr("\033")));
  view.style.color = true;
  const std::string text = PredictionTable(Response(), view);
  EXPECT_THAT(text, testing::HasSubstr("\033[31m12.346\033[0m"));  // over the budget
  EXPECT_THAT(text, testing::HasSubstr("\033[33m0.75\033[0m"));    // not quite sure
  EXPECT_THAT(text, testing::HasSubstr("\033[31mover the budget of 10 ms\033[0m"));
}

TEST(RenderTest, NamesOfStrangersCannotDriveTheTerminal) {
  v1::PredictResponse response = Response();
  response.mutable_predictions(0)->set_target("cpu\033[2J");
  response.mutable_predictions(0)->mutable_breakdown(0)->set_module_path("a\nb\033]0;x\007");
  response.set_model_version("1\033[2J");
  v1::UnknownPart* part = response.mutable_predictions(0)->add_unknown();
  part->set_why("x\033[2J");
  part->set_share(0.5);
  PredictionView view{"Net()\033[2J", 0, /*breakdown=*/true};
  EXPECT_THAT(PredictionTable(response, view), testing::Not(testing::HasSubstr("\033")));
}

TEST(RenderTest, CallsThatCostNothingShareALine) {
  v1::PredictResponse response = Response();
  for (const char* op : {"view", "view", "flatten"}) {
    v1::NodeLatency* row = response.mutable_predictions(0)->add_breakdown();
    row->set_op(op);
    row->set_latency_us(0.01);
  }
  const std::string text = PredictionTable(response, {"Net()", 0, /*breakdown=*/true});
  EXPECT_THAT(text, testing::HasSubstr("and 3 calls that take next to no time: 2 view, 1 flatten\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("0.0000")));
}

TEST(RenderTest, QuietIsMillisecondsAlone) {
  v1::PredictResponse response = Response();
  response.add_predictions()->set_latency_us(0.5);
  EXPECT_EQ(LatencyLines(response), "12.3456\n0.0005\n");
}

TEST(RenderTest, CalibratedTargetShowsItsProbe) {
  v1::ListTargetsResponse response;
  v1::Target* target = response.add_targets();
  target->mutable_spec()->set_name("this-machine");
  target->set_calibrated(true);
  target->set_base_target("cpu");
  target->set_probe_layer_mape_after(0.04);
  EXPECT_NE(TargetsTable(response).find("calibrated on top of cpu"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(TargetsJson(response))["targets"][0]["probe_layer_mape_after"], 0.04);
}

void Disturb(v1::Target* target) {
  v1::Disturbance* disturbance = target->mutable_disturbance();
  disturbance->set_typical_ratio(1.18);
  disturbance->set_low_ratio(1.02);
  disturbance->set_high_ratio(1.31);
  disturbance->set_timings(57);
}

TEST(RenderTest, ACalibrationSaysWhatElseRunsOnTheMachine) {
  v1::CalibrateResponse response;
  response.mutable_target()->set_calibrated(true);
  EXPECT_THAT(CalibrationTable(response, ""), testing::Not(testing::HasSubstr("something else")));
  EXPECT_FALSE(nlohmann::json::parse(CalibrationJson(response, ""))["target"].contains("disturbance"));
  Disturb(response.mutable_target());
  EXPECT_THAT(CalibrationTable(response, ""),
              testing::HasSubstr("other programs run on this machine: networks took 1.18 times their undisturbed time "
                                 "in the median, nine in ten timings 1.02 to 1.31 times (of 57)"));
  const nlohmann::json told = nlohmann::json::parse(CalibrationJson(response, ""))["target"]["disturbance"];
  EXPECT_EQ(told["typical_ratio"], 1.18);
  EXPECT_EQ(told["low_ratio"], 1.02);
  EXPECT_EQ(told["high_ratio"], 1.31);
  EXPECT_EQ(told["timings"], 57);
  v1::ListTargetsResponse targets;
  *targets.add_targets() = response.target();
  EXPECT_THAT(TargetsTable(targets), testing::HasSubstr("disturbed: networks took 1.18 times"));
  response.mutable_target()->mutable_disturbance()->set_typical_ratio(1.01);
  response.mutable_target()->mutable_disturbance()->set_high_ratio(1.04);
  EXPECT_THAT(CalibrationTable(response, ""), testing::Not(testing::HasSubstr("something else")));
}

TEST(RenderTest, APredictionSaysTheUndisturbedTime) {
  v1::PredictResponse response = Response();
  v1::TargetPrediction* p = response.mutable_predictions(0);
  EXPECT_FALSE(nlohmann::json::parse(PredictionJson(response, {}))["predictions"][0].contains("undisturbed"));
  EXPECT_THAT(PredictionTable(response, {}), testing::Not(testing::HasSubstr("undisturbed")));
  v1::UndisturbedLatency* alone = p->mutable_undisturbed();
  alone->set_latency_us(p->latency_us() / 1.2);
  alone->set_low_us(p->latency_us() / 1.3);
  alone->set_high_us(p->latency_us() / 1.1);
  const nlohmann::json told = nlohmann::json::parse(PredictionJson(response, {}))["predictions"][0]["undisturbed"];
  EXPECT_EQ(told["latency_us"], alone->latency_us());
  EXPECT_EQ(told["low_us"], alone->low_us());
  EXPECT_EQ(told["high_us"], alone->high_us());
  EXPECT_THAT(PredictionTable(response, {}), testing::HasSubstr("undisturbed 10.288 ms (9.497 ... 11.223)"));
  // A quiet machine is not worth a line.
  alone->set_latency_us(p->latency_us() / 1.01);
  alone->set_high_us(p->high_us() / 1.01);
  EXPECT_THAT(PredictionTable(response, {}), testing::Not(testing::HasSubstr("undisturbed")));
}

TEST(RenderTest, ADisturbedProbeIsAWarning) {
  const std::string disturbed =
      ProbeWarning(R"({"canary":{"compute_ratio":1.31,"copy_ratio":0.9,"disturbed":true,"load":3}})");
  EXPECT_NE(disturbed.find("1.31 times"), std::string::npos);
  EXPECT_EQ(ProbeWarning(R"({"canary":{"compute_ratio":1.01,"copy_ratio":1.1,"disturbed":false}})"), "");
  for (const char* text : {"", "{", "[]", "{}", R"({"canary":3})", R"({"canary":{}})", R"({"canary":{"disturbed":1}})",
                           R"({"canary":{"disturbed":"yes"}})"})
    EXPECT_EQ(ProbeWarning(text), "");
  EXPECT_NE(ProbeWarning(R"({"canary":{"disturbed":true,"compute_ratio":"2","copy_ratio":null}})"), "");
  EXPECT_NE(CalibrationTable({}, disturbed).find("warning: the machine was busy"), std::string::npos);
  EXPECT_EQ(CalibrationTable({}, "").find("warning"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(CalibrationJson({}, disturbed))["warning"], disturbed);
  EXPECT_FALSE(nlohmann::json::parse(CalibrationJson({}, "")).contains("warning"));
}

TEST(CalibrateTest, ANameThatNoTargetMayHaveIsAUsageError) {
  EXPECT_TRUE(CheckTargetName("pi-4.a_B").ok());
  for (const char* name : {"", "a b", "\033[31m"}) {
    const std::optional<Diagnostic> wrong = DiagnosticFromStatus(CheckTargetName(name));
    ASSERT_TRUE(wrong.has_value()) << name;
    EXPECT_EQ(wrong->kind, Diagnostic::Kind::kUsage);
    EXPECT_THAT(wrong->message, testing::StartsWith("--name"));
  }
}

}  // namespace
}  // namespace cobra::client

#include "client/render.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra {
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
  EXPECT_NE(text.find("25.6 M parameters"), std::string::npos);
  EXPECT_NE(text.find("net.py:7"), std::string::npos);
}

TEST(RenderTest, PredictionJsonHasUnitsAndFullPrecision) {
  const nlohmann::json j = nlohmann::json::parse(PredictionJson(Response(), {"Net()", 10, true}));
  const nlohmann::json& p = j["predictions"][0];
  EXPECT_EQ(p["latency_us"], 12345.6);
  EXPECT_EQ(p["over_budget"], true);
  EXPECT_EQ(p["breakdown"][0]["where"], "net.py:7");
  EXPECT_EQ(j["params"], 25557032);
  EXPECT_FALSE(nlohmann::json::parse(PredictionJson(Response(), {}))["predictions"][0].contains("breakdown"));
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

TEST(RenderTest, ADisturbedProbeIsAWarning) {
  const std::string disturbed =
      ProbeWarning(R"({"canary":{"compute_ratio":1.31,"copy_ratio":0.9,"disturbed":true,"load":3}})");
  EXPECT_NE(disturbed.find("1.31 times"), std::string::npos);
  EXPECT_EQ(ProbeWarning(R"({"canary":{"compute_ratio":1.01,"copy_ratio":1.1,"disturbed":false}})"), "");
  for (const char* text : {"", "{", "[]", "{}", R"({"canary":3})", R"({"canary":{}})"})
    EXPECT_EQ(ProbeWarning(text), "");
  EXPECT_NE(CalibrationTable({}, disturbed).find("warning: the machine did"), std::string::npos);
  EXPECT_EQ(CalibrationTable({}, "").find("warning"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(CalibrationJson({}, disturbed))["warning"], disturbed);
  EXPECT_FALSE(nlohmann::json::parse(CalibrationJson({}, "")).contains("warning"));
}

}  // namespace
}  // namespace cobra

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/form/json.h"
#include "lab/published/networks/network_gcn.h"
#include "lab/published/networks/perfsage.h"
#include "lab/tables/papers/table_perfsage.h"
#include "lab/variants/call_model.h"
#include "lab/variants/network_fit.h"
#include "lab/variants/network_set.h"

namespace cobra::lab {
namespace {

// Linear layers of widths out of four, with ReLU between; a layer takes microseconds by its
// weights, and 20 % longer where the network has more than six.
training::Sample MakeNetwork(int seed, const std::string& space) {
  std::mt19937 random(static_cast<unsigned>(seed));
  constexpr int kWidths[] = {64, 128, 256, 512};
  const int layers = 3 + static_cast<int>(random() % 8);
  int width = 64, last = -1, nodes = 0;
  std::string ops, parameters;
  training::Sample sample;
  for (int i = 0; i < layers; ++i) {
    const int out = kWidths[random() % 4];
    absl::StrAppend(&ops, i == 0 ? "" : ",", R"({"op":"linear","inputs":[)",
                    last < 0 ? R"("in:0")" : absl::StrCat(last), R"(,"p:w)", i, R"("],"out":[[16,)", out, "]]},");
    absl::StrAppend(&ops, R"({"op":"relu","inputs":[)", nodes, R"(],"out":[[16,)", out, "]]}");
    absl::StrAppend(&parameters, i == 0 ? "" : ",", R"("w)", i, R"(":[)", out, ",", width, "]");
    const double company = layers > 6 ? 1.2 : 1;
    sample.node_latency_us.push_back(company * (2 + width * out / 1000.0));
    sample.node_latency_us.push_back(1 + out / 1000.0);
    last = nodes + 1;
    nodes += 2;
    width = out;
  }
  const auto graph =
      graph::GraphFromJson(absl::StrCat(R"({"inputs":[{"shape":[16,64]}],"ops":[)", ops, R"(],"param_shapes":{)",
                                        parameters, R"(},"output":[)", last, "]}"));
  EXPECT_TRUE(graph.ok()) << graph.status();
  sample.measurement.subject.graph = *graph;
  store::Measurement& measurement = sample.measurement;
  measurement.subject.is_network = true;
  measurement.subject.space = space;
  measurement.subject.fingerprint = absl::StrCat(space, seed);
  for (double us : sample.node_latency_us) measurement.latency.median_us += us;
  measurement.peak_memory_bytes = 1000;
  return sample;
}

struct Networks {
  std::vector<training::Sample> samples;
  NetworkSet set;
  std::vector<size_t> train, test;
};
Networks MakeNetworks(int count) {
  Networks made;
  for (int i = 0; i < count; ++i) made.samples.push_back(MakeNetwork(i, i % 4 == 0 ? "small" : "large"));
  std::vector<const training::Sample*> pointers;
  for (const training::Sample& s : made.samples) pointers.push_back(&s);
  made.set = DescribeNetworks(pointers);
  for (size_t i = 0; i < made.samples.size(); ++i) (i % 5 == 0 ? made.test : made.train).push_back(i);
  return made;
}

double ErrorOf(const Networks& made, const std::vector<double>& predicted) {
  double error = 0;
  for (size_t n : made.test)
    error += std::fabs(predicted[n] / made.set.networks[n].latency_us - 1) / static_cast<double>(made.test.size());
  return error;
}

TEST(NetworkSet, KnowsACallByItsText) {
  const Networks made = MakeNetworks(40);
  EXPECT_LE(made.set.calls.size(), 4u * 4 + 4);  // pairs of widths, and a ReLU of each
  EXPECT_EQ(made.set.kinds, (std::vector<std::string>{"linear", "relu"}));
  const NetworkSet::Network& first = made.set.networks[0];
  EXPECT_EQ(first.calls.size(), made.samples[0].graph().nodes().size());
  EXPECT_EQ(first.edges.size(), first.calls.size() - 1);
  EXPECT_NEAR(made.set.calls[static_cast<size_t>(first.calls[0])].numbers[3], std::log2(65),
              1e-5);  // the input's width
  const std::vector<double> totals = TreeTotals(made.set, first);
  EXPECT_EQ(totals[totals.size() - 1], static_cast<double>(first.calls.size() / 2));
  EXPECT_NEAR(LinearTotals(made.set, first)[4], static_cast<double>(first.calls.size()) / 100, 1e-12);
}

TEST(CallModel, SumsCallLatenciesInContext) {
  const Networks made = MakeNetworks(60);
  const auto calls = CallModel::Fit(made.set, made.train);
  ASSERT_TRUE(calls.ok()) << calls.status();
  std::vector<double> sum;
  for (size_t n = 0; n < made.set.networks.size(); ++n) sum.push_back(calls->SumUs(n));
  EXPECT_LT(ErrorOf(made, sum), 0.15);  // it does not know what the network is like
  EXPECT_GT(ErrorOf(made, sum), 0.02);
  EXPECT_FALSE(CallModel::Fit(made.set, absl::Span<const size_t>()).ok());
}

// A network that was learned must not be its own answer.
TEST(CallModel, LeavesANetworksOwnProfileOut) {
  Networks made = MakeNetworks(60);
  const auto before = CallModel::Fit(made.set, made.train);
  const size_t odd = made.train[3];
  for (double& log_us : made.set.networks[odd].log_us) log_us += 0.5;
  const auto after = CallModel::Fit(made.set, made.train);
  ASSERT_TRUE(before.ok() && after.ok());
  const std::vector<double> a = before->LogUs(odd), b = after->LogUs(odd);
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  EXPECT_LT(largest, 0.2);
}

TEST(FitNetworks, CorrectsCallsByTheirNetwork) {
  const Networks made = MakeNetworks(160);
  const auto calls = CallModel::Fit(made.set, made.train);
  ASSERT_TRUE(calls.ok());
  std::vector<double> sum;
  for (size_t n = 0; n < made.set.networks.size(); ++n) sum.push_back(calls->SumUs(n));
  NetworkFitOptions options;
  options.width = 32;
  const auto fit = FitNetworks(made.set, made.train, options);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_LT(ErrorOf(made, fit->latency_us), 0.6 * ErrorOf(made, sum));
  EXPECT_GT(fit->parameters, 1000);
}

TEST(PerfSage, RepeatsSmallSpaces) {
  Networks made = MakeNetworks(40);
  for (size_t n = 0; n < 40; ++n) made.set.networks[n].space = n < 2 ? "few" : "many";
  std::vector<size_t> all(40);
  for (size_t n = 0; n < 40; ++n) all[n] = n;
  const std::vector<size_t> rows = Upsample(made.set, all, 0.1);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 0u), 2);  // two of forty become four
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 30u), 1);
  EXPECT_EQ(rows.size(), 42u);
}

// The latency of the slowest call: what the largest of the nodes can say.
TEST(PerfSage, LearnsWhatItsMaximumSees) {
  Networks made = MakeNetworks(160);
  std::vector<double> target;
  for (size_t n = 0; n < made.samples.size(); ++n) {
    const std::vector<double>& us = made.samples[n].node_latency_us;
    target.push_back(*std::max_element(us.begin(), us.end()));
    made.set.networks[n].latency_us = target.back();
  }
  PerfSageOptions options;
  options.width = 32;
  options.layers = 2;
  options.head_width = 64;
  options.training.epochs = 1;
  const PerfSageFit early = FitPerfSage(made.set, target, made.train, options);
  options.training.epochs = 60;
  const PerfSageFit late = FitPerfSage(made.set, target, made.train, options);
  EXPECT_LT(ErrorOf(made, late.predicted), 0.5 * ErrorOf(made, early.predicted));
  // embedding, weights and bias by type; two layers; four of the head
  const int64_t inputs = static_cast<int64_t>(kCallNumbers) + 16;
  EXPECT_EQ(late.parameters,
            2 * 16 + 2 * inputs * 32 + 2 * 32 + 2 * (64 * 32 + 32) + (32 * 64 + 64) + 2 * (64 * 64 + 64) + 65);
}

TEST(NetworkGcn, LearnsHowManyCallsThereAre) {
  Networks made = MakeNetworks(160);
  for (NetworkSet::Network& network : made.set.networks)
    network.latency_us = 10.0 * static_cast<double>(network.calls.size());
  NetworkGcnOptions options;
  options.width = 32;
  options.training.learning_rate = 2e-3;
  options.training.epochs = 1;
  const NetworkGcnFit early = FitNetworkGcn(made.set, made.train, options);
  options.training.epochs = 30;
  const NetworkGcnFit late = FitNetworkGcn(made.set, made.train, options);
  EXPECT_LT(ErrorOf(made, late.latency_us), 0.5 * ErrorOf(made, early.latency_us));
}

TEST(PerfSageTable, FoldsAreEven) {
  int count[kPerfSageFolds] = {};
  for (int i = 0; i < 10000; ++i) ++count[PerfSageFold(absl::StrCat("fingerprint", i))];
  for (int n : count) EXPECT_NEAR(n, 2000, 150);
  EXPECT_EQ(PerfSageFold("00000000000000000000000000000000"), PerfSageFold("00000000000000000000000000000000"));
}

}  // namespace
}  // namespace cobra::lab

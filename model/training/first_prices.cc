#include "model/training/first_prices.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "model/predict/work/features.h"

namespace cobra::training {
namespace {

using namespace predict;  // NOLINT(google-build-using-namespace): the work terms

// What PriceHead's first prices mean, on a core: of a multiply-accumulate and of a byte.
constexpr double kCoreGflops = 120, kCoreGbPerS = 60;
// The logarithm of the microseconds of a kernel that a call launches besides its first, and of how
// much less that is where a compiler fuses them.
constexpr double kLogKernel = 1, kLogFused = 2;
// How much longer a run takes besides its calls, in the logarithm: on a GPU, where nothing hides
// the first launch; in a compiled graph, whose guards are checked first.
constexpr double kLogRunOfGpu = 6, kLogRunOfCompiled = 1.3;

// What a kernel that moves bytes and computes little takes, whatever the call that it stands for.
// Not what a cache misses, which libraries' kernels miss too, nor parts of composed calls, which
// processors have in one kernel.
constexpr WorkTerm kOfTheDevice[] = {kCasts,          kCastBytes,         kFusedKernels, kFusedBytes,
                                     kArgumentCopies, kArgumentCopyBytes, kStridedBytes, kTurnedBytes};

struct Rate {
  WorkTerm term;
  int feature;
};
constexpr Rate kOperationsOf[] = {
    {kUnpaddedMacs, kGpuPeak},         {kProductMacs, kGpuPeak},         {kGemmMacs, kGpuConvolutions},
    {kBlockedMacs, kGpuConvolutions},  {kStalledMacs, kGpuConvolutions}, {kPointwiseMacs, kGpuConvolutions},
    {kWinogradMacs, kGpuConvolutions}, {kPlainMacs, kGpuConvolutions},   {kDepthwiseMacs, kGpuVector},
    {kOperations, kGpuVector},         {kOwnDepthwiseMacs, kGpuVector},  {kLastDepthwiseMacs, kGpuVector},
    {kWideDepthwiseMacs, kGpuVector}};
constexpr WorkTerm kBytesOf[] = {kReadBytes,     kWeightBytes,       kWrittenBytes, kColumnBytes,   kCopiedBytes,
                                 kShuffledBytes, kWeightCopyBytes,   kMappedBytes,  kWinogradBytes, kPlainColumnBytes,
                                 kViewBytes,     kComposedBytes,     kWideBytes,    kCastBytes,     kMissedBytes,
                                 kFusedBytes,    kArgumentCopyBytes, kStridedBytes, kTurnedBytes};

}  // namespace

void StartWithDataSheets(net::CobraNet* net) {
  at::NoGradGuard no_grad;
  at::Tensor prices = net->layer_head->named_parameters()["target_prices.weight"];  // [work terms, target features]
  const auto follow = [&prices](WorkTerm term, int feature, double scale, double rate_of_core) {
    prices[term][feature] = -scale * std::log(2.0);
    prices[term][kIsGpu] = std::log(rate_of_core);
  };
  for (const Rate& rate : kOperationsOf) {
    follow(rate.term, rate.feature, kGflopsScale, kCoreGflops);
    if (rate.term != kOperations) prices[rate.term][kGpuPowerLimit] = -std::log(2.0);
  }
  for (const WorkTerm term : kBytesOf) follow(term, kGpuBandwidth, kGbPerSScale, kCoreGbPerS);
  for (const WorkTerm term : {kComposedKernels, kCasts, kFusedKernels, kArgumentCopies})
    net->layer_head->named_parameters()["out.bias"][term] = kLogKernel;
  HoldPrices(net);
  for (const WorkTerm term : {kComposedKernels, kComposedBytes, kWideBytes, kCasts, kCastBytes})
    prices[term][kIsCompiled] = -kLogFused;
  at::Tensor run = net->graph_net->named_parameters()["run.weight"][0];
  run[kIsGpu] = kLogRunOfGpu / net::kRunUnit;
  run[kIsCompiled] = kLogRunOfCompiled / net::kRunUnit;
}

bool HoldsPrices(const net::CobraNet& net) {
  const auto* prices = dynamic_cast<const net::PriceHead*>(net.layer_head.get());
  return prices != nullptr &&
         absl::c_all_of(kOfTheDevice, [prices](WorkTerm term) { return prices->IsPricedByTarget(term); });
}

void HoldPrices(net::CobraNet* net) {
  auto* prices = dynamic_cast<net::PriceHead*>(net->layer_head.get());
  if (prices == nullptr) return;  // variants in lab/ have none
  for (const WorkTerm term : kOfTheDevice) prices->PriceByTarget(term);
  prices->SetPrice(kThreadSteps, kLogThreadStep);
}

}  // namespace cobra::training

#include "model/fit/first_prices.h"

#include <cmath>

#include "model/predict/features.h"

namespace cobra::fit {
namespace {

using namespace predict;  // NOLINT(google-build-using-namespace): the work terms

// What PriceHead's first prices mean, on a core: of a multiply-accumulate and of a byte.
constexpr double kCoreGflops = 120, kCoreGbPerS = 60;

struct Rate {
  WorkTerm term;
  int feature;
};
constexpr Rate kOperationsOf[] = {{kUnpaddedMacs, kGpuPeak},         {kProductMacs, kGpuPeak},
                                  {kGemmMacs, kGpuConvolutions},     {kBlockedMacs, kGpuConvolutions},
                                  {kStalledMacs, kGpuConvolutions},  {kPointwiseMacs, kGpuConvolutions},
                                  {kWinogradMacs, kGpuConvolutions}, {kPlainMacs, kGpuConvolutions},
                                  {kDepthwiseMacs, kGpuVector},      {kOperations, kGpuVector}};
constexpr WorkTerm kBytesOf[] = {kReadBytes,     kWeightBytes,      kWrittenBytes,    kColumnBytes,
                                 kCopiedBytes,   kShuffledBytes,    kWeightCopyBytes, kMappedBytes,
                                 kWinogradBytes, kPlainColumnBytes, kViewBytes};

}  // namespace

void StartWithDataSheets(net::CobraNet* net) {
  at::NoGradGuard no_grad;
  at::Tensor prices = net->layer_head->named_parameters()["target_prices.weight"];  // [work terms, target features]
  const auto follow = [&prices](WorkTerm term, int feature, double scale, double rate_of_core) {
    prices[term][feature] = -scale * std::log(2.0);
    prices[term][kIsGpu] = std::log(rate_of_core);
  };
  for (const Rate& rate : kOperationsOf) follow(rate.term, rate.feature, kGflopsScale, kCoreGflops);
  for (const WorkTerm term : kBytesOf) follow(term, kGpuBandwidth, kGbPerSScale, kCoreGbPerS);
}

}  // namespace cobra::fit

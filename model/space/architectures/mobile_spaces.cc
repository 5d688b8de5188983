#include "model/space/architectures/mobile_spaces.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/fbnet_config.h"
#include "frontend/nas/ofa_config.h"

namespace cobra::space {
namespace {

enum Cost { kPointwise, kDepthwise, kActivations, kBlocks, kSpecial, kWeights, kOther, kCosts };

// The cost of one multiplication in a depthwise convolution (0: hidden by moving its values), and
// of one moved value, in multiplications. The first entry of either counts multiplications alone.
// Chosen on HELP's training devices.
constexpr double kDepthwisePrices[] = {1, 0, 3}, kValuePrices[] = {0, 8, 20};

// An expansion, a depthwise convolution and a projection, `size` pixels wide before and `out_size`
// after.
struct Residual {
  double in, out, expansion, kernel, groups, size, out_size;
};

class CostCounter {
 public:
  CostCounter() : costs_(kCosts, 0), rooflines_(std::size(kDepthwisePrices) * std::size(kValuePrices), 0) {}

  void Count(Cost cost, double amount) { costs_[cost] += amount; }
  void AddPointwise(double in, double out, double groups, double pixels) {
    const double multiplications = in * out * pixels / groups, weights = in * out / groups;
    Count(kPointwise, multiplications / 1e6);
    Count(kWeights, weights / 1e4);
    AddLayer(multiplications, (in + out) * pixels + weights, /*depthwise=*/false);
  }
  void AddResidual(const Residual& b) {
    const double middle = b.in * b.expansion, before = b.size * b.size, after = b.out_size * b.out_size,
                 kernel = b.kernel * b.kernel;
    AddPointwise(b.in, middle, b.groups, before);
    Count(kDepthwise, middle * kernel * after / 1e6);
    AddLayer(middle * kernel * after, middle * (before + after + kernel), /*depthwise=*/true);
    AddPointwise(middle, b.out, b.groups, after);
    Count(kActivations, (2 * middle * before + 2 * middle * after + b.out * after) / 1e5);
    Count(kBlocks, 1);
  }

  void Finish(SpaceFeatures* f) {
    f->costs = std::move(costs_);
    f->rooflines = std::move(rooflines_);
  }

 private:
  void AddLayer(double multiplications, double values, bool depthwise) {
    size_t i = 0;
    for (double price : kDepthwisePrices) {
      for (double moved : kValuePrices)
        rooflines_[i++] += std::max(multiplications * (depthwise ? price : 1), values * moved) / 1e6;
    }
  }

  std::vector<double> costs_, rooflines_;
};

// A chain: nodes in execution order, numbered by place and choice.
OpGraph Chain(std::vector<int> kinds) {
  OpGraph graph;
  graph.kind = std::move(kinds);
  for (int n = 1; n < static_cast<int>(graph.kind.size()); ++n) graph.edges.emplace_back(n - 1, n);
  return graph;
}

class FbnetSpace : public Space {
 public:
  absl::string_view name() const override { return "fbnet"; }
  int num_kinds() const override { return static_cast<int>(nas::kFbnetBlocks) * nas::kFbnetKinds; }

  absl::StatusOr<OpGraph> Graph(const std::string& arch) const override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<nas::FbnetBlock> blocks, nas::ParseFbnetBlocks(arch));
    std::vector<int> kinds;
    for (size_t i = 0; i < blocks.size(); ++i) kinds.push_back(static_cast<int>(i) * nas::kFbnetKinds + blocks[i].kind);
    return Chain(std::move(kinds));
  }

  absl::StatusOr<SpaceFeatures> Features(const std::string& arch) const override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<nas::FbnetBlock> blocks, nas::ParseFbnetBlocks(arch));
    SpaceFeatures f;
    CostCounter counter;
    double in = 16, size = 32;
    size_t place = 0;
    for (size_t stage = 0; stage < std::size(nas::kFbnetStageBlocks); ++stage) {
      for (int64_t i = 0; i < nas::kFbnetStageBlocks[stage]; ++i, ++place) {
        const nas::FbnetBlock& block = blocks[place];
        const auto stride = static_cast<double>(i == 0 ? nas::kFbnetCifarStrides[stage] : 1),
                   out = static_cast<double>(nas::kFbnetStageChannels[stage]);
        const double out_size = size / stride;
        if (block.kernel > 0) {
          counter.AddResidual({in, out, static_cast<double>(block.expansion), static_cast<double>(block.kernel),
                               static_cast<double>(block.groups), size, out_size});
          counter.Count(kSpecial, static_cast<double>(block.groups - 1));
        } else if (stride != 1 || in != out) {
          counter.AddPointwise(in, out, 1, out_size * out_size);
          counter.Count(kActivations, out * out_size * out_size / 1e5);
          counter.Count(kOther, 1);
        }
        for (int kind = 0; kind < nas::kFbnetKinds; ++kind) f.choices.push_back(block.kind == kind ? 1 : 0);
        in = out;
        size = out_size;
      }
    }
    counter.Finish(&f);
    return f;
  }
};

class OfaSpace : public Space {
 public:
  absl::string_view name() const override { return "ofa"; }
  // 9 combinations of kernel and expansion per place, then the resolution in steps of 4 up to 256.
  int num_kinds() const override { return kPlaces * 9 + kResolutions; }

  absl::StatusOr<OpGraph> Graph(const std::string& arch) const override {
    COBRA_ASSIGN_OR_RETURN(const nas::OfaConfig config, nas::ParseOfaConfig(arch));
    std::vector<int> kinds = {kPlaces * 9 +
                              static_cast<int>(std::min<int64_t>(config.resolution / 4, kResolutions - 1))};
    for (int place = 0; place < kPlaces; ++place) {
      if (!Runs(config, place)) continue;
      kinds.push_back(place * 9 + Index(config.kernels, kKernels, place) * 3 +
                      Index(config.expansions, kExpansions, place));
    }
    return Chain(std::move(kinds));
  }

  absl::StatusOr<SpaceFeatures> Features(const std::string& arch) const override {
    COBRA_ASSIGN_OR_RETURN(const nas::OfaConfig config, nas::ParseOfaConfig(arch));
    SpaceFeatures f;
    CostCounter counter;
    const auto resolution = static_cast<double>(config.resolution);
    const double area = resolution * resolution / (224.0 * 224.0);
    int64_t size = (config.resolution + 1) / 2;
    double in = 16;
    counter.Count(kOther, 10 * area);
    for (int place = 0; place < kPlaces; ++place) {
      if (!Runs(config, place)) {
        f.choices.insert(f.choices.end(), 10, 0);
        continue;
      }
      const nas::OfaStage& stage = nas::kOfaStageTable[place / nas::kOfaPlaces];
      const int64_t stride = place % nas::kOfaPlaces == 0 ? stage.stride : 1, out_size = (size + stride - 1) / stride;
      const auto kernel = static_cast<double>(config.kernels[static_cast<size_t>(place)]),
                 expansion = static_cast<double>(config.expansions[static_cast<size_t>(place)]);
      counter.AddResidual({in, static_cast<double>(stage.width), expansion, kernel, 1, static_cast<double>(size),
                           static_cast<double>(out_size)});
      counter.Count(kSpecial, stage.se ? 1 : 0);
      f.choices.push_back(1);
      for (int64_t k : kKernels) f.choices.push_back(kernel == static_cast<double>(k) ? 1 : 0);
      for (int64_t e : kExpansions) f.choices.push_back(expansion == static_cast<double>(e) ? 1 : 0);
      // Features that grow with the image: the block, its expansion, its depthwise convolution.
      f.choices.insert(f.choices.end(), {area * expansion / 6, area * expansion * kernel * kernel / 300, area});
      in = static_cast<double>(stage.width);
      size = out_size;
    }
    f.choices.insert(f.choices.end(), {area, area * area});
    counter.Finish(&f);
    return f;
  }

 private:
  static constexpr int kPlaces = nas::kOfaStages * nas::kOfaPlaces, kResolutions = 65;
  static constexpr int64_t kKernels[] = {3, 5, 7}, kExpansions[] = {3, 4, 6};

  static bool Runs(const nas::OfaConfig& config, int place) {
    return place % nas::kOfaPlaces < config.depths[static_cast<size_t>(place / nas::kOfaPlaces)];
  }
  static int Index(const std::vector<int64_t>& values, const int64_t (&choices)[3], int place) {
    for (int i = 0; i < 3; ++i) {
      if (values[static_cast<size_t>(place)] == choices[i]) return i;
    }
    return 0;  // not reached: the parser accepts no other value
  }
};

}  // namespace

std::unique_ptr<const Space> MakeFbnetSpace() { return std::make_unique<const FbnetSpace>(); }
std::unique_ptr<const Space> MakeOfaSpace() { return std::make_unique<const OfaSpace>(); }

}  // namespace cobra::space

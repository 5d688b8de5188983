// Networks of very small calls, whose time is what a runtime spends on a call, not on its numbers:
// perceptrons, chains of element-wise calls, tiny convolutions, small attention blocks; widths of 1
// to 64. Every second one has calls that return their argument (a dropout, a cast to its own type,
// contiguous()) strewn in. No two differ in these alone:
// a fingerprint does not count them.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/builder/net_builder.h"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using graph::NetBuilder;
using graph::Op;
using graph::ValueRef;

class SmallNet {
 public:
  SmallNet(Random* random, bool with_idle) : r_(random), idle_share_(with_idle ? random->Pick({0.2, 0.6, 1.0}) : 0) {}

  absl::StatusOr<graph::Graph> Build(absl::string_view family) && {
    ValueRef x;
    if (family == "perceptron") x = Perceptron();
    if (family == "elementwise") x = Elementwise();
    if (family == "convolutions") x = Convolutions();
    if (family == "attention") x = Attention();
    return std::move(b_).Finish({x});
  }

 private:
  ValueRef Idle(ValueRef x) {
    if (!r_->Chance(idle_share_)) return x;
    const double kind = r_->Unit();
    // In a graph what follows such a call reads the call's argument, as frontend/python writes it.
    if (kind < 0.6) {
      b_.Dropout(x, 0.1);
    } else if (kind < 0.8) {
      b_.Call(Op::to, {{"dtype", "float32"}}, {x});
    } else {
      b_.Call(Op::contiguous, {}, {x});
    }
    return x;
  }

  ValueRef Activation(ValueRef x) {
    switch (r_->Between(0, 4)) {
      case 0: return b_.Relu(x);
      case 1: return b_.ReluInPlace(x);
      case 2: return b_.Call(Op::sigmoid, {}, {x});
      case 3: return b_.Call(Op::tanh, {}, {x});
      default: return b_.Call(Op::gelu, {{"approximate", "none"}}, {x});
    }
  }

  ValueRef Perceptron() {
    const int64_t batch = r_->Pick<int64_t>({1, 1, 1, 2, 8}), width = r_->LogBetween(1, 64);
    const int64_t layers = r_->LogBetween(2, 40);
    const bool same = r_->Chance(0.6), activations = r_->Chance(0.5), norms = r_->Chance(0.2);
    ValueRef x = Idle(b_.Input({batch, r_->LogBetween(1, 64)}));
    for (int64_t i = 0; i < layers; ++i) {
      x = Idle(b_.Linear(x, same ? width : r_->LogBetween(1, 64)));
      if (norms) x = Idle(b_.LayerNorm(x));
      if (activations) x = Idle(Activation(x));
    }
    return x;
  }

  ValueRef Elementwise() {
    const int64_t width = r_->LogBetween(1, 64), calls = r_->LogBetween(3, 60);
    ValueRef x = Idle(b_.Input({1, r_->LogBetween(1, 16), width}));
    ValueRef earlier = x;
    for (int64_t i = 0; i < calls; ++i) {
      switch (r_->Between(0, 3)) {
        case 0: x = b_.Add(x, earlier); break;
        case 1: x = b_.Call(Op::mul, {}, {x, earlier}); break;
        default: x = Activation(x); break;
      }
      if (r_->Chance(0.3)) earlier = x;
      x = Idle(x);
    }
    return x;
  }

  ValueRef Convolutions() {
    const int64_t size = r_->Pick<int64_t>({1, 2, 4, 7, 8}), blocks = r_->LogBetween(2, 20);
    const int64_t channels = r_->LogBetween(1, 32);
    ValueRef x = Idle(b_.Input({1, channels, size, size}));
    for (int64_t i = 0; i < blocks; ++i) {
      const ValueRef before = x;
      const int64_t kernel = r_->Pick<int64_t>({1, 3});
      const bool depthwise = r_->Chance(0.25);
      x = Idle(b_.ConvBn(x, {.out_channels = channels,
                             .kernel_size = kernel,
                             .padding = kernel / 2,
                             .groups = depthwise ? channels : 1}));
      x = Idle(Activation(x));
      if (r_->Chance(0.4)) x = b_.Add(x, before);
    }
    x = b_.AdaptiveAvgPool2d(x, 1);
    return Idle(b_.Linear(Idle(b_.Flatten(x)), r_->LogBetween(1, 64)));
  }

  // One head, pre-norm; what a small transformer of a tutorial does.
  ValueRef Attention() {
    const int64_t tokens = r_->LogBetween(1, 16), width = 4 * r_->LogBetween(1, 16), blocks = r_->LogBetween(1, 6);
    ValueRef x = Idle(b_.Input({1, tokens, width}));
    for (int64_t i = 0; i < blocks; ++i) {
      const ValueRef normed = b_.LayerNorm(x);
      const ValueRef query = b_.Linear(normed, width), key = b_.Linear(normed, width), value = b_.Linear(normed, width);
      const ValueRef turned = b_.Call(Op::transpose, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {key});
      ValueRef scores = b_.Call(Op::matmul, {}, {query, turned});
      scores = Idle(b_.Call(Op::softmax, {{"dim", int64_t{-1}}}, {scores}));
      x = b_.Add(x, Idle(b_.Linear(b_.Call(Op::matmul, {}, {scores, value}), width)));
      const ValueRef hidden = Idle(Activation(b_.Linear(b_.LayerNorm(x), 2 * width)));
      x = b_.Add(x, Idle(b_.Linear(hidden, width)));
    }
    return x;
  }

  Random* r_;
  // Of the places where a call that returns its argument may stand.
  const double idle_share_;
  NetBuilder b_;
};

class SmallNetworkSampler final : public Sampler {
 public:
  explicit SmallNetworkSampler(const SamplerOptions& options) : options_(options) {}
  absl::string_view space() const override { return "small-networks"; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    Random random(options_.seed, space(), index);
    const std::string family =
        random.Pick<const char*>({"perceptron", "perceptron", "elementwise", "convolutions", "attention"});
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, SmallNet(&random, index % 2 == 1).Build(family));
    COBRA_RETURN_IF_ERROR(CheckCaps(graph, true, options_.caps));
    return Sample{true, family, std::move(graph)};
  }

 private:
  const SamplerOptions options_;
};

}  // namespace

std::unique_ptr<Sampler> MakeSmallNetworkSampler(const SamplerOptions& options) {
  return std::make_unique<SmallNetworkSampler>(options);
}

}  // namespace cobra::worker

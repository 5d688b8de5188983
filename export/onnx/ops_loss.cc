// Losses and distances.
#include <algorithm>
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// All of it: the sum, the mean, or as it is.
std::string ReducedLoss(CallWriter& c, const std::string& loss, int rank) {
  const std::string how = c.String("reduction", "mean");
  if (how == "none" || rank == 0) return loss;
  const Ints axes = Range(0, rank);
  return how == "mean" ? c.Reduced("ReduceMean", loss, axes, false) : c.Summed(loss, axes, false);
}

int BroadcastRank(const CallWriter& c) {
  int rank = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (c.Has(i)) rank = std::max(rank, c.Rank(i));
  }
  return rank;
}

std::string Plus(CallWriter& c, const std::string& x, double number) {
  return c.Node("Add", {x, c.Number(c.Out().dtype, number)});
}

std::string Square(CallWriter& c, const std::string& x) { return c.Node("Mul", {x, x}); }

std::string AtLeastZero(CallWriter& c, const std::string& x) { return c.Node("Relu", {x}); }

// |d| with a parabola below `beta`: d^2 / (2 beta), then |d| - beta / 2; `scale` times that.
std::string Rounded(CallWriter& c, const std::string& distance, double beta, double scale) {
  const DType dtype = c.Out().dtype;
  if (beta == 0) return distance;
  const std::string near = c.Scaled(Square(c, distance), 0.5 / beta * scale, dtype);
  const std::string far = c.Scaled(Plus(c, distance, -beta / 2), scale, dtype);
  return c.Node("Where", {c.Node("Less", {distance, c.Number(dtype, beta)}), near, far});
}

// Of the class that the target names, from log probabilities [batch, classes, ...]; and the weights
// of these classes.
struct Picked {
  std::string loss, weight;
};

Picked PickClasses(CallWriter& c, const std::string& logs, const std::string& mask) {
  const DType dtype = c.Out().dtype;
  const int axis = c.Rank(0) == 1 ? 0 : 1;
  // An ignored target is not a valid index.
  const std::string target = c.Node("Where", {mask, c.Input(1, DType::int64), c.Number(DType::int64, 0)});
  const std::string index = c.Unsqueezed(target, {axis});
  const std::string picked = c.Squeezed(c.Node("GatherElements", {logs, index}, {{"axis", axis}}), {axis});
  std::string weight = c.Cast(mask, DType::bool_, dtype);
  if (c.Has(2)) weight = c.Node("Mul", {weight, c.Node("Gather", {c.In(2), target}, {{"axis", 0}})});
  return {c.Node("Neg", {c.Node("Mul", {picked, weight})}), weight};
}

std::string WeightedMean(CallWriter& c, const std::string& loss, const std::string& weight, int rank) {
  const std::string how = c.String("reduction", "mean");
  if (how == "none") return loss;
  const Ints axes = Range(0, rank);
  const std::string sum = c.Summed(loss, axes, false);
  return how == "sum" ? sum : c.Node("Div", {sum, c.Summed(weight, axes, false)});
}

// (sum of |a - b + eps|^p)^(1/p) over the last dimension
std::string PairDistance(CallWriter& c, size_t a, size_t b, double p, double eps, bool keep) {
  const DType dtype = c.Out().dtype;
  const std::string difference = Plus(c, c.Node("Sub", {c.Input(a, dtype), c.Input(b, dtype)}), eps);
  return VectorNorm(c, difference, p, {std::max(c.Rank(a), c.Rank(b)) - 1}, keep, dtype);
}

}  // namespace

// mse, l1, smooth_l1, huber
absl::StatusOr<Names> WriteDistanceLoss(CallWriter& c) {
  const std::string difference = c.Node("Sub", {c.In(0), c.In(1)});
  std::string loss;
  if (c.op() == graph::Op::mse_loss) {
    loss = Square(c, difference);
  } else {
    loss = c.Node("Abs", {difference});
    if (c.op() == graph::Op::smooth_l1_loss) loss = Rounded(c, loss, c.Double("beta", 1), 1);
    if (c.op() == graph::Op::huber_loss) loss = Rounded(c, loss, c.Double("delta", 1), c.Double("delta", 1));
  }
  return Names{ReducedLoss(c, loss, BroadcastRank(c))};
}

// nll_loss, and cross_entropy with classes as targets
absl::StatusOr<Names> WriteClassLoss(CallWriter& c) {
  const bool entropy = c.op() == graph::Op::cross_entropy;
  if (entropy && c.Double("label_smoothing") != 0) return Refused("label_smoothing");
  if (graph::IsFloatingPoint(c.Type(1).dtype)) return Refused("probabilities as targets");
  const int axis = c.Rank(0) == 1 ? 0 : 1;
  const std::string logs = entropy ? c.Node("LogSoftmax", {c.In(0)}, {{"axis", axis}}) : c.In(0);
  const std::string ignored = c.Number(DType::int64, static_cast<double>(c.Int("ignore_index", -100)));
  const std::string mask = c.Node("Not", {c.Node("Equal", {c.Input(1, DType::int64), ignored})});
  const Picked picked = PickClasses(c, logs, mask);
  return Names{WeightedMean(c, picked.loss, picked.weight, c.Rank(1))};
}

absl::StatusOr<Names> WriteBinaryCrossEntropy(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string target = c.In(1), one = c.Number(dtype, 1);
  const std::string rest = c.Node("Sub", {one, target});
  std::string loss;
  if (c.op() == graph::Op::binary_cross_entropy) {
    const auto log = [&](const std::string& x) {  // PyTorch's logarithm does not go below -100
      return c.Node("Max", {c.Node("Log", {x}), c.Number(dtype, -100)});
    };
    const std::string hit = c.Node("Mul", {target, log(c.In(0))});
    const std::string miss = c.Node("Mul", {rest, log(c.Node("Sub", {one, c.In(0)}))});
    loss = c.Node("Neg", {c.Node("Add", {hit, miss})});
  } else {
    // (1 - t) x + (1 + (w - 1) t) log(1 + e^-x)
    std::string soft = c.Node("Softplus", {c.Node("Neg", {c.In(0)})});
    if (c.Has(3)) {
      const std::string share = c.Node("Mul", {Plus(c, c.In(3), -1), target});
      soft = c.Node("Mul", {Plus(c, share, 1), soft});
    }
    loss = c.Node("Add", {c.Node("Mul", {rest, c.In(0)}), soft});
  }
  if (c.Has(2)) loss = c.Node("Mul", {loss, c.In(2)});
  return Names{ReducedLoss(c, loss, c.Rank(0))};
}

// t (log t - x); `batchmean` divides the sum by the batch.
absl::StatusOr<Names> WriteKlDiv(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  std::string loss;
  if (c.Bool("log_target")) {
    loss = c.Node("Mul", {c.Node("Exp", {c.In(1)}), c.Node("Sub", {c.In(1), c.In(0)})});
  } else {
    const std::string zero = c.Number(dtype, 0);
    const std::string usual = c.Node("Mul", {c.In(1), c.Node("Sub", {c.Node("Log", {c.In(1)}), c.In(0)})});
    loss = c.Node("Where", {c.Node("Greater", {c.In(1), zero}), usual, zero});
  }
  if (c.String("reduction") != "batchmean") return Names{ReducedLoss(c, loss, c.Rank(0))};
  const std::string sum = c.Summed(loss, Range(0, c.Rank(0)), false);
  return Names{c.Scaled(sum, 1 / static_cast<double>(c.ShapeOf(0)[0]), dtype)};
}

absl::StatusOr<Names> WritePoissonNll(CallWriter& c) {
  if (c.Bool("full")) return Refused("full=True");
  const double eps = c.Double("eps", 1e-8);
  const std::string loss =
      c.Bool("log_input", true)
          ? c.Node("Sub", {c.Node("Exp", {c.In(0)}), c.Node("Mul", {c.In(1), c.In(0)})})
          : c.Node("Sub", {c.In(0), c.Node("Mul", {c.In(1), c.Node("Log", {Plus(c, c.In(0), eps)})})});
  return Names{ReducedLoss(c, loss, c.Rank(0))};
}

absl::StatusOr<Names> WriteGaussianNll(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string given = c.Rank(2) == c.Rank(0) ? c.In(2) : c.Unsqueezed(c.In(2), {c.Rank(2)});
  const std::string var = c.Node("Max", {given, c.Number(dtype, c.Double("eps", 1e-6))});
  const std::string square = Square(c, c.Node("Sub", {c.In(0), c.In(1)}));
  std::string loss = c.Node("Add", {c.Node("Log", {var}), c.Node("Div", {square, var})});
  loss = c.Scaled(loss, 0.5, dtype);
  if (c.Bool("full")) loss = Plus(c, loss, 0.9189385332046727);  // log(2 pi) / 2
  return Names{ReducedLoss(c, loss, c.Rank(0))};
}

// hinge_embedding, soft_margin, margin_ranking
absl::StatusOr<Names> WriteMarginLoss(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const double margin = c.Double("margin", c.op() == graph::Op::hinge_embedding_loss ? 1 : 0);
  std::string loss;
  if (c.op() == graph::Op::soft_margin_loss) {
    loss = c.Node("Softplus", {c.Node("Neg", {c.Node("Mul", {c.In(0), c.In(1)})})});
  } else if (c.op() == graph::Op::margin_ranking_loss) {
    const std::string difference = c.Node("Mul", {c.Node("Neg", {c.In(2)}), c.Node("Sub", {c.In(0), c.In(1)})});
    loss = AtLeastZero(c, Plus(c, difference, margin));
  } else {  // where the target is not 1, the margin's rest; where it is not -1, x
    const std::string zero = c.Number(dtype, 0);
    const std::string rest = AtLeastZero(c, Plus(c, c.Node("Neg", {c.In(0)}), margin));
    const std::string is_one = c.Node("Equal", {c.In(1), c.Number(dtype, 1)});
    const std::string is_minus = c.Node("Equal", {c.In(1), c.Number(dtype, -1)});
    loss = c.Node("Add", {c.Node("Where", {is_one, zero, rest}), c.Node("Where", {is_minus, zero, c.In(0)})});
  }
  return Names{ReducedLoss(c, loss, BroadcastRank(c))};
}

absl::StatusOr<Names> WriteTripletLoss(CallWriter& c) {
  const double p = c.Double("p", 2), eps = c.Double("eps", 1e-6), margin = c.Double("margin", 1);
  const std::string near = PairDistance(c, 0, 1, p, eps, false);
  std::string far = PairDistance(c, 0, 2, p, eps, false);
  if (c.Bool("swap")) far = c.Node("Min", {far, PairDistance(c, 1, 2, p, eps, false)});
  const std::string loss = AtLeastZero(c, Plus(c, c.Node("Sub", {near, far}), margin));
  return Names{ReducedLoss(c, loss, c.Rank(0) - 1)};
}

absl::StatusOr<Names> WriteMultilabelSoftMargin(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string rest = c.Node("Sub", {c.Number(dtype, 1), c.In(1)});
  const std::string soft = c.Node("Softplus", {c.Node("Neg", {c.In(0)})});
  std::string loss = c.Node("Add", {c.Node("Mul", {rest, c.In(0)}), soft});
  if (c.Has(2)) loss = c.Node("Mul", {loss, c.In(2)});
  return Names{ReducedLoss(c, c.Reduced("ReduceMean", loss, {c.Rank(0) - 1}, false), c.Rank(0) - 1)};
}

absl::StatusOr<Names> WritePairwiseDistance(CallWriter& c) {
  return Names{PairDistance(c, 0, 1, c.Double("p", 2), c.Double("eps", 1e-6), c.Bool("keepdim"))};
}

// The cosine of the angle: the product of the two, each divided by its norm.
absl::StatusOr<Names> WriteCosineSimilarity(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const int rank = std::max(c.Rank(0), c.Rank(1));
  const int64_t axis = c.Dim("dim", 1, rank);
  const std::string eps = c.Number(dtype, c.Double("eps", 1e-8));
  const auto norm = [&](size_t i) {
    const int64_t own = axis - (rank - c.Rank(i));
    return c.Node("Max", {VectorNorm(c, c.Input(i, dtype), 2, {own}, true, dtype), eps});
  };
  if (axis < rank - std::min(c.Rank(0), c.Rank(1))) return Refused("a dimension that one of the two lacks");
  const std::string product =
      c.Node("Mul", {c.Node("Div", {c.Input(0, dtype), norm(0)}), c.Node("Div", {c.Input(1, dtype), norm(1)})});
  return Names{c.Summed(product, {axis}, false)};
}

// The distance of each row of one to each row of the other.
absl::StatusOr<Names> WriteCdist(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string a = c.Unsqueezed(c.In(0), {c.Rank(0) - 1}), b = c.Unsqueezed(c.In(1), {c.Rank(1) - 2});
  const int64_t axis = std::max(c.Rank(0), c.Rank(1));
  return Names{VectorNorm(c, c.Node("Sub", {a, b}), c.Double("p", 2), {axis}, false, dtype)};
}

absl::StatusOr<Names> WritePdist(CallWriter& c) {
  Ints first, second;
  for (int64_t i = 0; i < c.ShapeOf(0)[0]; ++i) {
    for (int64_t k = i + 1; k < c.ShapeOf(0)[0]; ++k) {
      first.push_back(i);
      second.push_back(k);
    }
  }
  const std::string difference = c.Node("Sub", {c.Gathered(c.In(0), first, 0), c.Gathered(c.In(0), second, 0)});
  return Names{VectorNorm(c, difference, c.Double("p", 2), {1}, false, c.Out().dtype)};
}

absl::StatusOr<Names> WriteDist(CallWriter& c) {
  const std::string difference = c.Node("Sub", {c.In(0), c.In(1)});
  return Names{VectorNorm(c, difference, c.Double("p", 2), Range(0, BroadcastRank(c)), false, c.Out().dtype)};
}

}  // namespace cobra::exporting

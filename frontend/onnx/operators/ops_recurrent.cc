// LSTM, GRU, RNN. With the default activations they become PyTorch's own layers, with reordered
// weights. Every other form (peepholes, a GRU that resets before its product) is unrolled step by
// step.
#include <algorithm>

#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

enum class Cell { kRnn, kGru, kLstm };
constexpr int kGates[] = {1, 3, 4};

struct Layer {
  Cell cell;
  int64_t hidden = 0, steps = 0, batch = 0, directions = 1;
  bool first_backwards = false;          // direction=reverse
  bool batch_first = false;              // layout=1
  std::vector<std::string> activations;  // first those of one direction, then of the other
  TensorPtr x, h0, c0;                   // [steps, batch, input], [directions, batch, hidden]
};

// The parameters of one direction.
struct Weights {
  TensorPtr w, r, wb, rb, peepholes;
};

int GatesOf(const Layer& layer) { return kGates[static_cast<int>(layer.cell)]; }

std::vector<std::string> DefaultActivations(Cell cell) {
  if (cell == Cell::kRnn) return {"Tanh"};
  if (cell == Cell::kGru) return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

absl::Status CheckLengths(NodeContext& c, const Layer& layer) {
  if (!c.Has(4)) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, c.KnownInts(4, "sequence_lens"));
  const bool all = std::all_of(lengths.begin(), lengths.end(), [&](int64_t n) { return n == layer.steps; });
  return all ? absl::OkStatus() : Unsupported("sequences of different lengths");
}

// A state is not a parameter, even if the file has its numbers; neither is what is computed of them
// when it is loaded.
const TensorPtr& OfState(NodeContext& c, const TensorPtr& tensor) {
  if (tensor->constant) c.importer().MarkAsBuffer(tensor);
  return tensor;
}

absl::StatusOr<TensorPtr> InitialState(NodeContext& c, const Layer& layer, size_t i) {
  if (!c.Has(i)) return c.Filled({{layer.directions, layer.batch, layer.hidden}, layer.x->type.dtype}, 0);
  TensorPtr state = c.In(i);
  if (layer.batch_first) {
    COBRA_ASSIGN_OR_RETURN(state, c.Permute(state, {1, 0, 2}));
  }
  return OfState(c, state);
}

absl::StatusOr<Layer> ReadLayer(NodeContext& c, Cell cell) {
  Layer layer;
  layer.cell = cell;
  if (c.Rank(0) != 3 || c.Rank(1) != 3 || c.Rank(2) != 3) return Invalid("X, W and R must have 3 dimensions");
  layer.directions = c.ShapeOf(1)[0];
  layer.hidden = c.ShapeOf(2)[2];
  if (c.HasAttr("hidden_size") && c.Int("hidden_size") != layer.hidden)
    return Invalid("hidden_size=", c.Int("hidden_size"), ", R is ", graph::ShapeText(c.ShapeOf(2)));
  const std::string direction = c.String("direction", "forward");
  if (layer.directions != (direction == "bidirectional" ? 2 : 1))
    return Invalid("direction=", direction, ", W is ", graph::ShapeText(c.ShapeOf(1)));
  layer.first_backwards = direction == "reverse";
  if (c.HasAttr("clip")) return Unsupported("clip");
  if (c.Int("input_forget") != 0) return Unsupported("input_forget=1");
  layer.batch_first = c.Int("layout") != 0;
  COBRA_ASSIGN_OR_RETURN(layer.x,
                         layer.batch_first ? c.Permute(c.In(0), {1, 0, 2}) : absl::StatusOr<TensorPtr>(c.In(0)));
  layer.steps = layer.x->type.shape[0];
  layer.batch = layer.x->type.shape[1];
  COBRA_RETURN_IF_ERROR(CheckLengths(c, layer));
  layer.activations = c.Strings("activations");
  const std::vector<std::string> usual = DefaultActivations(cell);
  while (layer.activations.size() < usual.size() * layer.directions)
    layer.activations.insert(layer.activations.end(), usual.begin(), usual.end());
  COBRA_ASSIGN_OR_RETURN(layer.h0, InitialState(c, layer, 5));
  if (cell == Cell::kLstm) {
    COBRA_ASSIGN_OR_RETURN(layer.c0, InitialState(c, layer, 6));
  }
  return layer;
}

absl::StatusOr<TensorPtr> At(NodeContext& c, const TensorPtr& x, int64_t index) {
  return c.Call(graph::Op::getitem, {{"index", absl::StrCat(index)}}, {x});
}

absl::StatusOr<std::vector<TensorPtr>> Pieces(NodeContext& c, const TensorPtr& x, int64_t count, int64_t dim) {
  if (x->type.rank() == 0) return Invalid("W, R, B and P do not fit");
  const int64_t axis = dim < 0 ? dim + x->type.rank() : dim;
  return c.CallAll(graph::Op::split,
                   {{"split_size", std::vector<int64_t>(count, x->type.shape[axis] / count)}, {"dim", axis}}, {x});
}

absl::StatusOr<Weights> WeightsOf(NodeContext& c, const Layer& layer, int64_t direction) {
  Weights weights;
  COBRA_ASSIGN_OR_RETURN(weights.w, At(c, c.In(1), direction));
  COBRA_ASSIGN_OR_RETURN(weights.r, At(c, c.In(2), direction));
  if (c.Has(3)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr both, At(c, c.In(3), direction));
    COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> halves, Pieces(c, both, 2, 0));
    weights.wb = halves[0];
    weights.rb = halves[1];
  }
  if (layer.cell == Cell::kLstm && c.Has(7)) {
    COBRA_ASSIGN_OR_RETURN(weights.peepholes, At(c, c.In(7), direction));
  }
  return weights;
}

// ONNX orders the gates iofc and zrh, PyTorch orders them ifgo and rzn.
absl::StatusOr<TensorPtr> PyTorchOrder(NodeContext& c, const Layer& layer, const TensorPtr& x) {
  if (layer.cell == Cell::kRnn || x == nullptr) return x;
  COBRA_ASSIGN_OR_RETURN(const std::vector<TensorPtr> g, Pieces(c, x, GatesOf(layer), 0));
  const std::vector<TensorPtr> ordered = layer.cell == Cell::kGru ? std::vector<TensorPtr>{g[1], g[0], g[2]}
                                                                  : std::vector<TensorPtr>{g[0], g[2], g[3], g[1]};
  return c.Call(graph::Op::cat, {{"dim", int64_t{0}}}, ordered);
}

// PyTorch's operator for this layer; nullopt if there is none.
std::optional<graph::Op> PyTorchLayer(const NodeContext& c, const Layer& layer) {
  std::vector<std::string> usual;
  for (int64_t d = 0; d < layer.directions; ++d) {
    for (const std::string& name : DefaultActivations(layer.cell)) usual.push_back(name);
  }
  if (layer.cell == Cell::kRnn) {
    const bool relu = std::all_of(layer.activations.begin(), layer.activations.end(),
                                  [](const std::string& a) { return a == "Relu"; });
    if (relu) return graph::Op::rnn_relu;
  }
  if (layer.activations != usual || c.Has(7)) return std::nullopt;
  if (layer.cell == Cell::kRnn) return graph::Op::rnn_tanh;
  if (layer.cell == Cell::kLstm) return graph::Op::lstm;
  if (c.Int("linear_before_reset") != 0) return graph::Op::gru;
  return std::nullopt;
}

struct Results {
  TensorPtr y, h, c;  // [steps, directions, batch, hidden], [directions, batch, hidden] twice
};

absl::StatusOr<Results> RunPyTorch(NodeContext& c, Layer& layer, graph::Op op) {
  std::vector<TensorPtr> inputs{layer.x, layer.h0};
  const std::vector<int64_t> time{0};
  if (layer.first_backwards) {
    COBRA_ASSIGN_OR_RETURN(inputs[0], c.Call(graph::Op::flip, {{"dims", time}}, {layer.x}));
  }
  if (layer.c0 != nullptr) inputs.push_back(layer.c0);
  for (int64_t d = 0; d < layer.directions; ++d) {
    COBRA_ASSIGN_OR_RETURN(const Weights weights, WeightsOf(c, layer, d));
    for (const TensorPtr& part : {weights.w, weights.r, weights.wb, weights.rb}) {
      if (part == nullptr) continue;
      COBRA_ASSIGN_OR_RETURN(TensorPtr ordered, PyTorchOrder(c, layer, part));
      inputs.push_back(ordered);
    }
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> out, c.CallAll(op,
                                                               {{"has_biases", c.Has(3)},
                                                                {"num_layers", int64_t{1}},
                                                                {"dropout", 0.0},
                                                                {"bidirectional", layer.directions == 2},
                                                                {"batch_first", false}},
                                                               inputs));
  Results results{out[0], out[1], out.size() > 2 ? out[2] : nullptr};
  if (layer.first_backwards) {
    COBRA_ASSIGN_OR_RETURN(results.y, c.Call(graph::Op::flip, {{"dims", time}}, {results.y}));
  }
  COBRA_ASSIGN_OR_RETURN(results.y, c.Reshape(results.y, {layer.steps, layer.batch, layer.directions, layer.hidden}));
  COBRA_ASSIGN_OR_RETURN(results.y, c.Permute(results.y, {0, 2, 1, 3}));
  return results;
}

absl::StatusOr<TensorPtr> Activated(NodeContext& c, const std::string& name, const TensorPtr& x) {
  for (const auto& [known, op] : {std::pair{"Sigmoid", graph::Op::sigmoid},
                                  {"Tanh", graph::Op::tanh},
                                  {"Relu", graph::Op::relu},
                                  {"Softsign", graph::Op::softsign}}) {
    if (name == known) return c.Unary(op, x);
  }
  return Unsupported("the activation ", name);
}

// Computes one direction step by step.
class Unrolled {
 public:
  Unrolled(NodeContext* c, const Layer& layer, Weights weights, int64_t direction)
      : c_(*c),
        layer_(layer),
        weights_(std::move(weights)),
        first_(direction * static_cast<int64_t>(DefaultActivations(layer.cell).size())) {}

  absl::Status Run(bool backwards, TensorPtr h, TensorPtr cell, std::vector<TensorPtr>* outputs) {
    h_ = std::move(h);
    cell_ = std::move(cell);
    COBRA_RETURN_IF_ERROR(TakeApart());
    COBRA_ASSIGN_OR_RETURN(const TensorPtr from_x, c_.Call(graph::Op::linear, {}, {layer_.x, weights_.w, weights_.wb}));
    outputs->resize(layer_.steps);
    for (int64_t i = 0; i < layer_.steps; ++i) {
      const int64_t t = backwards ? layer_.steps - 1 - i : i;
      COBRA_ASSIGN_OR_RETURN(TensorPtr x, At(c_, from_x, t));
      COBRA_RETURN_IF_ERROR(layer_.cell == Cell::kLstm  ? LstmStep(x)
                            : layer_.cell == Cell::kGru ? GruStep(x)
                                                        : RnnStep(x));
      (*outputs)[t] = h_;
    }
    return absl::OkStatus();
  }
  const TensorPtr& h() const { return h_; }
  const TensorPtr& cell() const { return cell_; }

 private:
  absl::StatusOr<TensorPtr> Act(int64_t which, const TensorPtr& x) {
    return Activated(c_, layer_.activations[first_ + which], x);
  }

  // Into the parts of the gates, once for all steps.
  absl::Status TakeApart() {
    if (layer_.cell == Cell::kLstm && weights_.peepholes != nullptr) {
      COBRA_ASSIGN_OR_RETURN(peepholes_, Pieces(c_, weights_.peepholes, 3, 0));
    }
    if (layer_.cell != Cell::kGru) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(rows_, Pieces(c_, weights_.r, 3, 0));
    if (weights_.rb != nullptr) {
      COBRA_ASSIGN_OR_RETURN(biases_, Pieces(c_, weights_.rb, 3, 0));
    }
    return absl::OkStatus();
  }

  absl::Status RnnStep(const TensorPtr& x) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr y, c_.Call(graph::Op::linear, {}, {h_, weights_.r, weights_.rb}));
    COBRA_ASSIGN_OR_RETURN(y, c_.Binary(graph::Op::add, x, y));
    COBRA_ASSIGN_OR_RETURN(h_, Act(0, y));
    return absl::OkStatus();
  }

  absl::Status GruStep(const TensorPtr& x) {
    COBRA_ASSIGN_OR_RETURN(const auto xs, Pieces(c_, x, 3, -1));
    TensorPtr gates[2];  // update, reset
    for (int g = 0; g < 2; ++g) {
      COBRA_ASSIGN_OR_RETURN(TensorPtr y, c_.Call(graph::Op::linear, {}, {h_, rows_[g], biases_[g]}));
      COBRA_ASSIGN_OR_RETURN(y, c_.Binary(graph::Op::add, xs[g], y));
      COBRA_ASSIGN_OR_RETURN(gates[g], Act(0, y));
    }
    TensorPtr candidate;
    if (c_.Int("linear_before_reset") != 0) {
      COBRA_ASSIGN_OR_RETURN(candidate, c_.Call(graph::Op::linear, {}, {h_, rows_[2], biases_[2]}));
      COBRA_ASSIGN_OR_RETURN(candidate, c_.Binary(graph::Op::mul, gates[1], candidate));
    } else {
      COBRA_ASSIGN_OR_RETURN(candidate, c_.Binary(graph::Op::mul, gates[1], h_));
      COBRA_ASSIGN_OR_RETURN(candidate, c_.Call(graph::Op::linear, {}, {candidate, rows_[2], biases_[2]}));
    }
    COBRA_ASSIGN_OR_RETURN(candidate, c_.Binary(graph::Op::add, xs[2], candidate));
    COBRA_ASSIGN_OR_RETURN(candidate, Act(1, candidate));
    COBRA_ASSIGN_OR_RETURN(TensorPtr kept, c_.Binary(graph::Op::mul, gates[0], h_));
    COBRA_ASSIGN_OR_RETURN(TensorPtr rest, c_.WithNumber(graph::Op::rsub, gates[0], int64_t{1}));
    COBRA_ASSIGN_OR_RETURN(rest, c_.Binary(graph::Op::mul, rest, candidate));
    COBRA_ASSIGN_OR_RETURN(h_, c_.Binary(graph::Op::add, rest, kept));
    return absl::OkStatus();
  }

  // Applies a gate's activation; a peephole adds the cell state to the gate's sum.
  absl::StatusOr<TensorPtr> Gate(const TensorPtr& sum, const TensorPtr& peephole, const TensorPtr& cell) {
    if (peephole == nullptr) return Act(0, sum);
    COBRA_ASSIGN_OR_RETURN(TensorPtr seen, c_.Binary(graph::Op::mul, peephole, cell));
    COBRA_ASSIGN_OR_RETURN(seen, c_.Binary(graph::Op::add, sum, OfState(c_, seen)));
    return Act(0, seen);
  }

  absl::Status LstmStep(const TensorPtr& x) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr sum, c_.Call(graph::Op::linear, {}, {h_, weights_.r, weights_.rb}));
    COBRA_ASSIGN_OR_RETURN(sum, c_.Binary(graph::Op::add, x, sum));
    COBRA_ASSIGN_OR_RETURN(const auto sums, Pieces(c_, sum, 4, -1));  // i, o, f, c
    COBRA_ASSIGN_OR_RETURN(TensorPtr in, Gate(sums[0], peepholes_[0], cell_));
    COBRA_ASSIGN_OR_RETURN(TensorPtr forget, Gate(sums[2], peepholes_[2], cell_));
    COBRA_ASSIGN_OR_RETURN(TensorPtr fresh, Act(1, sums[3]));
    COBRA_ASSIGN_OR_RETURN(fresh, c_.Binary(graph::Op::mul, in, fresh));
    COBRA_ASSIGN_OR_RETURN(TensorPtr kept, c_.Binary(graph::Op::mul, forget, cell_));
    COBRA_ASSIGN_OR_RETURN(cell_, c_.Binary(graph::Op::add, kept, fresh));
    COBRA_ASSIGN_OR_RETURN(TensorPtr out, Gate(sums[1], peepholes_[1], cell_));
    COBRA_ASSIGN_OR_RETURN(TensorPtr y, Act(2, cell_));
    COBRA_ASSIGN_OR_RETURN(h_, c_.Binary(graph::Op::mul, out, y));
    return absl::OkStatus();
  }

  NodeContext& c_;
  const Layer& layer_;
  const Weights weights_;
  const int64_t first_;                                           // index of this direction's first activation
  std::vector<TensorPtr> peepholes_ = std::vector<TensorPtr>(3);  // i, o, f
  std::vector<TensorPtr> rows_, biases_ = std::vector<TensorPtr>(3);
  TensorPtr h_, cell_;
};

absl::StatusOr<Results> RunUnrolled(NodeContext& c, const Layer& layer) {
  std::vector<TensorPtr> ys, hs, cs;
  for (int64_t d = 0; d < layer.directions; ++d) {
    COBRA_ASSIGN_OR_RETURN(Weights weights, WeightsOf(c, layer, d));
    Unrolled run(&c, layer, std::move(weights), d);
    COBRA_ASSIGN_OR_RETURN(TensorPtr h, At(c, layer.h0, d));
    OfState(c, h);
    TensorPtr cell;
    if (layer.c0 != nullptr) {
      COBRA_ASSIGN_OR_RETURN(cell, At(c, layer.c0, d));
      OfState(c, cell);
    }
    std::vector<TensorPtr> outputs;
    COBRA_RETURN_IF_ERROR(run.Run(d == 1 || layer.first_backwards, h, cell, &outputs));
    COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::stack, {{"dim", int64_t{0}}}, outputs));
    ys.push_back(y);
    hs.push_back(run.h());
    if (run.cell() != nullptr) cs.push_back(run.cell());
  }
  Results results;
  COBRA_ASSIGN_OR_RETURN(results.y, c.Call(graph::Op::stack, {{"dim", int64_t{1}}}, ys));
  COBRA_ASSIGN_OR_RETURN(results.h, c.Call(graph::Op::stack, {{"dim", int64_t{0}}}, hs));
  if (!cs.empty()) {
    COBRA_ASSIGN_OR_RETURN(results.c, c.Call(graph::Op::stack, {{"dim", int64_t{0}}}, cs));
  }
  return results;
}

template <Cell kCell>
absl::StatusOr<Outputs> Recurrent(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(Layer layer, ReadLayer(c, kCell));
  if (layer.steps == 0) return Unsupported("sequences of no steps");
  const std::optional<graph::Op> op = PyTorchLayer(c, layer);
  COBRA_ASSIGN_OR_RETURN(Results results, op.has_value() ? RunPyTorch(c, layer, *op) : RunUnrolled(c, layer));
  if (layer.batch_first) {
    COBRA_ASSIGN_OR_RETURN(results.y, c.Permute(results.y, {2, 0, 1, 3}));
    COBRA_ASSIGN_OR_RETURN(results.h, c.Permute(results.h, {1, 0, 2}));
    if (results.c != nullptr) {
      COBRA_ASSIGN_OR_RETURN(results.c, c.Permute(results.c, {1, 0, 2}));
    }
  }
  Outputs outputs{results.y, results.h};
  if (results.c != nullptr) outputs.emplace_back(results.c);
  return outputs;
}

}  // namespace

void AddRecurrentOperators(Registry* registry) {
  const char* note = "equal lengths, no clip; activations Sigmoid, Tanh, Relu, Softsign";
  registry->Add("RNN", {Recurrent<Cell::kRnn>, 3, false, note});
  registry->Add("GRU", {Recurrent<Cell::kGru>, 3, false, note});
  registry->Add("LSTM", {Recurrent<Cell::kLstm>, 3, false, note});
}

}  // namespace cobra::onnx

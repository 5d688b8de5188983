// Recurrent layers: one layer over a sequence [steps, size]. PyTorch's calls want a bias for the
// input and one for the state, ncnn adds the two up when the file is written. Results are [steps,
// size x directions]; states [directions, size], which PyTorch has in front of the batch.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

struct Cell {
  graph::Op op;
  int64_t gates;      // rows of the weights for each number of the state
  int64_t bias_rows;  // of the .bin file
  size_t states;      // hidden state, and an LSTM's cell state
};

struct Sizes {
  int64_t in, out, hidden, directions;
};

// The .bin file's arrays, and what PyTorch's call takes in their place.
absl::StatusOr<Tensors> WeightsOf(Importer& im, const Layer& layer, const Cell& cell, const Sizes& s) {
  const bool projected = s.hidden != s.out;
  im.SkipWeight({s.directions, s.hidden * cell.gates, s.in}, true);
  im.SkipWeight({s.directions, cell.bias_rows, s.hidden}, true);
  im.SkipWeight({s.directions, s.hidden * cell.gates, s.out}, true);
  if (projected) im.SkipWeight({s.directions, s.out, s.hidden}, true);
  Tensors weights;
  for (int64_t d = 0; d < s.directions; ++d) {
    const std::string end = d == 0 ? "_l0" : "_l0_reverse";
    const int64_t rows = s.hidden * cell.gates;
    std::vector<std::pair<const char*, graph::Shape>> parts = {
        {"weight_ih", {rows, s.in}}, {"weight_hh", {rows, s.out}}, {"bias_ih", {rows}}, {"bias_hh", {rows}}};
    if (projected) parts.push_back({"weight_hr", {s.out, s.hidden}});
    for (auto& [name, shape] : parts) {
      COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight,
                             im.Parameter(layer, absl::StrCat(name, end), {std::move(shape), graph::DType::float32}));
      weights.push_back(weight);
    }
  }
  return weights;
}

// The state before the first step, [directions, batch, size]: input 1 + `state`, or zeros.
absl::StatusOr<graph::ValueRef> InitialState(Importer& im, const Layer& layer, size_t state, int64_t directions,
                                             int64_t size) {
  if (layer.bottoms.size() == 1) return im.Constant(layer, {directions, im.batch(), size});
  const graph::Shape wanted{im.batch(), directions, size};
  if (im.InShape(layer, 1 + state) != wanted) {
    return im.Wrong(layer, absl::StrCat("its state is ", graph::ShapeText(im.InShape(layer, 1 + state)), ", ",
                                        graph::ShapeText(wanted), " expected"));
  }
  return im.Permute(layer, im.In(layer, 1 + state), {1, 0, 2});
}

absl::Status Recurrent(Importer& im, const Layer& layer, const Cell& cell) {
  if (layer.bottoms.size() != 1) COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1 + cell.states, 1 + cell.states));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 2));
  if (layer.tops.size() != 1 && layer.tops.size() != 1 + cell.states)
    return im.Wrong(layer, absl::StrCat(layer.tops.size(), " outputs; it has 1 or ", 1 + cell.states));
  const int64_t direction = layer.Int(2, 0);
  if (direction < 0 || direction > 2) return im.Wrong(layer, absl::StrCat("direction ", direction));
  if (layer.Int(8, 0) != 0) return im.Unsupported(layer, "weights of int8 (8=)");
  Sizes s{im.InShape(layer)[2], layer.Int(0, 0), 0, direction == 2 ? 2 : 1};
  s.hidden = cell.states == 2 ? layer.Int(3, s.out) : s.out;
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a size of the output or state", {s.out, s.hidden}));
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 1, {s.directions, s.hidden * cell.gates, s.in}));
  graph::ValueRef x = im.In(layer, 0);
  const std::vector<int64_t> time{1};
  if (direction == 1) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::flip, {{"dims", time}}, {x}));
  }
  Tensors inputs{x};
  for (size_t state = 0; state < cell.states; ++state) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef initial,
                           InitialState(im, layer, state, s.directions, state == 0 ? s.out : s.hidden));
    inputs.push_back(initial);
  }
  COBRA_ASSIGN_OR_RETURN(const Tensors weights, WeightsOf(im, layer, cell, s));
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  COBRA_ASSIGN_OR_RETURN(Tensors out, im.CallAll(layer, cell.op,
                                                 {{"has_biases", true},
                                                  {"num_layers", int64_t{1}},
                                                  {"dropout", 0.0},
                                                  {"bidirectional", s.directions == 2},
                                                  {"batch_first", true}},
                                                 std::move(inputs)));
  if (direction == 1) {
    COBRA_ASSIGN_OR_RETURN(out[0], im.Call(layer, graph::Op::flip, {{"dims", time}}, {out[0]}));
  }
  COBRA_RETURN_IF_ERROR(im.Set(layer, 0, out[0]));
  for (size_t k = 1; k < layer.tops.size(); ++k) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef state, im.Permute(layer, out[k], {1, 0, 2}));
    COBRA_RETURN_IF_ERROR(im.Set(layer, k, state));
  }
  return absl::OkStatus();
}

}  // namespace

namespace handlers {

absl::Status LSTM(Importer& im, const Layer& layer) { return Recurrent(im, layer, {graph::Op::lstm, 4, 4, 2}); }
absl::Status GRU(Importer& im, const Layer& layer) { return Recurrent(im, layer, {graph::Op::gru, 3, 4, 1}); }
absl::Status RNN(Importer& im, const Layer& layer) { return Recurrent(im, layer, {graph::Op::rnn_tanh, 1, 1, 1}); }

}  // namespace handlers
}  // namespace cobra::ncnn

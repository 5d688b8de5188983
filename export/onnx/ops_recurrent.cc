// Recurrent layers: an LSTM, GRU or RNN node for each layer. ONNX has the gates in another order.
#include <algorithm>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

struct Recurrence {
  const char* op_type = "LSTM";
  int64_t gates = 4;
  Ints order;        // of PyTorch's gates in ONNX
  size_t first = 3;  // of the weights among the inputs
  int64_t layers = 1, directions = 1, hidden = 0;
  bool biases = true;
  OnnxAttributes attributes;
};

absl::StatusOr<Recurrence> RecurrenceOf(CallWriter& c) {
  Recurrence r;
  if (c.op() == graph::Op::lstm) {
    r.order = {0, 3, 1, 2};  // input, forget, cell, output -> input, output, forget, cell
  } else {
    r.first = 2;
    r.op_type = c.op() == graph::Op::gru ? "GRU" : "RNN";
    r.gates = c.op() == graph::Op::gru ? 3 : 1;
    r.order = c.op() == graph::Op::gru ? Ints{1, 0, 2} : Ints{0};  // reset, update, new -> update, reset, new
  }
  r.layers = c.Int("num_layers", 1);
  r.directions = c.Bool("bidirectional") ? 2 : 1;
  r.biases = c.Bool("has_biases", true);
  r.hidden = c.ShapeOf(1).back();
  if (c.HasValue("batch_sizes")) return Refused("a packed batch, whose sequences differ in length");
  if (c.Bool("training") && c.Double("dropout") > 0 && r.layers > 1) return Refused("training draws random numbers");
  const size_t each = r.biases ? 4 : 2;
  if (c.num_inputs() != r.first + each * static_cast<size_t>(r.layers * r.directions))
    return Refused("projections (proj_size)");
  r.attributes.emplace_back("direction", std::string(r.directions == 2 ? "bidirectional" : "forward"));
  r.attributes.emplace_back("hidden_size", r.hidden);
  if (c.op() == graph::Op::gru) r.attributes.emplace_back("linear_before_reset", int64_t{1});
  if (r.gates == 1) {
    const std::string activation = c.op() == graph::Op::rnn_relu ? "Relu" : "Tanh";
    r.attributes.emplace_back("activations", Names(static_cast<size_t>(r.directions), activation));
  }
  return r;
}

// Rows of the gates in ONNX's order.
std::string Reordered(CallWriter& c, const std::string& x, const Recurrence& r) {
  if (r.gates == 1) return x;
  Ints rows;
  for (int64_t gate : r.order) {
    for (int64_t i = 0; i < r.hidden; ++i) rows.push_back(gate * r.hidden + i);
  }
  return c.Gathered(x, rows, 0);
}

// Weight `which` of a layer, its directions one after the other: [directions, ...].
std::string Stacked(CallWriter& c, const Recurrence& r, int64_t layer, size_t which) {
  const size_t each = r.biases ? 4 : 2;
  Names parts;
  for (int64_t d = 0; d < r.directions; ++d) {
    const size_t at = r.first + each * static_cast<size_t>(layer * r.directions + d) + which;
    parts.push_back(c.Unsqueezed(Reordered(c, c.In(at), r), {0}));
  }
  return parts.size() == 1 ? parts[0] : c.Joined(parts, 0);
}

std::string LayersOf(CallWriter& c, const std::string& state, const Recurrence& r, int64_t layer) {
  if (r.layers == 1) return state;
  return c.Sliced(state, 0, layer * r.directions, (layer + 1) * r.directions);
}

struct CellWeights {
  std::string from_input, from_hidden;  // products with the weights
};

CellWeights ProductsOf(CallWriter& c, size_t first) {
  const std::string bias_input = c.Has(first + 2) ? c.In(first + 2) : "";
  const std::string bias_hidden = c.Has(first + 3) ? c.In(first + 3) : "";
  return {c.Node("Gemm", {c.In(0), c.In(first), bias_input}, {{"transB", 1}}),
          c.Node("Gemm", {c.In(1), c.In(first + 1), bias_hidden}, {{"transB", 1}})};
}

Names GatesOf(CallWriter& c, const std::string& x, int64_t gates, int64_t hidden) {
  return c.Nodes("Split", {x, c.IntsOf(Ints(static_cast<size_t>(gates), hidden))}, static_cast<size_t>(gates),
                 {{"axis", 1}});
}

}  // namespace

// lstm, gru, rnn_tanh, rnn_relu
absl::StatusOr<Names> WriteRecurrent(CallWriter& c) {
  absl::StatusOr<Recurrence> read = RecurrenceOf(c);
  if (!read.ok()) return read.status();
  const Recurrence& r = *read;
  const bool lstm = c.op() == graph::Op::lstm, batched = c.Rank(0) == 3;
  const bool batch_first = batched && c.Bool("batch_first");
  const auto in_batch = [&](size_t i) { return batched ? c.In(i) : c.Unsqueezed(c.In(i), {1}); };
  std::string x = batch_first ? c.Transposed(c.In(0), {1, 0, 2}) : in_batch(0);
  const std::string h0 = in_batch(1), c0 = lstm ? in_batch(2) : "";
  const int64_t steps = c.ShapeOf(0)[batch_first ? 1 : 0];
  const int64_t batch = batched ? c.ShapeOf(0)[batch_first ? 0 : 1] : 1;
  Names hs, cs;
  for (int64_t layer = 0; layer < r.layers; ++layer) {
    const std::string bias = r.biases ? c.Joined({Stacked(c, r, layer, 2), Stacked(c, r, layer, 3)}, 1) : std::string();
    Names inputs{x, Stacked(c, r, layer, 0), Stacked(c, r, layer, 1), bias, "", LayersOf(c, h0, r, layer)};
    if (lstm) inputs.push_back(LayersOf(c, c0, r, layer));
    const Names y = c.Nodes(r.op_type, std::move(inputs), lstm ? 3 : 2, r.attributes);
    // [steps, directions, batch, hidden] -> [steps, batch, directions * hidden]
    x = r.directions == 1 ? c.Squeezed(y[0], {1})
                          : c.Reshaped(c.Transposed(y[0], {0, 2, 1, 3}), {steps, batch, r.directions * r.hidden});
    hs.push_back(y[1]);
    if (lstm) cs.push_back(y[2]);
  }
  const auto out_of_batch = [&](const std::string& state) { return batched ? state : c.Squeezed(state, {1}); };
  const auto joined = [&](const Names& states) { return states.size() == 1 ? states[0] : c.Joined(states, 0); };
  Names outputs{batch_first ? c.Transposed(x, {1, 0, 2}) : out_of_batch(x), out_of_batch(joined(hs))};
  if (lstm) outputs.push_back(out_of_batch(joined(cs)));
  return outputs;
}

absl::StatusOr<Names> WriteLstmCell(CallWriter& c) {
  if (c.Rank(0) != 2) return Refused("an input without a batch");
  const CellWeights w = ProductsOf(c, 3);
  const Names gates = GatesOf(c, c.Node("Add", {w.from_input, w.from_hidden}), 4, c.ShapeOf(1)[1]);
  const std::string in = c.Node("Sigmoid", {gates[0]}), forget = c.Node("Sigmoid", {gates[1]});
  const std::string fresh = c.Node("Tanh", {gates[2]}), out = c.Node("Sigmoid", {gates[3]});
  const std::string cell = c.Node("Add", {c.Node("Mul", {forget, c.In(2)}), c.Node("Mul", {in, fresh})});
  return Names{c.Node("Mul", {out, c.Node("Tanh", {cell})}), cell};
}

absl::StatusOr<Names> WriteGruCell(CallWriter& c) {
  if (c.Rank(0) != 2) return Refused("an input without a batch");
  const CellWeights w = ProductsOf(c, 2);
  const Names x = GatesOf(c, w.from_input, 3, c.ShapeOf(1)[1]), h = GatesOf(c, w.from_hidden, 3, c.ShapeOf(1)[1]);
  const std::string reset = c.Node("Sigmoid", {c.Node("Add", {x[0], h[0]})});
  const std::string update = c.Node("Sigmoid", {c.Node("Add", {x[1], h[1]})});
  const std::string fresh = c.Node("Tanh", {c.Node("Add", {x[2], c.Node("Mul", {reset, h[2]})})});
  const std::string moved = c.Node("Mul", {update, c.Node("Sub", {c.In(1), fresh})});
  return Names{c.Node("Add", {fresh, moved})};
}

absl::StatusOr<Names> WriteRnnCell(CallWriter& c) {
  if (c.Rank(0) != 2) return Refused("an input without a batch");
  const CellWeights w = ProductsOf(c, 2);
  const char* activation = c.op() == graph::Op::rnn_relu_cell ? "Relu" : "Tanh";
  return Names{c.Node(activation, {c.Node("Add", {w.from_input, w.from_hidden})})};
}

}  // namespace cobra::exporting

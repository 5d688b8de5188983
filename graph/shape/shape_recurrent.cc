// Recurrent layers, whole sequences and single steps.
#include <vector>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

// Output and state shapes of a recurrent call; `hidden_out` is the size of the hidden output
// (weight_hr).
ShapeResult Recurrent(const Call& call, const TensorType& h0, int64_t hidden_out, const TensorType* c0) {
  const TensorType& input = call.in(0);
  const bool packed = call.attributes.Find("batch_sizes") != nullptr;
  if (packed) {
    COBRA_ASSIGN_OR_RETURN(const int64_t total, PackedSteps(call));
    if (input.rank() != 2 || input.shape[0] != total)
      return ShapeError("input must have 2 dimensions, got ", input.rank(), ", and a row for each of the ", total,
                        " steps of the packed sequences");
    const int64_t batch = call.attributes.Ints("batch_sizes")[0];
    if (h0.rank() != 3 || h0.shape[1] != batch)
      return ShapeError("Expected hidden[0] of a packed batch of ", batch, " sequences, got ", SizesText(h0.shape));
  }
  if (input.rank() != 2 && input.rank() != 3)
    return ShapeError("RNN: Expected input to be 2D or 3D, got ", input.rank(), "D tensor");
  if (h0.dtype != input.dtype)
    return ShapeError("Input and hidden tensors are not the same dtype, found input tensor with ",
                      DTypeName(input.dtype), " and hidden tensor with ", DTypeName(h0.dtype));
  for (size_t i = c0 == nullptr ? 2 : 3; i < call.inputs.size() - (packed ? 1 : 0); ++i) {
    if (call.in(static_cast<int>(i)).dtype != input.dtype)
      return ShapeError("Input and parameter tensors are not the same dtype, found input tensor with ",
                        DTypeName(input.dtype), " and parameter tensor with ",
                        DTypeName(call.in(static_cast<int>(i)).dtype));
  }
  if (!packed && h0.rank() != input.rank())
    return ShapeError("For ", input.rank() == 3 ? "batched 3-D" : "unbatched 2-D", " input, hx should also be ",
                      input.rank(), "-D but got ", h0.rank(), "-D tensor");
  if (!packed && input.shape[input.rank() == 3 && call.attributes.Bool("batch_first") ? 1 : 0] == 0)
    return ShapeError("Expected sequence length to be larger than 0 in RNN");
  const int64_t directions = call.attributes.Bool("bidirectional") ? 2 : 1;
  if (h0.shape[0] != call.attributes.Int("num_layers", 1) * directions) {
    return ShapeError("Expected hidden[0] size to have ", call.attributes.Int("num_layers", 1) * directions,
                      " layers, got ", SizesText(h0.shape));
  }
  TensorType out = input;
  out.shape.back() = hidden_out * directions;
  TensorTypes types{out, h0};
  if (c0 != nullptr) types.push_back({c0->shape, PromoteDTypes(input.dtype, c0->dtype)});
  return types;
}

}  // namespace

ShapeResult Lstm(const Call& call) {
  if (call.inputs.size() < 5) return ShapeError("lstm(): expected input, two states and weights");
  const TensorType& weight = call.in(3);
  if (weight.rank() != 2 || call.in(0).shape.empty() || weight.shape[1] != call.in(0).shape.back()) {
    return ShapeError("input.size(-1) must be equal to input_size. Expected ", weight.rank() == 2 ? weight.shape[1] : 0,
                      ", got ", call.in(0).shape.empty() ? 0 : call.in(0).shape.back());
  }
  if (call.in(1).shape.empty()) return ShapeError("lstm(): hx has no dimension");
  return Recurrent(call, call.in(1), call.in(1).shape.back(), &call.in(2));
}

ShapeResult Gru(const Call& call) {
  if (call.inputs.size() < 4) return ShapeError(call.name(), "(): expected input, state and weights");
  const TensorType& weight = call.in(2);
  if (weight.rank() != 2 || call.in(0).shape.empty() || weight.shape[1] != call.in(0).shape.back()) {
    return ShapeError("input.size(-1) must be equal to input_size. Expected ", weight.rank() == 2 ? weight.shape[1] : 0,
                      ", got ", call.in(0).shape.empty() ? 0 : call.in(0).shape.back());
  }
  if (call.in(1).shape.empty()) return ShapeError(call.name(), "(): hx has no dimension");
  return Recurrent(call, call.in(1), call.in(1).shape.back(), nullptr);
}

namespace {

// A state of one step: as many rows as the input has, as wide as the weight of the states.
absl::Status CheckCellState(const TensorType& input, const TensorType& state, const TensorType& weight, int which) {
  if (state.rank() != 2 || state.shape[0] != input.shape[0])
    return ShapeError("Input batch size ", input.shape[0], " doesn't match hidden", which, " batch size ",
                      state.rank() == 0 ? 0 : state.shape[0]);
  if (weight.rank() != 2 || state.shape[1] != weight.shape[1])
    return ShapeError("hidden", which, " has inconsistent hidden_size: got ", state.shape[1], ", expected ",
                      weight.rank() == 2 ? weight.shape[1] : 0);
  return absl::OkStatus();
}

}  // namespace

// One step of a recurrent layer. Returns the new hidden state, and for an LSTM the new cell state
// too.
ShapeResult RnnCell(const Call& call) {
  const int states = call.op == Op::lstm_cell ? 2 : 1;
  const int64_t gates = call.op == Op::lstm_cell ? 4 : call.op == Op::gru_cell ? 3 : 1;
  const TensorType& input = call.in(0);
  const TensorType& w_ih = call.in(1 + states);
  const TensorType& w_hh = call.in(2 + states);
  if (input.rank() != 2)
    return ShapeError("RNNCell: Expected input to be 1-D or 2-D but received ", input.rank(), "-D tensor");
  if (w_ih.rank() != 2 || input.shape[1] != w_ih.shape[1])
    return ShapeError("input has inconsistent input_size: got ", input.shape.back(), " expected ",
                      w_ih.rank() == 2 ? w_ih.shape[1] : 0);
  for (int i = 0; i < states; ++i) COBRA_RETURN_IF_ERROR(CheckCellState(input, call.in(1 + i), w_hh, i));
  const int64_t width = w_hh.shape[1];
  if (w_ih.shape[0] != gates * width || w_hh.shape[0] != gates * width)
    return ShapeError(call.name(), "(): weights of ", w_ih.shape[0], " and ", w_hh.shape[0], " rows, expected ", gates,
                      " times hidden_size ", width);
  for (int i = 3 + states; i < 5 + states; ++i) {
    if (call.has(i) && call.in(i).shape != Shape{gates * width} && call.in(i).shape != Shape{1})
      return ShapeError("The expanded size of the tensor (", gates * width, ") must match the existing size (",
                        call.in(i).shape.empty() ? 1 : call.in(i).shape.back(), ") at non-singleton dimension 1");
  }
  for (const TensorType* type : call.inputs) {
    if (type != nullptr && type->dtype != input.dtype)
      return ShapeError("expected m1 and m2 to have the same dtype, but got: ", DTypeName(input.dtype),
                        " != ", DTypeName(type->dtype));
  }
  TensorTypes out{call.in(1)};
  if (call.op == Op::lstm_cell) out.push_back(call.in(2));
  return out;
}

}  // namespace cobra::graph::shape_rules

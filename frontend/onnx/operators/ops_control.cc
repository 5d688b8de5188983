// Control flow and sequences. Conditions are evaluated and loops are unrolled while the file is
// read.
#include <algorithm>

#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"

namespace cobra::onnx {
namespace {

using ::onnx::GraphProto;

absl::StatusOr<const GraphProto*> Body(const NodeContext& c, absl::string_view name) {
  const auto* attribute = c.FindAttr(name);
  if (attribute == nullptr || !attribute->has_g()) return Invalid("the attribute ", name, " holds no graph");
  return &attribute->g();
}

absl::StatusOr<bool> Truth(NodeContext& c, const Value& value, absl::string_view what) {
  if (!value.is_tensor()) return Invalid(what, " is not a tensor");
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, c.importer().NeedValues(value.tensor, what));
  if (values->size() != 1) return Invalid(what, " has ", values->size(), " elements, must have one");
  return (*values)[0] != 0;
}

absl::StatusOr<Outputs> If(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const bool taken, Truth(c, c.InValue(0), "its condition"));
  COBRA_ASSIGN_OR_RETURN(const GraphProto* body, Body(c, taken ? "then_branch" : "else_branch"));
  return c.importer().RunGraph(*body, {}, &c.run());
}

// Stacks the values that one output has in all iterations along a new dimension.
absl::StatusOr<Value> Stacked(NodeContext& c, const std::vector<Value>& turns, int64_t axis) {
  std::vector<TensorPtr> tensors;
  for (const Value& turn : turns) {
    if (!turn.is_tensor()) return Invalid("a scan output is not a tensor");
    tensors.push_back(turn.tensor);
  }
  if (tensors.empty()) return Unsupported("the scan outputs of a loop without turns");
  COBRA_ASSIGN_OR_RETURN(TensorPtr stacked, c.Call(graph::Op::stack, {{"dim", axis}}, tensors));
  return Value(stacked);
}

absl::StatusOr<Outputs> Loop(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const GraphProto* body, Body(c, "body"));
  int64_t turns = INT64_MAX;
  if (c.Has(0)) {
    COBRA_ASSIGN_OR_RETURN(turns, c.KnownInt(0, "its trip count"));
  }
  bool go_on = true;
  if (c.Has(1)) {
    COBRA_ASSIGN_OR_RETURN(go_on, Truth(c, c.InValue(1), "its condition"));
  }
  std::vector<Value> carried;
  for (size_t i = 2; i < c.num_inputs(); ++i) carried.push_back(c.InValue(i));
  const int scans = body->output_size() - 1 - static_cast<int>(carried.size());
  if (scans < 0 || body->input_size() != 2 + static_cast<int>(carried.size()))
    return Invalid("its body does not fit its inputs");
  std::vector<std::vector<Value>> scanned(scans);
  for (int64_t turn = 0; turn < turns && go_on; ++turn) {
    COBRA_RETURN_IF_ERROR(c.importer().Step());
    COBRA_ASSIGN_OR_RETURN(TensorPtr number, c.Constant({{}, graph::DType::int64}, {static_cast<double>(turn)}));
    COBRA_ASSIGN_OR_RETURN(TensorPtr condition, c.Constant({{}, graph::DType::bool_}, {1}));
    std::vector<Value> inputs{number, condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    COBRA_ASSIGN_OR_RETURN(std::vector<Value> outputs, c.importer().RunGraph(*body, std::move(inputs), &c.run()));
    COBRA_ASSIGN_OR_RETURN(go_on, Truth(c, outputs[0], "the condition of its next turn"));
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = outputs[1 + i];
    for (int i = 0; i < scans; ++i) scanned[i].push_back(outputs[1 + carried.size() + i]);
  }
  Outputs results = carried;
  for (int i = 0; i < scans; ++i) {
    if (!c.Wants(static_cast<int>(results.size()))) {
      results.emplace_back();
      continue;
    }
    COBRA_ASSIGN_OR_RETURN(Value stacked, Stacked(c, scanned[i], 0));
    results.push_back(std::move(stacked));
  }
  return results;
}

// Runs a Scan once over the given states and scanned inputs.
absl::StatusOr<Outputs> ScanOnce(NodeContext& c, const GraphProto& body, std::vector<Value> states,
                                 const std::vector<TensorPtr>& scanned) {
  const auto axes = c.Ints("scan_input_axes"),
             directions = c.Ints(c.opset() < 9 ? "directions" : "scan_input_directions");
  const auto out_axes = c.Ints("scan_output_axes"), out_directions = c.Ints("scan_output_directions");
  const auto entry = [](const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; };
  int64_t turns = -1;
  for (size_t i = 0; i < scanned.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(entry(axes, i), scanned[i]->type.rank(), "scan_input_axes"));
    const int64_t size = scanned[i]->type.shape[axis];
    if (turns >= 0 && size != turns) return Invalid("scanned inputs differ in length");
    turns = size;
  }
  const int outs = body.output_size() - static_cast<int>(states.size());
  if (outs < 0 || turns < 0) return Invalid("its body does not fit its inputs");
  std::vector<std::vector<Value>> collected(outs);
  for (int64_t turn = 0; turn < turns; ++turn) {
    COBRA_RETURN_IF_ERROR(c.importer().Step());
    std::vector<Value> inputs = states;
    for (size_t i = 0; i < scanned.size(); ++i) {
      const int64_t at = entry(directions, i) != 0 ? turns - 1 - turn : turn;
      COBRA_ASSIGN_OR_RETURN(TensorPtr slice,
                             c.Call(graph::Op::select, {{"dim", entry(axes, i)}, {"index", at}}, {scanned[i]}));
      inputs.emplace_back(slice);
    }
    COBRA_ASSIGN_OR_RETURN(std::vector<Value> outputs, c.importer().RunGraph(body, std::move(inputs), &c.run()));
    for (size_t i = 0; i < states.size(); ++i) states[i] = outputs[i];
    for (int i = 0; i < outs; ++i) {
      auto& list = collected[i];
      list.insert(entry(out_directions, i) != 0 ? list.begin() : list.end(), outputs[states.size() + i]);
    }
  }
  Outputs results = states;
  for (int i = 0; i < outs; ++i) {
    COBRA_ASSIGN_OR_RETURN(Value stacked, Stacked(c, collected[i], entry(out_axes, i)));
    results.push_back(std::move(stacked));
  }
  return results;
}

absl::StatusOr<Outputs> Scan(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const GraphProto* body, Body(c, "body"));
  const size_t first = c.opset() < 9 ? 1 : 0;  // opset 8 begins with sequence_lens and has a batch
  const int64_t count = c.Int("num_scan_inputs");
  const int64_t total = static_cast<int64_t>(c.num_inputs()) - static_cast<int64_t>(first);
  if (count < 1 || count > total) return Invalid("num_scan_inputs=", count, " of ", total, " inputs");
  if (first == 1 && c.Has(0)) return Unsupported("sequence_lens");
  std::vector<TensorPtr> all;
  for (size_t i = first; i < c.num_inputs(); ++i) {
    if (!c.Has(i) || !c.InValue(i).is_tensor()) return Invalid("input ", i, " is not a tensor");
    all.push_back(c.In(i));
  }
  const auto run = [&](const std::vector<TensorPtr>& inputs) {
    const size_t states = inputs.size() - count;
    return ScanOnce(c, *body, std::vector<Value>(inputs.begin(), inputs.begin() + states),
                    {inputs.begin() + states, inputs.end()});
  };
  if (first == 0) return run(all);
  if (all[0]->type.rank() == 0) return Invalid("its inputs have no batch");
  const int64_t batch = all[0]->type.shape[0];
  std::vector<std::vector<Value>> by_output;
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<TensorPtr> inputs;
    for (const TensorPtr& tensor : all) {
      COBRA_ASSIGN_OR_RETURN(TensorPtr own, c.Call(graph::Op::select, {{"dim", int64_t{0}}, {"index", b}}, {tensor}));
      inputs.push_back(own);
    }
    COBRA_ASSIGN_OR_RETURN(Outputs outputs, run(inputs));
    by_output.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) by_output[i].push_back(outputs[i]);
  }
  Outputs results;
  for (const auto& turns : by_output) {
    COBRA_ASSIGN_OR_RETURN(Value stacked, Stacked(c, turns, 0));
    results.push_back(std::move(stacked));
  }
  return results;
}

// ---- sequences

absl::StatusOr<std::vector<Value>> Items(const NodeContext& c, size_t i) {
  if (!c.Has(i) || !c.InValue(i).is_sequence()) return Invalid("input ", i, " must be a sequence");
  return c.InValue(i).items;
}

// Reads a position in [0, size), or in [0, size] if `end` is set. Returns `fallback` if the input
// is absent.
absl::StatusOr<int64_t> Position(NodeContext& c, size_t i, int64_t size, bool end, int64_t fallback) {
  if (!c.Has(i)) return fallback;
  COBRA_ASSIGN_OR_RETURN(int64_t at, c.KnownInt(i, "its position"));
  if (at < 0) at += size;
  if (at < 0 || at >= size + (end ? 1 : 0)) return Invalid("position ", at, " of a sequence of ", size);
  return at;
}

absl::StatusOr<Outputs> SequenceConstruct(NodeContext& c) {
  std::vector<Value> items;
  for (size_t i = 0; i < c.num_inputs(); ++i) items.push_back(c.InValue(i));
  return Outputs{Value::Sequence(std::move(items))};
}

absl::StatusOr<Outputs> SequenceEmpty(NodeContext& c) { return Outputs{Value::Sequence({})}; }

absl::StatusOr<Outputs> SequenceAt(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<Value> items, Items(c, 0));
  COBRA_ASSIGN_OR_RETURN(const int64_t at, Position(c, 1, static_cast<int64_t>(items.size()), false, 0));
  if (items.empty()) return Invalid("the sequence is empty");
  return Outputs{items[at]};
}

absl::StatusOr<Outputs> SequenceInsert(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<Value> items, Items(c, 0));
  const int64_t size = static_cast<int64_t>(items.size());
  COBRA_ASSIGN_OR_RETURN(const int64_t at, Position(c, 2, size, true, size));
  items.insert(items.begin() + at, c.InValue(1));
  return Outputs{Value::Sequence(std::move(items))};
}

absl::StatusOr<Outputs> SequenceErase(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<Value> items, Items(c, 0));
  const int64_t size = static_cast<int64_t>(items.size());
  if (items.empty()) return Invalid("the sequence is empty");
  COBRA_ASSIGN_OR_RETURN(const int64_t at, Position(c, 1, size, false, size - 1));
  items.erase(items.begin() + at);
  return Outputs{Value::Sequence(std::move(items))};
}

absl::StatusOr<Outputs> SequenceLength(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<Value> items, Items(c, 0));
  return c.Out(c.Constant({{}, graph::DType::int64}, {static_cast<double>(items.size())}));
}

absl::StatusOr<Outputs> ConcatFromSequence(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<Value> items, Items(c, 0));
  std::vector<TensorPtr> tensors;
  for (const Value& item : items) tensors.push_back(item.tensor);
  if (tensors.empty()) return Invalid("the sequence is empty");
  return c.Out(c.Call(c.Int("new_axis") != 0 ? graph::Op::stack : graph::Op::cat, {{"dim", c.Int("axis")}}, tensors));
}

absl::StatusOr<Outputs> SplitToSequence(NodeContext& c) {
  if (!c.InValue(0).is_tensor()) return Invalid("input 0 must be a tensor");
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 0), c.Rank(0)));
  const int64_t total = c.ShapeOf(0)[axis];
  std::vector<int64_t> sizes;
  bool squeeze = false;
  if (!c.Has(1)) {
    if (total > c.importer().limits().onnx.max_steps)
      return absl::ResourceExhaustedError(LimitMessage("", total, c.importer().limits().onnx.max_steps, "pieces"));
    sizes.assign(total, 1);
    squeeze = c.Int("keepdims", 1) == 0;
  } else {
    COBRA_ASSIGN_OR_RETURN(sizes, c.KnownInts(1, "split"));
    if (c.Rank(1) == 0) {
      const int64_t each = sizes[0];
      if (each < 1 || total / each > c.importer().limits().onnx.max_steps) return Invalid("pieces of ", each);
      sizes.assign(total / each, each);
      if (total % each != 0) sizes.push_back(total % each);
    }
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> parts,
                         c.CallAll(graph::Op::split, {{"split_size", sizes}, {"dim", int64_t{axis}}}, {c.In(0)}));
  std::vector<Value> items;
  for (TensorPtr& part : parts) {
    if (squeeze) {
      COBRA_ASSIGN_OR_RETURN(part, c.Call(graph::Op::squeeze, {{"dim", int64_t{axis}}}, {part}));
    }
    items.emplace_back(part);
  }
  return Outputs{Value::Sequence(std::move(items))};
}

// Runs the body once for every item of the first sequence. Inputs that are tensors are passed to
// every run unchanged.
absl::StatusOr<Outputs> SequenceMap(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const GraphProto* body, Body(c, "body"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<Value> first, Items(c, 0));
  std::vector<std::vector<Value>> collected(body->output_size());
  for (size_t turn = 0; turn < first.size(); ++turn) {
    std::vector<Value> inputs;
    for (size_t i = 0; i < c.num_inputs(); ++i) {
      const Value& value = c.InValue(i);
      if (value.is_sequence() && value.items.size() != first.size()) return Invalid("its sequences differ in length");
      inputs.push_back(value.is_sequence() ? value.items[turn] : value);
    }
    COBRA_ASSIGN_OR_RETURN(std::vector<Value> outputs, c.importer().RunGraph(*body, std::move(inputs), &c.run()));
    for (size_t i = 0; i < outputs.size(); ++i) collected[i].push_back(outputs[i]);
  }
  Outputs results;
  for (auto& items : collected) results.push_back(Value::Sequence(std::move(items)));
  return results;
}

// ---- optionals: absent, or the value itself

absl::StatusOr<Outputs> Optional(NodeContext& c) {
  if (!c.Has(0)) return Unsupported("an optional without a value");
  return Outputs{c.InValue(0)};
}

absl::StatusOr<Outputs> OptionalGetElement(NodeContext& c) {
  if (!c.Has(0)) return Invalid("the optional holds nothing");
  return Outputs{c.InValue(0)};
}

absl::StatusOr<Outputs> OptionalHasElement(NodeContext& c) {
  return c.Out(c.Constant({{}, graph::DType::bool_}, {c.Has(0) ? 1.0 : 0.0}));
}

}  // namespace

void AddControlOperators(Registry* registry) {
  registry->Add("If", {If, 1, true, "the condition is known beforehand"});
  registry->Add("Loop", {Loop, 0, true, "trip count and conditions are known beforehand"});
  registry->Add("Scan", {Scan, 0, true, "no sequence_lens"});
  registry->Add("SequenceConstruct", {SequenceConstruct, 0, true});
  registry->Add("SequenceEmpty", {SequenceEmpty, 0, true});
  registry->Add("SequenceAt", {SequenceAt, 2, true, "the position is known beforehand"});
  registry->Add("SequenceInsert", {SequenceInsert, 2, true, "the position is known beforehand"});
  registry->Add("SequenceErase", {SequenceErase, 1, true, "the position is known beforehand"});
  registry->Add("SequenceLength", {SequenceLength, 1, true});
  registry->Add("SequenceMap", {SequenceMap, 1, true});
  registry->Add("ConcatFromSequence", {ConcatFromSequence, 1, true});
  registry->Add("SplitToSequence", {SplitToSequence, 1, true, "the split is known beforehand"});
  registry->Add("Optional", {Optional, 0, true});
  registry->Add("OptionalGetElement", {OptionalGetElement, 0, true});
  registry->Add("OptionalHasElement", {OptionalHasElement, 0, true});
  for (const char* name : {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch", "TfIdfVectorizer"})
    registry->Refuse(name, "strings are not numbers");
  registry->Refuse("ImageDecoder", "the size of an image depends on its bytes");
  for (const char* name :
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
    registry->Refuse(name, "it draws random numbers");
}

}  // namespace cobra::onnx

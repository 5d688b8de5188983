// Makes the functions of functions.def native functions of torch, torch.nn.functional and Tensor.
#include "frontend/python/torch/functions/functions.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "frontend/python/torch/functions/binder.h"
#include "frontend/python/torch/names/known_names.h"
#include "frontend/python/torch/tensor/torch_rules.h"

namespace cobra::python {
namespace {

struct Function {
  std::string name;
  std::vector<Overload> overloads;
  bool takes_out = false;
};

// Whether PyTorch's function takes `out`: those of torch, fft, linalg and special do, unless the
// table says otherwise, and those of torch.nn.functional that are no functions of Python.
bool TakesOut(char space, absl::string_view name) {
  if (space == 'F') {
    constexpr absl::string_view kBuiltIn =
        " avg_pool2d avg_pool3d gelu hardshrink linear logsigmoid softplus softshrink ";
    return absl::StrContains(kBuiltIn, absl::StrCat(" ", name, " "));
  }
  static constexpr std::pair<char, absl::string_view> kWithout[] = {
#include "frontend/python/torch/functions/without_out.inc"
  };
  for (const auto& [of, names] : kWithout) {
    if (of == space) return !absl::StrContains(names, absl::StrCat(" ", name, " "));
  }
  return false;
}

using Table = std::map<std::pair<char, std::string>, Function>;

// Indexed by space and name. Parsed once per process.
const Table& Functions() {
  static const Table* const kTable = [] {
    auto* table = new Table();
    const auto add = [&](graph::Op op, absl::string_view names, absl::string_view spaces, absl::string_view signature) {
      const Overload overload = ParseOverload(op, signature);
      for (absl::string_view name : absl::StrSplit(names, ' ')) {
        for (char space : spaces) {
          Function& function = (*table)[{space, std::string(name)}];
          function.name = std::string(name);
          function.takes_out = TakesOut(space, name);
          function.overloads.push_back(overload);
        }
      }
    };
#define COBRA_TORCH_FUNCTION(op, names, spaces, signature) add(graph::Op::op, names, spaces, signature);
#include "frontend/python/torch/functions/functions.def"
#undef COBRA_TORCH_FUNCTION
    return table;
  }();
  return *kTable;
}

graph::Attributes WithoutAttribute(const graph::Attributes& attributes, absl::string_view name) {
  graph::Attributes rest;
  for (const auto& [key, value] : attributes) {
    if (key != name) rest.Set(key, value);
  }
  return rest;
}

// ---- arguments that are filled in before the call

void SetStride(graph::Attributes* attributes) {
  const bool has_kernel = attributes->Find("kernel_size") != nullptr;
  if (has_kernel && attributes->IntSpan("stride").empty()) attributes->Set("stride", attributes->Ints("kernel_size"));
}

void SetSoftmaxDim(Bound* bound) {
  if (bound->attributes.Find("dim") != nullptr) return;
  const int rank = AsTensor(bound->inputs[0])->type.rank();
  bound->attributes.Set("dim", int64_t{rank == 0 || rank == 1 || rank == 3 ? 0 : 1});
}

// Computes the size of the output from the values of a small constant.
Result<void> SetSizeFromRepeats(Interpreter& interp, Bound* bound) {
  if (bound->inputs.size() < 2 || bound->inputs[1].IsNone() || bound->attributes.Find("output_size") != nullptr)
    return {};
  const graph::TensorType& input = AsTensor(bound->inputs[0])->type;
  COBRA_TRY_ASSIGN(const ConstValues* values,
                   ReadValues(interp, AsTensor(bound->inputs[1]), "the shape of repeat_interleave() by a tensor"));
  interp.Spend(static_cast<int64_t>(values->size()) / 16);
  double total = 0;
  for (double v : *values) total += v;
  if (values->size() == 1) {  // one number for every element
    int64_t along = input.num_elements();
    if (bound->attributes.Find("dim") != nullptr && input.rank() > 0) {
      const int64_t dim = bound->attributes.Int("dim");
      const int64_t at = dim < 0 ? dim + input.rank() : dim;
      along = at >= 0 && at < input.rank() ? input.shape[at] : 1;
    }
    total *= static_cast<double>(along);
  }
  bound->attributes.Set("output_size", static_cast<int64_t>(total));
  return {};
}

// The numbers of a list, or of a tensor whose values are known; nullopt if they are not known.
std::optional<std::vector<int64_t>> KnownInts(const Bound& bound, size_t input, absl::string_view attribute) {
  if (bound.attributes.Find(attribute) != nullptr) return bound.attributes.Ints(attribute);
  Tensor* tensor =
      input < bound.inputs.size() && !bound.inputs[input].IsNone() ? AsTensor(bound.inputs[input]) : nullptr;
  if (tensor == nullptr || tensor->values == nullptr || !tensor->is_const() || tensor->is_random) return std::nullopt;
  return std::vector<int64_t>(tensor->values->begin(), tensor->values->end());
}

Result<void> SetClassesFromValues(Interpreter& interp, Bound* bound) {
  if (const int64_t classes = bound->attributes.Int("num_classes", -1); classes != -1) {
    const auto known = KnownInts(*bound, 0, "");
    if (!known || known->empty()) return {};
    interp.Spend(static_cast<int64_t>(known->size()) / 16);
    if (*std::max_element(known->begin(), known->end()) >= classes && classes > 0)
      return interp.Raise(interp.types().RuntimeError, "Class values must be smaller than num_classes.");
    if (*std::min_element(known->begin(), known->end()) < 0)
      return interp.Raise(interp.types().RuntimeError, "Class values must be non-negative.");
    return {};
  }
  COBRA_TRY_ASSIGN(const ConstValues* values,
                   ReadValues(interp, AsTensor(bound->inputs[0]), "the shape of one_hot() without num_classes"));
  interp.Spend(static_cast<int64_t>(values->size()) / 16);
  double largest = -1;
  for (double v : *values) largest = std::max(largest, v);
  if (largest < 0)
    return interp.Raise(interp.types().RuntimeError, "Can not infer total number of classes from empty tensor.");
  bound->attributes.Set("num_classes", static_cast<int64_t>(largest) + 1);
  return {};
}

// ctc_loss checks the lengths of sequences and targets, one each for every sequence of the batch.
Result<void> CheckLengths(Interpreter& interp, Bound* bound) {
  const auto fail = [&](auto... text) { return interp.Raise(interp.types().RuntimeError, text...); };
  const graph::TensorType& input = AsTensor(bound->inputs[0])->type;
  const graph::TensorType& targets = AsTensor(bound->inputs[1])->type;
  if (input.rank() != 2 && input.rank() != 3) return {};  // refused by the shape rule
  const int64_t batch = input.rank() == 3 ? input.shape[1] : 1;
  const auto inputs = KnownInts(*bound, 2, "input_lengths"), lengths = KnownInts(*bound, 3, "target_lengths");
  interp.Spend(static_cast<int64_t>((inputs ? inputs->size() : 0) + (lengths ? lengths->size() : 0)) / 8);
  if (inputs && static_cast<int64_t>(inputs->size()) != batch) return fail("input_lengths must be of size batch_size");
  if (lengths && static_cast<int64_t>(lengths->size()) != batch)
    return fail("target_lengths must be of size batch_size");
  if (inputs) {
    for (int64_t length : *inputs) {
      if (length > input.shape[0])
        return fail("Expected input_lengths to have value at most ", input.shape[0], ", but got value ", length,
                    " (while checking arguments for ctc_loss_cpu)");
    }
  }
  if (!lengths) return {};
  int64_t total = 0, longest = 0;
  for (int64_t length : *lengths) {
    if (length < 0) return fail("Expected target_lengths to have value at least 0, but got value ", length);
    total = std::min<int64_t>(total + length, int64_t{1} << 40);
    longest = std::max(longest, length);
  }
  const int along = targets.rank() == 1 ? 0 : 1;
  const int64_t wanted = targets.rank() == 1 ? total : longest;
  if (targets.rank() == 0 || targets.rank() > 2) return {};
  if (targets.rank() == 1 ? targets.shape[0] != wanted : targets.shape[1] < wanted)
    return fail("Expected tensor to have size ", along == 1 ? "at least " : "", wanted, " at dimension ", along,
                ", but got size ", targets.shape[along],
                " for argument #2 'targets' (while checking arguments for ctc_loss_cpu)");
  return {};
}

// F.group_norm refuses, as in training, groups of a single value.
Result<void> CheckGroups(Interpreter& interp, const Bound& bound) {
  const graph::Shape& shape = AsTensor(bound.inputs[0])->type.shape;
  const int64_t groups = bound.attributes.Int("num_groups", 1);
  if (shape.size() < 2 || groups <= 0) return {};
  int64_t values = shape[0] * (shape[1] / groups);
  for (size_t i = 2; i < shape.size(); ++i) values *= std::min<int64_t>(shape[i], 2);
  if (values != 1) return {};
  return interp.Raise(interp.types().ValueError,
                      "Expected more than 1 value per channel when training, got input size [",
                      absl::StrJoin(shape, ", "), "]");
}

// F.embedding_bag once had its first two arguments the other way around, and still takes them so.
Result<void> ArrangeBags(Interpreter& interp, Bound* bound) {
  const graph::DType indices = AsTensor(bound->inputs[0])->type.dtype, weight = AsTensor(bound->inputs[1])->type.dtype;
  if (weight == graph::DType::int64 && graph::IsFloatingPoint(indices)) std::swap(bound->inputs[0], bound->inputs[1]);
  // From PyTorch 2 on, the rows of a matrix are bags of their own, whatever include_last_offset
  // says.
  if (Torch(interp).AtLeast(2, 0) && AsTensor(bound->inputs[0])->type.rank() == 2)
    bound->attributes = WithoutAttribute(bound->attributes, "include_last_offset");
  const graph::Shape& shape = AsTensor(bound->inputs[0])->type.shape;
  const auto offsets = KnownInts(*bound, 2, "offsets");
  if (!offsets || offsets->empty() || shape.size() != 1) return {};
  if (offsets->front() != 0)
    return interp.Raise(interp.types().RuntimeError,
                        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                        "from position 0. However, got ",
                        offsets->front());
  if (offsets->back() > shape[0])
    return interp.Raise(interp.types().RuntimeError, "offsets[-1] can not be greater than input's length ", shape[0],
                        " but got offsets[-1] of ", offsets->back());
  return {};
}

// Indices whose values are known lie within what they select from.
Result<void> CheckKnownIndices(Interpreter& interp, graph::Op op, const Bound& bound) {
  using graph::Selects;
  const bool negative =
      op == graph::Op::index_fill || op == graph::Op::take || op == graph::Op::put || op == graph::Op::index_put;
  for (size_t i = 0; i < bound.inputs.size(); ++i) {
    const Selects selects = graph::GetOpInfo(op).input(i).selects;
    if (selects != Selects::kDim && selects != Selects::kEach && selects != Selects::kElement &&
        selects != Selects::kRow)
      continue;
    Tensor* index = bound.inputs[i].IsNone() ? nullptr : AsTensor(bound.inputs[i]);
    if (index == nullptr || index->values == nullptr || !index->is_const() || index->is_random) continue;
    if (index->type.dtype != graph::DType::int64 && index->type.dtype != graph::DType::int32) continue;
    const graph::Shape& from = AsTensor(bound.inputs[selects == Selects::kRow ? 1 : 0])->type.shape;
    int64_t dim = 0;
    if (selects == Selects::kDim) {
      if (bound.attributes.Find("dim") == nullptr) continue;
      dim = bound.attributes.Int("dim");
      if (dim < 0) dim += static_cast<int64_t>(from.size());
    }
    if (selects == Selects::kEach) dim = static_cast<int64_t>(i) - 2;  // after the tensor and the values
    if (!from.empty() && (dim < 0 || dim >= static_cast<int64_t>(from.size()))) continue;  // refused by the shape rule
    int64_t size = from.empty() ? 1 : from[static_cast<size_t>(dim)];
    if (selects == Selects::kElement) size = AsTensor(bound.inputs[0])->type.num_elements();
    Refresh(interp, index);
    interp.Spend(static_cast<int64_t>(index->values->size()) / 16);
    for (double v : *index->values) {
      if (v < static_cast<double>(size) && v >= static_cast<double>(negative ? -size : 0)) continue;
      return interp.Raise(interp.types().IndexError, graph::OpName(op), "(): index ", static_cast<int64_t>(v),
                          " is out of bounds for dimension ", dim, " with size ", size);
    }
  }
  return {};
}

void DropUnlessTrue(absl::string_view name, graph::Attributes* attributes) {
  if (attributes->Find(name) != nullptr && !attributes->Bool(name)) *attributes = WithoutAttribute(*attributes, name);
}

// Whether a batch is normalized by its own statistics. Without running ones that needs no saying.
// PyTorch refuses it where a channel has a single value (F._verify_batch_size,
// F._verify_spatial_size).
Result<void> SetStatistics(Interpreter& interp, graph::Op op, Bound* bound) {
  const bool of_batch = op == graph::Op::batch_norm;
  const absl::string_view name = of_batch ? "training" : "use_input_stats";
  const graph::Shape& shape = AsTensor(bound->inputs[0])->type.shape;
  const bool has_running = !bound->inputs[1].IsNone();
  if (bound->attributes.Bool(name) && shape.size() > 1) {
    int64_t values = of_batch ? shape[0] : 1;
    for (size_t i = 2; i < shape.size(); ++i) values *= shape[i];
    if (values == 1) {
      return interp.Raise(interp.types().ValueError, "Expected more than 1 ",
                          of_batch ? "value per channel" : "spatial element",
                          " when training, got input size torch.Size([", absl::StrJoin(shape, ", "), "])");
    }
  }
  if (!has_running && !bound->attributes.Bool(name))
    return interp.Raise(interp.types().RuntimeError,
                        of_batch ? "running_mean must be defined in evaluation mode"
                                 : "Expected running_mean and running_var to be defined when use_input_stats is false");
  if (!has_running) bound->attributes = WithoutAttribute(bound->attributes, name);
  DropUnlessTrue(name, &bound->attributes);
  return {};
}

Result<void> CompleteArguments(Interpreter& interp, graph::Op op, Bound* bound) {
  switch (TorchRulesOf(op).arguments) {
    case ArgumentRule::kGiven: break;
    case ArgumentRule::kWindow: SetStride(&bound->attributes); break;
    case ArgumentRule::kMaxWindow:
      SetStride(&bound->attributes);
      DropUnlessTrue("return_indices", &bound->attributes);
      break;
    case ArgumentRule::kTraining: DropUnlessTrue("training", &bound->attributes); break;
    case ArgumentRule::kStatistics: return SetStatistics(interp, op, bound);
    case ArgumentRule::kSoftmaxDim: SetSoftmaxDim(bound); break;
    case ArgumentRule::kRepeats: return SetSizeFromRepeats(interp, bound);
    case ArgumentRule::kGroups: return CheckGroups(interp, *bound);
    case ArgumentRule::kLengths: return CheckLengths(interp, bound);
    case ArgumentRule::kBags: return ArrangeBags(interp, bound);
    case ArgumentRule::kClasses: return SetClassesFromValues(interp, bound);
    case ArgumentRule::kOneTensor:
      if (!bound->inputs[0].IsNone() || !bound->inputs[1].IsNone()) break;
      return interp.Raise(interp.types().TypeError, graph::OpName(op),
                          "() received an invalid combination of arguments: neither is a Tensor");
  }
  return {};
}

// einsum(x, [0, 1], y, [1, 2], [0, 2]): converts the lists to letters, in the same way as
// torch.functional.einsum.
Result<Value> EinsumOfLists(Interpreter& interp, absl::Span<const Value> args) {
  std::string equation;
  std::vector<Value> operands;
  const auto letters = [&](Value list) -> Result<void> {
    COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(list));
    for (Value item : items) {
      if (item.IsEllipsis()) {
        equation += "...";
        continue;
      }
      COBRA_TRY_ASSIGN(int64_t n, interp.Index(item));
      if (n < 0 || n >= 52)
        return interp.Raise(interp.types().ValueError,
                            "einsum(): subscript in subscript list is not within the valid range [0, 52): ", n);
      equation += static_cast<char>(n < 26 ? 'A' + n : 'a' + n - 26);
    }
    return {};
  };
  for (size_t i = 0; i + 1 < args.size(); i += 2) {
    if (AsTensor(args[i]) == nullptr)
      return interp.Raise(interp.types().TypeError, "einsum(): operands and their lists of subscripts must alternate");
    if (!operands.empty()) equation += ",";
    operands.push_back(args[i]);
    COBRA_TRY(letters(args[i + 1]));
  }
  if (args.size() % 2 == 1) {
    equation += "->";
    COBRA_TRY(letters(args.back()));
  }
  return Apply(interp, graph::Op::einsum, {{"equation", equation}}, std::move(operands));
}

// broadcast_tensors, atleast_1d ...: an argument that already has the shape of its output is
// returned itself.
Result<Value> RunOnEach(Interpreter& interp, graph::Op op, Bound bound) {
  const TorchRules& rules = TorchRulesOf(op);
  const std::vector<Value> inputs = bound.inputs;
  COBRA_TRY_ASSIGN(Value out,
                   Apply(interp, op, std::move(bound.attributes), std::move(bound.inputs), false, Returns::kTuple));
  std::vector<Value> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value output = out.as<TupleObject>()->items[i];
    const bool itself = AsTensor(output)->type == AsTensor(inputs[i])->type;
    // It then refers to this call's output, like every tensor that a call with several outputs
    // returns.
    if (itself && rules.itself == ItselfRule::kEach && AsTensor(output)->ref.is_node())
      AsTensor(inputs[i])->ref = AsTensor(output)->ref;
    if (itself && rules.itself == ItselfRule::kEach && !AsTensor(output)->computed.is_none())
      AsTensor(inputs[i])->computed = AsTensor(output)->computed;
    results.push_back(itself ? inputs[i] : output);
  }
  return results.size() == 1 && rules.returns == Returns::kOneOrTuple ? results[0] : Value(interp.NewTuple(results));
}

bool IsItself(graph::Op op, const Bound& bound) {
  const Tensor* only = bound.inputs.size() == 1 ? AsTensor(bound.inputs[0]) : nullptr;
  if (only == nullptr) return false;
  return op == graph::Op::resolve_conj ? !only->is_conj : ReturnsItself(op, bound.attributes, only->type);
}

Result<Value> Run(Interpreter& interp, graph::Op op, Bound bound) {
  const TorchRules& rules = TorchRulesOf(op);
  COBRA_TRY(CompleteArguments(interp, op, &bound));
  COBRA_TRY(CheckKnownIndices(interp, op, bound));
  if (op == graph::Op::stft && !Torch(interp).AtLeast(2, 0) && bound.attributes.Find("return_complex") == nullptr &&
      !graph::IsComplex(AsTensor(bound.inputs[0])->type.dtype))
    bound.attributes.Set("return_complex", false);
  if (op == graph::Op::multi_head_attention_forward && Torch(interp).AtLeast(2, 0) && bound.inputs.size() > 10 &&
      !bound.inputs[10].IsNone() && AsTensor(bound.inputs[10])->type.dtype == graph::DType::uint8)
    return interp.Raise(interp.types().AssertionError, "only bool and floating types of attn_mask are supported");
  if (rules.itself == ItselfRule::kUnlessTraining && IsItself(op, bound)) {
    const Value self = bound.inputs[0];
    if (AsTensor(self)->is_const() && Torch(interp).recording) {  // no call, but the arguments must be right
      const auto types = graph::InferTypes(op, bound.attributes, {&AsTensor(self)->type});
      return types.ok() ? Result<Value>(self) : RaiseShapeError(interp, types.status());
    }
    COBRA_TRY(Apply(interp, op, WithoutAttribute(bound.attributes, "training"), {self}));
    return self;
  }
  if (!bound.inplace && IsItself(op, bound)) {
    const Value self = bound.inputs[0];
    // Of complex tensors the operator copies; there is nothing to copy.
    if (op == graph::Op::resolve_conj && graph::IsComplex(AsTensor(self)->type.dtype)) return self;
    if (!AsTensor(self)->is_const()) COBRA_TRY(Apply(interp, op, std::move(bound.attributes), {self}));
    return self;
  }
  if (rules.itself == ItselfRule::kEach || rules.itself == ItselfRule::kEach1d || rules.itself == ItselfRule::kEach2d ||
      rules.itself == ItselfRule::kEach3d)
    return RunOnEach(interp, op, std::move(bound));
  Returns returns = bound.inplace ? Returns::kTensor : rules.returns;
  if (bound.attributes.Bool("return_indices")) returns = Returns::kTuple;
  const bool without_weights =
      op == graph::Op::multi_head_attention_forward && !bound.attributes.Bool("need_weights", true);
  COBRA_TRY_ASSIGN(Value out,
                   Apply(interp, op, std::move(bound.attributes), std::move(bound.inputs), bound.inplace, returns));
  return without_weights ? Value(interp.NewTuple({out.as<TupleObject>()->items[0], Value::None()})) : out;
}

std::string TypesText(Interpreter& interp, const CallArgs& args) {
  std::vector<std::string> names;
  if (!args.self.IsUnbound()) names.push_back(std::string(interp.TypeName(args.self)));
  for (Value v : args.positional) names.push_back(std::string(interp.TypeName(v)));
  for (const KeywordArg& k : args.keywords)
    names.push_back(absl::StrCat(k.name->view(), "=", interp.TypeName(k.value)));
  return absl::StrJoin(names, ", ");
}

// torch.mul(a, b, out=c): c then holds the result, whatever size it had.
Result<Value> WriteOut(Interpreter& interp, Value result, Value out) {
  if (out.IsTuple() && result.IsTuple() && out.as<TupleObject>()->size == result.as<TupleObject>()->size) {
    for (int64_t i = 0; i < out.as<TupleObject>()->size; ++i)
      COBRA_TRY(WriteOut(interp, result.as<TupleObject>()->items[i], out.as<TupleObject>()->items[i]));
    return out;
  }
  Tensor* to = AsTensor(out);
  const Tensor* from = AsTensor(result);
  if (to == nullptr || from == nullptr)
    return interp.Raise(interp.types().TypeError, "argument 'out' must be Tensor, not ", interp.TypeName(out));
  if (to->base != nullptr) return Apply(interp, graph::Op::copy, {}, {out, result}, /*inplace=*/true);
  to->type = from->type;
  to->ref = from->ref;
  to->computed = from->computed;
  to->values = from->values;
  to->is_random = from->is_random;
  to->is_drawn = from->is_drawn;
  if (to->is_const()) NoteWrite(interp, to, graph::Op::copy);
  return out;
}

Result<Value> CallTorchFunction(Interpreter& interp, const Function& function, const CallArgs& args, bool inplace) {
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    if (args.keywords[k].name->view() != "out" || !function.takes_out) continue;
    std::vector<KeywordArg> rest(args.keywords.begin(), args.keywords.end());
    rest.erase(rest.begin() + static_cast<int64_t>(k));
    COBRA_TRY_ASSIGN(Value result,
                     CallTorchFunction(interp, function, CallArgs{args.self, args.positional, rest}, inplace));
    if (args.keywords[k].value.IsNone()) return result;
    return WriteOut(interp, result, args.keywords[k].value);
  }
  absl::InlinedVector<Value, 8> with_self;
  absl::Span<const Value> positional = args.positional;
  if (!args.self.IsUnbound()) {
    with_self.push_back(args.self);
    with_self.insert(with_self.end(), args.positional.begin(), args.positional.end());
    positional = with_self;
  }
  const graph::Op first = function.overloads.empty() ? graph::Op::add : function.overloads[0].op;
  if (first == graph::Op::einsum && positional.size() > 1 && AsTensor(positional[0]) != nullptr)
    return EinsumOfLists(interp, positional);
  if (first == graph::Op::where && positional.size() == 1 && args.keywords.empty() &&
      AsTensor(positional[0]) != nullptr)
    return WhereIndices(interp, AsTensor(positional[0]));
  std::string problem;
  for (const Overload& overload : function.overloads) {
    if (!Torch(interp).AtLeast(overload.since_major, overload.since_minor)) continue;
    Bound bound;
    if (BindArguments(interp, overload, positional, args.keywords, &bound)) {
      bound.inplace = bound.inplace || inplace;
      return Run(interp, overload.op, std::move(bound));
    }
    if (bound.failed) return Failure();
    problem = bound.problem;
  }
  const std::string name = absl::StrCat(function.name, inplace ? "_" : "");
  if (function.overloads.size() == 1) return interp.Raise(interp.types().TypeError, name, "(): ", problem);
  return interp.Raise(interp.types().TypeError, name, "() received an invalid combination of arguments - got (",
                      TypesText(interp, args), ")");
}

// Returns a torch.fx.Proxy among the arguments or in a list of them; Unbound if there is none.
Value FindProxy(Interpreter& interp, absl::Span<const Value> values) {
  for (Value v : values) {
    if (v.IsInstance() && Interpreter::IsSubclassOf(interp.class_of(v), Torch(interp).proxy_class)) return v;
    if (v.IsTuple() || v.IsList()) {
      const auto* list = v.IsList() ? v.as<ListObject>() : nullptr;
      for (Value item : list != nullptr ? absl::Span<const Value>(list->items.begin(), list->items.size())
                                        : absl::Span<const Value>(v.as<TupleObject>()->span())) {
        if (item.IsInstance() && Interpreter::IsSubclassOf(interp.class_of(item), Torch(interp).proxy_class))
          return item;
      }
    }
  }
  return Value::Unbound();
}

bool HasProxy(Interpreter& interp, const CallArgs& args) {
  if (Torch(interp).proxy_class == nullptr) return false;
  if (!FindProxy(interp, args.positional).IsUnbound()) return true;
  return std::any_of(args.keywords.begin(), args.keywords.end(),
                     [&](const KeywordArg& keyword) { return !FindProxy(interp, {keyword.value}).IsUnbound(); });
}

// While torch.fx traces a network, a call with a proxy is recorded by torch.fx. Unbound if there is
// no proxy.
Result<Value> RecordedByFx(Interpreter& interp, char space, const std::string& name, const CallArgs& args) {
  std::vector<Value> positional;
  if (!args.self.IsUnbound()) positional.push_back(args.self);
  positional.insert(positional.end(), args.positional.begin(), args.positional.end());
  std::vector<Value> all = positional;
  DictObject* keywords = interp.NewDict();
  for (const KeywordArg& keyword : args.keywords) {
    all.push_back(keyword.value);
    keywords->table.SetStr(interp.heap(), keyword.name, keyword.value);
  }
  const Value proxy = FindProxy(interp, all);
  if (proxy.IsUnbound()) return proxy;
  return interp.Call(Torch(interp).proxy_call, {interp.NewStr(std::string(1, space)), interp.NewStr(name), proxy,
                                                interp.NewTuple(positional), Value(keywords)});
}

NativeFunction Wrapped(const Function& function, bool inplace, char space) {
  return [&function, inplace, space](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (Torch(interp).tracing) {
      COBRA_TRY_ASSIGN(Value proxy, RecordedByFx(interp, space, absl::StrCat(function.name, inplace ? "_" : ""), args));
      if (!proxy.IsUnbound()) return proxy;
    }
    Result<Value> result = CallTorchFunction(interp, function, args, inplace);
    if (result.ok() || !HasProxy(interp, args) || !interp.CatchException(interp.types().TypeError)) return result;
    // A program may make a graph of torch.fx by hand, outside of a trace.
    return RecordedByFx(interp, space, absl::StrCat(function.name, inplace ? "_" : ""), args);
  };
}

}  // namespace

NativeFunction TableFunction(absl::string_view name, char space) {
  return Wrapped(Functions().at({space, std::string(name)}), space == 'i' || space == 'I', space);
}

void DefineFunctions(NativeModuleBuilder& m, char space, const TorchState& state) {
  for (const auto& [key, function] : Functions()) {
    const bool inplace = key.first == 'I';
    if (key.first != space &&
        !(inplace && (space == 't' || space == 'F') && Functions().count({space, key.second}) > 0))
      continue;
    const absl::string_view module = space == 'F' ? "torch.nn.functional" : space == 't' ? "torch" : "";
    if (!InTorchVersion(module, key.second, state.version_major, state.version_minor)) continue;
    m.Function(inplace ? key.second + "_" : key.second, Wrapped(function, inplace, key.first));
  }
}

void DefineTableMethods(Interpreter& interp, NativeClassBuilder& tensor_class) {
  const TorchState& torch = Torch(interp);
  for (const auto& [key, function] : Functions()) {
    if (!InTorchVersion("torch.Tensor", key.second, torch.version_major, torch.version_minor)) continue;
    if (key.first == 'm') tensor_class.Method(key.second, Wrapped(function, false, 'm'));
    if (key.first == 'i') tensor_class.Method(key.second + "_", Wrapped(function, true, 'i'));
  }
}

}  // namespace cobra::python

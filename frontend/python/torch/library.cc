#include "frontend/python/torch/library.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/python/library/modules.h"
#include "frontend/python/torch/functions/functions.h"
#include "frontend/python/torch/layers/module.h"
#include "frontend/python/torch/names/known_names.h"
#include "frontend/python/torch/names/torch_version.h"
#include "frontend/python/torch/names/versions.h"
#include "frontend/python/torch/overrides/overrides.h"
#include "frontend/python/torch/tensor/refused.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "graph/constants/const_eval.h"

namespace cobra::python {
namespace {

// A name that PyTorch has and this library does not may be imported and passed on; using it is
// unsupported. Any other name is an AttributeError as in PyTorch, because programs call hasattr().
NativeFunction UnknownName(std::string module) {
  return [module](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    const absl::string_view name = args.positional[0].str();
    if (name == "__dict__") return Value::None();  // these modules define no names lazily
    const std::string dotted = absl::StrCat(module, ".", name);
    const TorchState& torch = Torch(interp);
    const bool later = TorchNameSince(module, name).has_value();
    if (!InTorchVersion(module, name, torch.version_major, torch.version_minor))
      return interp.Raise(interp.types().AttributeError, "module '", module, "' has no attribute '", name, "'");
    if (interp.options().natives->Find(dotted) != nullptr) {
      COBRA_TRY_ASSIGN(ModuleObject * child, interp.ImportModule(dotted));
      return child;
    }
    const std::optional<KnownName> known = FindKnownTorchName(module, name, torch.version_major, torch.version_minor);
    if (known && known->home != module && interp.options().natives->Find(known->home) != nullptr) {
      COBRA_TRY_ASSIGN(ModuleObject * home, interp.ImportModule(known->home));
      return known->attribute.empty() ? Value(home) : interp.GetAttr(home, known->attribute);
    }
    if (later || known) {
      auto* opaque = interp.heap().New<OpaqueObject>();
      opaque->cls = interp.types().opaque;
      opaque->dotted_name = interp.NewStr(dotted);
      return opaque;
    }
    return interp.Raise(interp.types().AttributeError, "module '", module, "' has no attribute '", name, "'");
  };
}

Result<void> HideName(Interpreter& interp, DictObject* globals, absl::string_view name) {
  if (interp.DictGetStr(globals, name).IsUnbound()) return {};
  COBRA_TRY(interp.DictErase(globals, interp.NewStr(name)));
  return {};
}

// _hide_later(module, globals): removes the names that a module's Python text defines but the
// target version lacks.
Result<Value> HideNamesOfLaterVersions(Interpreter& interp, const CallArgs& args) {
  absl::string_view module;
  DictObject* globals = nullptr;
  COBRA_TRY(ArgReader(interp, "_hide_later", args).Required("module", &module).Required("globals", &globals).Finish());
  for (const auto& [name, since] : LaterTorchNames(module)) {
    if (Torch(interp).AtLeast(since.first, since.second)) continue;
    COBRA_TRY(HideName(interp, globals, name));
  }
  if (module != "torch") return Value::None();  // others are mostly imports of theirs, which this library may need
  const TorchState& torch = Torch(interp);
  for (const std::string& name : GoneTorchNames(module, torch.version_major, torch.version_minor))
    COBRA_TRY(HideName(interp, globals, name));
  return Value::None();
}

// Rejects an import such as `import torch.nn.attention` if the target version has no such module.
Result<void> CheckModule(Interpreter& interp, absl::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  const TorchState& torch = Torch(interp);
  if (dot == absl::string_view::npos ||
      InTorchVersion(dotted.substr(0, dot), dotted.substr(dot + 1), torch.version_major, torch.version_minor))
    return {};
  return interp.Raise(interp.types().ModuleNotFoundError, "No module named '", dotted, "'");
}

// ---- torch

// The numbers in batch_sizes of a packed sequence.
Result<std::vector<int64_t>> BatchSizes(Interpreter& interp, Value v) {
  Tensor* tensor = AsTensor(v);
  if (tensor == nullptr)
    return interp.Raise(interp.types().TypeError, "batch_sizes of a packed sequence must be a tensor");
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "the shape of a packed sequence"));
  if (values->empty()) return interp.Raise(interp.types().RuntimeError, "batch_sizes of a packed sequence are empty");
  return std::vector<int64_t>(values->begin(), values->end());
}

// _batch_size(batch_sizes): the number of sequences. PyTorch reads the first element for it.
Result<Value> BatchSize(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(std::vector<int64_t> sizes,
                   BatchSizes(interp, args.positional.empty() ? Value::None() : args.positional[0]));
  return Value::Int(sizes[0]);
}

// Returns both outputs of a call and sets the values of the second: they are known although the
// call is recorded.
Result<Value> WithKnownSecond(Interpreter& interp, graph::Op op, graph::Attributes attributes,
                              std::vector<Value> inputs, ConstValues second) {
  COBRA_TRY_ASSIGN(Value both, Apply(interp, op, std::move(attributes), std::move(inputs), false, Returns::kTuple));
  Tensor* known = AsTensor(both.as<TupleObject>()->items[1]);
  known->values = std::make_shared<const ConstValues>(std::move(second));
  known->is_random = false;
  return both;
}

// _pack_padded_sequence(input, lengths, batch_first). REQUIRES: lengths are known, positive and not
// increasing.
Result<Value> PackPaddedSequence(Interpreter& interp, const CallArgs& args) {
  Value input;
  Tensor* lengths = nullptr;
  bool batch_first;
  ArgReader reader(interp, "_pack_padded_sequence", args);
  COBRA_TRY(
      reader.Required("input", &input).Required("lengths", &lengths).Required("batch_first", &batch_first).Finish());
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, lengths, "the shape of a packed sequence"));
  if (values->empty()) return interp.Raise(interp.types().RuntimeError, "Cannot pack empty tensors.");
  const int64_t longest = static_cast<int64_t>((*values)[0]);
  if (longest > graph::kMaxConstElements) {
    return interp.LimitReached(LimitMessage("a packed sequence", longest, graph::kMaxConstElements, "steps"));
  }
  COBRA_TRY(interp.Charge(longest / 16));
  std::vector<int64_t> sizes(static_cast<size_t>(longest), 0);
  size_t from = values->size();
  for (size_t step = 0; step < sizes.size(); ++step) {  // the sequences that have not ended yet
    while (from > 0 && (*values)[from - 1] <= static_cast<double>(step)) --from;
    sizes[step] = static_cast<int64_t>(from);
  }
  ConstValues second(sizes.begin(), sizes.end());
  return WithKnownSecond(interp, graph::Op::_pack_padded_sequence,
                         {{"batch_sizes", std::move(sizes)}, {"batch_first", batch_first}}, {input, args.positional[1]},
                         std::move(second));
}

// _pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length)
Result<Value> PadPackedSequence(Interpreter& interp, const CallArgs& args) {
  Value data, batch_sizes;
  bool batch_first;
  double padding;
  int64_t total;
  COBRA_TRY(ArgReader(interp, "_pad_packed_sequence", args)
                .Required("data", &data)
                .Required("batch_sizes", &batch_sizes)
                .Required("batch_first", &batch_first)
                .Required("padding_value", &padding)
                .Required("total_length", &total)
                .Finish());
  COBRA_TRY_ASSIGN(std::vector<int64_t> sizes, BatchSizes(interp, batch_sizes));
  ConstValues lengths(static_cast<size_t>(std::clamp<int64_t>(sizes[0], 0, graph::kMaxConstElements)), 0);
  for (int64_t size : sizes) {
    for (size_t i = 0; i < lengths.size() && static_cast<int64_t>(i) < size; ++i) ++lengths[i];
  }
  return WithKnownSecond(interp, graph::Op::_pad_packed_sequence,
                         {{"batch_sizes", std::move(sizes)},
                          {"batch_first", batch_first},
                          {"padding_value", padding},
                          {"total_length", total}},
                         {data, batch_sizes}, std::move(lengths));
}

// _rnn(name, input, states, weights, ...): lstm, gru, rnn_tanh, rnn_relu; with batch_sizes for a
// packed batch.
Result<Value> Rnn(Interpreter& interp, const CallArgs& args) {
  std::string name;
  Value input, states, weights, batch_sizes;
  bool has_biases, bidirectional, batch_first, training = false;
  int64_t num_layers;
  double dropout;
  COBRA_TRY(ArgReader(interp, "_rnn", args)
                .Required("name", &name)
                .Required("input", &input)
                .Required("hx", &states)
                .Required("params", &weights)
                .Required("has_biases", &has_biases)
                .Required("num_layers", &num_layers)
                .Required("dropout", &dropout)
                .Required("bidirectional", &bidirectional)
                .Required("batch_first", &batch_first)
                .Optional("batch_sizes", &batch_sizes)
                .Optional("training", &training)
                .Finish());
  std::vector<Value> inputs{input};
  for (Value list : {states, weights}) {
    COBRA_TRY_ASSIGN(std::vector<Value> tensors, interp.ToVector(list));
    for (Value v : tensors) {
      if (AsTensor(v) == nullptr)
        return interp.Raise(interp.types().TypeError, name, "(): expected Tensor, got ", interp.TypeName(v));
    }
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
  }
  graph::Attributes attributes{
      {"has_biases", has_biases}, {"num_layers", num_layers}, {"dropout", dropout}, {"bidirectional", bidirectional}};
  if (batch_sizes.IsNone()) {
    attributes.Append("batch_first", batch_first);
  } else {
    COBRA_TRY_ASSIGN(std::vector<int64_t> sizes, BatchSizes(interp, batch_sizes));
    attributes.Append("batch_sizes", std::move(sizes));
    inputs.push_back(batch_sizes);
  }
  if (training && dropout > 0 && num_layers > 1) attributes.Append("training", true);
  return Apply(interp, *graph::OpFromName(name), std::move(attributes), std::move(inputs), false, Returns::kTuple);
}

Result<Value> PadSequence(Interpreter& interp, const CallArgs& args) {
  std::vector<Value> sequences;
  bool batch_first;
  double padding;
  COBRA_TRY(ArgReader(interp, "pad_sequence", args)
                .Required("sequences", &sequences)
                .Required("batch_first", &batch_first)
                .Required("padding_value", &padding)
                .Finish());
  return Apply(interp, graph::Op::pad_sequence, {{"batch_first", batch_first}, {"padding_value", padding}},
               std::move(sequences));
}

Result<Value> HasValues(Interpreter& interp, const CallArgs& args) {
  Tensor* tensor = args.positional.empty() ? nullptr : AsTensor(args.positional[0]);
  if (tensor != nullptr) Refresh(interp, tensor);
  return Value::Bool(tensor != nullptr && tensor->is_const() && tensor->values != nullptr && !tensor->is_random);
}

// _is_known(tensor): whether the program can read its values.
Result<Value> IsKnown(Interpreter& interp, const CallArgs& args) {
  Tensor* tensor = args.positional.empty() ? nullptr : AsTensor(args.positional[0]);
  if (tensor == nullptr) return Value::Bool(false);
  Refresh(interp, tensor);
  return Value::Bool((tensor->is_const() || tensor->ref.is_node()) && tensor->values != nullptr && !tensor->is_random);
}

Result<Value> SetArrayClass(Interpreter& interp, const CallArgs& args) {
  Torch(interp).array_class = args.positional[0].as<ClassObject>();
  return Value::None();
}

// _unsupported(what, hint): the diagnostic for a feature that this library does not support.
Result<Value> Unsupported(Interpreter& interp, const CallArgs& args) {
  std::string what, hint;
  COBRA_TRY(ArgReader(interp, "_unsupported", args).Required("what", &what).Optional("hint", &hint).Finish());
  return interp.Unsupported(what, hint);
}

// _data_dependent(what, hint): the diagnostic for shapes that depend on values of tensors.
Result<Value> DataDependent(Interpreter& interp, const CallArgs& args) {
  std::string what, hint;
  COBRA_TRY(ArgReader(interp, "_data_dependent", args).Required("what", &what).Optional("hint", &hint).Finish());
  return interp.DataDependent(what, hint);
}

Result<Value> SetDefaultDType(Interpreter& interp, const CallArgs& args) {
  const std::optional<graph::DType> dtype =
      args.positional.empty() ? std::nullopt : AsDType(interp, args.positional[0]);
  if (!dtype || !graph::IsFloatingPoint(*dtype))
    return interp.Raise(interp.types().TypeError, "only floating-point types are supported as the default type");
  Torch(interp).default_dtype = *dtype;
  return Value::None();
}
Result<Value> GetDefaultDType(Interpreter& interp, const CallArgs&) {
  return Torch(interp).dtypes[static_cast<int>(Torch(interp).default_dtype)];
}

// ---- torch.fx: functions in C++ that its Python part needs

Result<Value> SetProxyClass(Interpreter& interp, const CallArgs& args) {
  Torch(interp).proxy_class = args.positional[0].as<ClassObject>();
  Torch(interp).proxy_call = args.positional[1];
  return Value::None();
}

Result<void> DefineFx(Interpreter&, NativeModuleBuilder& m) {
  m.Function("_set_proxy_class", SetProxyClass);
  m.Function("_set_tracing", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return Value::Bool(std::exchange(Torch(interp).tracing, args.positional[0].as_bool()));
  });
  m.Function("_is_tracing",
             [](Interpreter& interp, const CallArgs&) -> Result<Value> { return Value::Bool(Torch(interp).tracing); });
  m.Function("_unpack_count",
             [](Interpreter& interp, const CallArgs&) -> Result<Value> { return Value::Int(TakeUnpackCount(interp)); });
  m.Function("_caller_globals", [](Interpreter& interp, const CallArgs&) -> Result<Value> {
    DictObject* globals = CallerGlobals(interp);
    return globals == nullptr ? Value(interp.NewDict()) : Value(globals);
  });
  m.GetAttrHook(UnknownName("torch.fx"));
  return {};
}

// Stores the device and the classes of named outputs, which library/torch/__init__.py defines.
Result<Value> SetClasses(Interpreter& interp, const CallArgs& args) {
  Torch(interp).device = args.positional[0];
  Torch(interp).values_indices_class = args.positional[1];
  Torch(interp).named_outputs = args.positional[2];
  return Value::None();
}

Result<void> DefineTorch(Interpreter& interp, NativeModuleBuilder& m) {
  TorchState& state = Torch(interp);
  const std::string& version = interp.options().torch_version;
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  if (const absl::Status known = CheckTorchVersion(version); !known.ok()) return interp.FromStatus(known);
  if (!absl::SimpleAtoi(parts[0], &state.version_major) || !absl::SimpleAtoi(parts[1], &state.version_minor))
    return interp.FromStatus(absl::InternalError("a version without numbers"));
  DefineCreation(interp, m);
  COBRA_TRY(DefineTensorClass(interp, m));
  DefineFunctions(m, 't', state);
  m.Value("__version__", interp.NewStr(version));
  m.Value("bool", state.dtypes[static_cast<int>(graph::DType::bool_)]);
  m.Function("_rnn", Rnn).Function("_pad_sequence", PadSequence).Function("_set_classes", SetClasses);
  m.Function("_pack_padded_sequence", PackPaddedSequence)
      .Function("_pad_packed_sequence", PadPackedSequence)
      .Function("_batch_size", BatchSize);
  m.Function("_is_known", IsKnown);
  DefineAutocast(m);
  m.Function("_set_default_dtype", SetDefaultDType).Function("_get_default_dtype", GetDefaultDType);
  m.Function("_hide_later", HideNamesOfLaterVersions)
      .Function("_unsupported", Unsupported)
      .Function("_data_dependent", DataDependent);
  m.Function("_has_values", HasValues).Function("_set_array_class", SetArrayClass);
  DefineRefused(m);
  DefineValueFunctions(m);
  DefineOverrides(interp, m);
  m.GetAttrHook(UnknownName("torch"));
  return {};
}

// ---- torch.nn: classes are found by name, and the module of a class runs when the class is first
// read.

const std::map<std::string, std::string, std::less<>>& ModulesOfClasses() {
  static const auto* const kModules = [] {
    auto* modules = new std::map<std::string, std::string, std::less<>>();
    for (const EmbeddedModule& module : LibraryModules()) {
      if (!absl::StartsWith(module.name, "torch.nn.modules.")) continue;
      for (absl::string_view line : absl::StrSplit(module.source, '\n')) {
        if (!absl::ConsumePrefix(&line, "class ")) continue;
        const absl::string_view name = line.substr(0, line.find_first_of("(:"));
        (*modules)[std::string(name)] = std::string(module.name);
      }
    }
    return modules;
  }();
  return *kModules;
}

// Defines all the classes at once, for vars(nn) and dir(nn).
Result<Value> DefineClasses(Interpreter& interp, const std::string& module) {
  COBRA_TRY_ASSIGN(ModuleObject * nn, interp.ImportModule(module));
  for (const auto& [name, home] : ModulesOfClasses()) {
    const TorchState& torch = Torch(interp);
    const bool known = TorchNameSince("torch.nn", name).has_value() ||
                       FindKnownTorchName("torch.nn", name, torch.version_major, torch.version_minor).has_value();
    if (!known || !InTorchVersion("torch.nn", name, torch.version_major, torch.version_minor)) continue;
    COBRA_TRY_ASSIGN(ModuleObject * found, interp.ImportModule(home));
    COBRA_TRY_ASSIGN(Value cls, interp.GetAttr(found, name));
    nn->attrs->table.SetStr(interp.heap(), interp.Intern(name), cls);
  }
  return Value::None();
}

NativeFunction LazyClass(std::string module) {
  return [module](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    const absl::string_view name = args.positional[0].str();
    if (name == "__dict__") return DefineClasses(interp, module);
    const TorchState& torch = Torch(interp);
    const bool only_later = !InTorchVersion("torch.nn", name, torch.version_major, torch.version_minor);
    const auto home = ModulesOfClasses().find(name);
    if (home != ModulesOfClasses().end() && !only_later) {
      COBRA_TRY_ASSIGN(ModuleObject * found, interp.ImportModule(home->second));
      COBRA_TRY_ASSIGN(Value cls, interp.GetAttr(found, name));
      COBRA_TRY_ASSIGN(ModuleObject * nn, interp.ImportModule(module));
      nn->attrs->table.SetStr(interp.heap(), interp.Intern(name), cls);  // later reads find it directly
      return cls;
    }
    if (name == "Parameter" || name == "UninitializedParameter" || name == "UninitializedBuffer" ||
        (name == "Buffer" && Torch(interp).AtLeast(2, 5))) {
      COBRA_TRY_ASSIGN(ModuleObject * found, interp.ImportModule("torch.nn.parameter"));
      return interp.GetAttr(found, name);
    }
    if (name == "DataParallel") {
      COBRA_TRY_ASSIGN(ModuleObject * found, interp.ImportModule("torch.nn.parallel"));
      return interp.GetAttr(found, name);
    }
    return UnknownName(module)(interp, args);
  };
}

Result<void> DefineLayers(Interpreter&, NativeModuleBuilder& m) {
  m.GetAttrHook(LazyClass(std::string(m.module()->name->view())));
  return {};
}

// ---- the other modules with a part in C++

// Defines the functions of one space (a letter) in functions.def.
template <char kSpace>
Result<void> DefineSpace(Interpreter& interp, NativeModuleBuilder& m) {
  COBRA_TRY(interp.ImportModule("torch"));
  DefineFunctions(m, kSpace, Torch(interp));
  m.GetAttrHook(UnknownName(std::string(m.module()->name->view())));
  return {};
}

Result<void> DefineFunctional(Interpreter& interp, NativeModuleBuilder& m) {
  COBRA_TRY(interp.ImportModule("torch"));
  Torch(interp).functional = m.module();
  return DefineSpace<'F'>(interp, m);
}

Result<void> DefineVisionOperators(Interpreter& interp, NativeModuleBuilder& m) {
  COBRA_TRY(interp.ImportModule("torch"));
  DefineFunctions(m, 'v', Torch(interp));
  return {};
}

// Its Python text has a __getattr__ of its own.
Result<void> DefineJit(Interpreter&, NativeModuleBuilder& m) {
  m.Function("_unknown_name", UnknownName("torch.jit"));
  return {};
}

Result<void> DefineModule(Interpreter& interp, NativeModuleBuilder& m) {
  COBRA_TRY(interp.ImportModule("torch.nn.parameter"));
  DefineModuleClass(interp, m);
  m.GetAttrHook(UnknownName("torch.nn.modules.module"));
  return {};
}

Result<void> DefineParameter(Interpreter& interp, NativeModuleBuilder& m) {
  COBRA_TRY(interp.ImportModule("torch"));
  return DefineParameterClass(interp, m);
}

// What C++ defines in a module before its Python text runs, and how names that the module lacks are
// handled. Every module has a file; it is empty if no part of the module is Python
// (library/modules.h).
struct NativePart {
  absl::string_view module;
  Result<void> (*define)(Interpreter& interp, NativeModuleBuilder& m);
};
constexpr NativePart kNativeParts[] = {
    {"torch", DefineTorch},
    {"torch.fft", DefineSpace<'f'>},
    {"torch.fx", DefineFx},
    {"torch.jit", DefineJit},
    {"torch.linalg", DefineSpace<'l'>},
    {"torch.nn", DefineLayers},
    {"torch.nn.functional", DefineFunctional},
    {"torch.nn.modules", DefineLayers},
    {"torch.nn.modules.module", DefineModule},
    {"torch.nn.parameter", DefineParameter},
    {"torch.ops.torchvision", DefineVisionOperators},
    {"torch.special", DefineSpace<'s'>},
};

// Run after the Python text of a module; torch itself calls it.
constexpr absl::string_view kHideLater =
    "from torch import _hide_later\n_hide_later(__name__, globals())\ndel _hide_later\n";

// Run after the Python text of a module whose functions can be overridden (overrides.h).
constexpr absl::string_view kOverridable =
    "from torch import _overridable\n_overridable(__name__, globals())\ndel _overridable\n";

bool HasOverridables(absl::string_view module) {
  for (const char* name : {"torch.fft", "torch.linalg", "torch.nn.functional", "torch.nn.init", "torch.ops.torchvision",
                           "torch.special"}) {
    if (module == name) return true;
  }
  return false;
}

Result<void> Define(Interpreter& interp, NativeModuleBuilder& m, const EmbeddedModule& module) {
  const bool is_torch = absl::StartsWith(module.name, "torch");
  if (is_torch) COBRA_TRY(CheckModule(interp, module.name));
  const auto* part = std::find_if(std::begin(kNativeParts), std::end(kNativeParts),
                                  [&](const NativePart& p) { return p.module == module.name; });
  if (part != std::end(kNativeParts)) {
    COBRA_TRY(part->define(interp, m));
  } else if (is_torch && module.name != "torch.ops") {  // whose names are operators of anybody's
    m.GetAttrHook(UnknownName(std::string(module.name)));
  }
  if (!module.source.empty()) m.Source(module.source);
  if (HasOverridables(module.name)) m.Source(kOverridable);
  if (module.source.empty()) return {};
  if (is_torch && module.name != "torch" && !LaterTorchNames(module.name).empty()) m.Source(kHideLater);
  return {};
}

bool HasTorchModule(Interpreter& interp, absl::string_view name) {
  return IsKnownTorchModule(name) || absl::StartsWith(name, "torch.ops.") || Torch(interp).AtLeast(2, 0);
}

}  // namespace

void AddTorch(NativeRegistry* registry) {
  for (const EmbeddedModule& module : LibraryModules()) {
    NativeModule native;
    native.name = std::string(module.name);
    native.define = [module](Interpreter& interp, NativeModuleBuilder& m) { return Define(interp, m, module); };
    native.open = module.name == "torch" || module.name == "numpy" || module.name == "scipy";
    if (module.name == "torch") native.has_module = HasTorchModule;
    native.source = module.source;
    registry->Add(std::move(native));
  }
}

}  // namespace cobra::python

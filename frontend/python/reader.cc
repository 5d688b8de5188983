#include "frontend/python/reader.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/bytes/hash.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/python/cached_tokens.h"
#include "frontend/python/input_spec.h"
#include "frontend/python/interpreter_pool.h"
#include "frontend/python/kept_constants.h"
#include "frontend/python/list_models.h"
#include "frontend/python/nested_tensors.h"
#include "frontend/python/reader_errors.h"
#include "frontend/python/request_limits.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/torch/layers/layers.h"
#include "frontend/python/torch/layers/module_state.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "graph/exact_bytes.h"

namespace cobra::python {
namespace {

class Reader {
 public:
  Reader(const SourceRequest& request, std::vector<InputSpec> inputs, TorchState* state)
      : request_(request), inputs_(std::move(inputs)), torch_(*state) {
    torch_.keep_values = request.keep_values;
  }

  // The whole sequence: load, build, prepare, run.
  Result<void> Read(Interpreter& interp) {
    COBRA_TRY(interp.ImportModule("torch"));
    COBRA_TRY(interp.ImportModule("torch.nn.modules.module"));
    COBRA_TRY_ASSIGN(ModuleObject * module, interp.LoadFile(request_.file));
    progress_.phase = ReadProgress::Phase::kEntry;
    COBRA_TRY(ChooseEntry(interp, module));
    Result<Value> entry = interp.EvalExpression(entry_, module);
    if (!entry.ok()) progress_.candidates = ModelList(ModelNames(interp, module).names);
    COBRA_TRY_ASSIGN(Value model, std::move(entry));
    if (IsModule(interp, model)) {
      COBRA_TRY(interp.CallMethod(model, request_.training ? "train" : "eval"));
      COBRA_TRY(NameTensors(interp, model));
    } else if (request_.method == "forward") {
      COBRA_TRY(CheckCallable(interp, model));
    }
    progress_.signature = SignatureOf(interp, model, request_.method);
    if (model.IsFunction()) progress_.called_function = CallText(interp, entry_, model);
    torch_.module_stack.push_back(&torch_.root);
    const Result<void> ran = Run(interp, module, model);
    const bool has_time = interp.steps_used() < interp.limits().steps / 2;
    if (!ran.ok() || !has_time || !KeepsConstants(interp, model)) return ran;
    return RunAgain(interp, module, model);
  }

  graph::Graph Build() && { return std::move(torch_.builder).Build(std::move(outputs_)); }
  ReadProgress& progress() { return progress_; }

 private:
  static constexpr char kMaker[] = "a function that makes the model";

  Result<void> Run(Interpreter& interp, ModuleObject* module, Value model) {
    std::vector<Value> positional;
    std::vector<KeywordArg> keywords;
    progress_.phase = ReadProgress::Phase::kArguments;
    COBRA_TRY(MakeArguments(interp, module, &positional, &keywords));
    if (request_.cached_tokens > 0) {
      COBRA_TRY_ASSIGN(const Value cache, CacheOfTokens(interp, module, model, inputs_, request_.cached_tokens));
      keywords.push_back({interp.Intern("past_key_values"), cache});
    }
    progress_.phase = ReadProgress::Phase::kRun;
    torch_.recording = true;
    Result<Value> out = request_.method == "forward"
                            ? interp.Call(model, positional, keywords)
                            : interp.CallMethod(model, interp.Intern(request_.method), positional, keywords);
    torch_.recording = false;
    if (!out.ok()) {
      NoteFailure(interp, &progress_);
      if (request_.inputs.empty() && progress_.in_arguments) FindExample(interp, module, model);
      if (MakesModelWithoutInputs(interp, model)) return NotCalled(interp, kMaker, model);
      return Failure();
    }
    if (!IsModule(interp, model) && IsModule(interp, *out)) return NotCalled(interp, kMaker, model);
    return NestedTensors().Visit(interp, *out, [&](Tensor* tensor) { outputs_.push_back(RefOf(interp, tensor)); });
  }

  // What is timed is not the first run: what that one made and kept is there now. If the network
  // does not run twice, the first run stands.
  Result<void> RunAgain(Interpreter& interp, ModuleObject* module, Value model) {
    graph::GraphBuilder first = std::exchange(torch_.builder, graph::GraphBuilder(interp.limits().graph));
    std::vector<graph::ValueRef> outputs = std::exchange(outputs_, {});
    torch_.ForgetRun();
    interp.heap().ForEach<Tensor>([](Tensor& tensor) {
      tensor.is_drawn = tensor.is_drawn || tensor.ref.is_node();  // it depends on what was computed
      tensor.ref = tensor.computed = graph::ValueRef::None();
    });
    num_input_tensors_ = 0;
    if (IsModule(interp, model)) COBRA_TRY(NameTensors(interp, model));
    if (Run(interp, module, model).ok()) return {};
    if (!interp.CatchException(interp.types().BaseException)) return Failure();
    torch_.builder = std::move(first);
    outputs_ = std::move(outputs);
    return {};
  }

  // The entry that was given; without one, the only model of the file, if it needs no arguments.
  Result<void> ChooseEntry(Interpreter& interp, ModuleObject* module) {
    entry_ = request_.entry;
    if (!entry_.empty()) return {};
    ModelChoice choice = ModelNames(interp, module);
    entry_ = choice.only;
    if (!entry_.empty()) return {};
    std::string hint = "an expression whose value is the model";
    if (!choice.names.empty()) absl::StrAppend(&hint, "; ", request_.file, " has ", ModelList(std::move(choice.names)));
    return interp.FromStatus(DiagnosticToStatus({Diagnostic::Kind::kUsage, "entry: is empty", std::move(hint)}));
  }

  Failure NotCalled(Interpreter& interp, absl::string_view what, Value model) const {
    return interp.FromStatus(
        DiagnosticToStatus({Diagnostic::Kind::kUsage, absl::StrCat(entry_, ": is ", what, ", not the model itself"),
                            absl::StrCat("call it: ", CallText(interp, entry_, model))}));
  }

  // Runs `f` while the exception that is pending is put aside. It is pending again afterwards,
  // unless `f` returns true.
  template <typename F>
  static bool WithoutException(Interpreter& interp, F f) {
    Value exception;
    if (!interp.CatchException(interp.types().BaseException, &exception)) return false;
    auto* e = exception.as<ExceptionObject>();
    const Value context = e->context;
    if (f()) return true;
    (void)interp.CatchException(interp.types().BaseException);
    (void)interp.RaiseValue(exception);
    e->context = context;
    return false;
  }

  // For a function that failed on the inputs and takes no arguments: whether a call without inputs
  // returns the model. If it does not, the exception stays pending.
  bool MakesModelWithoutInputs(Interpreter& interp, Value model) const {
    if (inputs_.empty() || !model.IsFunction() || !absl::EndsWith(progress_.called_function, "()")) return false;
    return WithoutException(interp, [&] {
      const Result<Value> made = interp.Call(model, CallArgs());
      return made.ok() && IsModule(interp, *made);
    });
  }

  // While the exception that the model raised without inputs is pending; it stays so.
  void FindExample(Interpreter& interp, ModuleObject* module, Value model) {
    WithoutException(interp, [&] {
      progress_.example = FindExampleInputs(interp, module, model, request_.method);
      return false;
    });
  }

  // A model that is not a torch.nn.Module is called with the inputs, so it must be callable.
  Result<void> CheckCallable(Interpreter& interp, Value model) const {
    if (model.IsClass() && Interpreter::IsSubclassOf(model.as<ClassObject>(), torch_.module_class)) {
      return NotCalled(interp, "the class", model);
    }
    if (MakesModel(interp, model)) return NotCalled(interp, kMaker, model);
    if (model.IsOpaque()) {
      return OpaqueUsed(interp, model.as<OpaqueObject>()->dotted_name->view(), "running ");
    }
    if (interp.IsCallable(model)) return {};
    const absl::string_view type = interp.TypeName(model);
    const bool is_vowel = absl::StrContains("aeiouAEIOU", type.substr(0, 1));
    return interp.FromStatus(DiagnosticToStatus(
        {Diagnostic::Kind::kUsage, absl::StrCat(entry_, ": is ", is_vowel ? "an " : "a ", type, ", not a model"),
         "the entry is an expression whose value is a torch.nn.Module: 'Net()'"}));
  }

  bool IsModule(Interpreter& interp, Value v) const {
    return v.IsInstance() && Interpreter::IsSubclassOf(interp.class_of(v), torch_.module_class);
  }

  // Calls `visit`(name, value) for each entry whose key is a str.
  template <typename F>
  static Result<void> ForEachItem(Interpreter& interp, DictObject* dict, F visit) {
    if (dict == nullptr) return {};
    for (size_t i = 0; i < dict->table.entry_count(); ++i) {
      const auto& entry = dict->table.entry(i);
      if (entry.key.IsUnbound() || !entry.key.IsStr()) continue;
      COBRA_TRY(interp.Step());
      visit(entry.key.str(), entry.value);
    }
    return {};
  }

  // Names the tensors of one module. Every parameter enters the graph under the first name that
  // leads to it.
  Result<void> NameTensorsOf(Interpreter& interp, Value module, absl::string_view prefix) {
    std::string longest;
    for (ModuleSlot slot : {kParametersSlot, kBuffersSlot}) {
      const bool parameters = slot == kParametersSlot;
      COBRA_TRY(ForEachItem(interp, ModuleRegistry(interp, module, slot), [&](absl::string_view name, Value value) {
        Tensor* tensor = AsTensor(value);
        if (tensor == nullptr) return;
        interp.heap().Allocate(prefix.size() + name.size());  // of its name in the graph
        if (prefix.size() + name.size() > longest.size()) longest = absl::StrCat(prefix, name);
        // The tensor already has a name.
        if (tensor->ref.kind == graph::ValueRef::Kind::kParameter ||
            tensor->ref.kind == graph::ValueRef::Kind::kBuffer) {
          if (parameters && tensor->ref.kind == graph::ValueRef::Kind::kParameter)
            torch_.builder.AddParameterAlias(absl::StrCat(prefix, name), tensor->ref);
          return;
        }
        if (tensor->is_uninitialized) {
          torch_.uninitialized_names.emplace(tensor, absl::StrCat(prefix, name));
          return;
        }
        tensor->ref = parameters ? torch_.builder.AddParameter(absl::StrCat(prefix, name), tensor->type)
                                 : torch_.builder.AddBuffer(absl::StrCat(prefix, name), tensor->type);
        if (!parameters) KeepValues(interp, tensor);
      }));
    }
    return CheckNameLength(interp, "parameter or buffer", longest);
  }

  NetworkModule Described(Interpreter& interp, Value module, std::string path) const {
    NetworkModule described{std::move(path)};
    described.is_library_module = IsLibraryMethod(interp.LookupClass(module.object()->cls, torch_.names.forward));
    const uint32_t mark = module.object()->mark;
    if (described.is_library_module && mark > 0) described.made = torch_.constructions[mark - 1];
    return described;
  }

  // Depth first as in named_modules(). The stack is explicit because the program determines how
  // deep modules nest.
  Result<void> NameTensors(Interpreter& interp, Value model) {
    std::vector<std::pair<std::string, Value>> stack{{"", model}};
    std::string prefix;
    while (!stack.empty()) {
      auto [path, module] = std::move(stack.back());
      stack.pop_back();
      const size_t length = path.size();
      prefix.assign(path);
      if (!prefix.empty()) prefix.push_back('.');
      if (!torch_.modules.emplace(module.object(), Described(interp, module, std::move(path))).second) continue;
      interp.heap().Allocate(length + 64);  // paths of deeply nested modules add up
      COBRA_TRY(interp.Step());
      COBRA_TRY(NameTensorsOf(interp, module, prefix));
      const size_t first_child = stack.size();
      std::string longest;
      COBRA_TRY(
          ForEachItem(interp, ModuleRegistry(interp, module, kModulesSlot), [&](absl::string_view name, Value value) {
            if (IsModule(interp, value)) stack.emplace_back(absl::StrCat(prefix, name), value);
            if (prefix.size() + name.size() > longest.size()) longest = absl::StrCat(prefix, name);
          }));
      COBRA_TRY(CheckNameLength(interp, "module", longest));
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first_child), stack.end());
    }
    return {};
  }

  // Tensors are named after their keyword and their keys: batch.user. Those without either are
  // input0, input1, ...
  Value MakeInput(Interpreter& interp, const InputValue& input, const std::string& name, bool is_nested) {
    if (input.kind == InputValue::Kind::kNone) return Value::None();
    if (input.kind == InputValue::Kind::kTensor) {
      const std::string own = name.empty() ? absl::StrCat("input", num_input_tensors_) : name;
      ++num_input_tensors_;
      return NewGraphTensor(interp, input.tensor, torch_.builder.AddInput(own, input.tensor));
    }
    DictObject* const dict = input.kind == InputValue::Kind::kDict ? interp.NewDict() : nullptr;
    std::vector<Value> items;
    for (size_t i = 0; i < input.items.size(); ++i) {
      std::string part = dict != nullptr ? input.keys[i] : is_nested && !name.empty() ? absl::StrCat(i) : "";
      if (!part.empty() && !name.empty()) part = absl::StrCat(name, ".", part);
      items.push_back(MakeInput(interp, input.items[i], part.empty() ? name : part, /*is_nested=*/true));
      if (dict != nullptr) dict->table.SetStr(interp.heap(), interp.Intern(input.keys[i]), items.back());
    }
    if (dict != nullptr) return Value(dict);
    return input.kind == InputValue::Kind::kList ? Value(interp.NewList(items)) : Value(interp.NewTuple(items));
  }

  Result<void> MakeArguments(Interpreter& interp, ModuleObject* module, std::vector<Value>* positional,
                             std::vector<KeywordArg>* keywords) {
    for (const InputSpec& spec : inputs_) {
      const Value value = MakeInput(interp, spec.value, spec.name, /*is_nested=*/false);
      if (spec.name.empty()) {
        positional->push_back(value);
      } else {
        keywords->push_back({interp.Intern(spec.name), value});
      }
    }
    for (const auto& [name, expression] : request_.arguments) {
      COBRA_TRY_ASSIGN(Value value, interp.EvalExpression(expression, module));
      keywords->push_back({interp.Intern(name), value});
    }
    return {};
  }

  const SourceRequest& request_;
  std::string entry_;  // request_.entry, or what was chosen
  const std::vector<InputSpec> inputs_;
  TorchState& torch_;
  ReadProgress progress_;
  int64_t num_input_tensors_ = 0;
  std::vector<graph::ValueRef> outputs_;
};

int64_t MaxRank(const InputValue& value) {
  int64_t rank = value.tensor.rank();
  for (const InputValue& item : value.items) rank = std::max(rank, MaxRank(item));
  return rank;
}

absl::StatusOr<std::vector<InputSpec>> ParseInputs(const SourceRequest& request, const Limits& limits) {
  COBRA_RETURN_IF_ERROR(CheckRequest(request, limits));
  std::vector<InputSpec> inputs;
  auto tensors = static_cast<int64_t>(request.arguments.size());
  for (const std::string& text : request.inputs) {
    COBRA_ASSIGN_OR_RETURN(InputSpec spec, ParseInput(text));
    const absl::string_view shown = absl::string_view(text).substr(0, 40);
    if (const int64_t rank = MaxRank(spec.value); rank > limits.graph.max_rank)
      return UserError(Diagnostic::Kind::kLimit,
                       LimitMessage(absl::StrCat(shown, "...: an input"), rank, limits.graph.max_rank, "dimensions"));
    tensors += spec.value.num_tensors();
    if (tensors > limits.inputs)
      return UserError(Diagnostic::Kind::kLimit,
                       LimitMessage(absl::StrCat(shown, "...: with the tensors of this input"), limits.inputs,
                                    "inputs and arguments"));
    inputs.push_back(std::move(spec));
  }
  return inputs;
}

absl::StatusOr<graph::Graph> ReadOn(Machine* machine, const SourceRequest& request, std::vector<InputSpec> inputs,
                                    ReadUsage* usage) {
  Reader reader(request, std::move(inputs), &*machine->torch);
  const absl::Status status = machine->interpreter->Run([&](Interpreter& i) { return reader.Read(i); });
  if (usage != nullptr) {
    usage->steps = machine->interpreter->steps_used();
    usage->library_steps = machine->interpreter->steps_used(StepAccount::kLibrary);
    usage->memory_bytes = machine->interpreter->heap().used_bytes();
  }
  if (!status.ok()) {
    reader.progress().put_aside = machine->interpreter->importer().NamesPutAside();
    return ExplainFailure(status, request, reader.progress());
  }
  return std::move(reader).Build();
}

Hash128 OutcomeOf(const absl::StatusOr<graph::Graph>& graph) {
  return HashBytes(graph.ok() ? graph::ExactBytes(*graph) : absl::StrCat("error ", graph.status().ToString()));
}

}  // namespace

absl::StatusOr<graph::Graph> ReadPythonModel(const SourceRequest& request, const Limits& limits, ReadUsage* usage) {
  // An input that cannot be parsed is reported before the libraries are imported.
  COBRA_ASSIGN_OR_RETURN(std::vector<InputSpec> inputs, ParseInputs(request, limits));
  for (;;) {
    COBRA_ASSIGN_OR_RETURN(std::unique_ptr<InterpreterLease> lease, LeaseInterpreter(request, limits));
    absl::StatusOr<graph::Graph> graph = ReadOn(&lease->machine(), request, inputs, usage);
    if (usage != nullptr) usage->warm = lease->warm();
    if (lease->Trusts([&graph] { return OutcomeOf(graph); })) return graph;
  }
}

absl::StatusOr<graph::Graph> ReadPythonModelOn(Machine* machine, const SourceRequest& request) {
  COBRA_ASSIGN_OR_RETURN(std::vector<InputSpec> inputs, ParseInputs(request, machine->interpreter->limits()));
  return ReadOn(machine, request, std::move(inputs), /*usage=*/nullptr);
}

absl::StatusOr<ModelChoice> ListModels(const SourceRequest& request, const Limits& limits) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<InterpreterLease> lease, LeaseInterpreter(request, limits));
  ModelChoice choice;
  const absl::Status status = lease->machine().interpreter->Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY(interp.ImportModule("torch"));
    COBRA_TRY(interp.ImportModule("torch.nn.modules.module"));
    COBRA_TRY_ASSIGN(ModuleObject * module, interp.LoadFile(request.file));
    choice = ModelNames(interp, module);
    return {};
  });
  if (!status.ok()) return ExplainFailure(status, request, ReadProgress());
  return choice;
}

std::string ModelList(std::vector<std::string> models) {
  constexpr size_t kMost = 12;
  const bool more = models.size() > kMost;
  models.resize(std::min(models.size(), kMost));
  return absl::StrCat(absl::StrJoin(models, ", "), more ? " ..." : "");
}

}  // namespace cobra::python

// The tensor that programs see: a type, where its value comes from in the graph, and, for small
// constants, the values.
//
// A tensor is a CONSTANT until it depends on a graph input or on a parameter while the network
// runs: then it names an output of the call that makes it. The values of calls on constants are
// computed at once (const_eval.h), where they are few: a program may read them (`.item()`, bool(),
// tolist()), but not those of other tensors. While the network runs, PyTorch runs calls on
// constants too, and they are calls of the graph.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_TENSOR_TENSOR_H_
#define COBRA_FRONTEND_PYTHON_TORCH_TENSOR_TENSOR_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "graph/attributes.h"
#include "graph/builder/builder.h"
#include "graph/shape/layout.h"

namespace cobra::python {

// Values of a constant in row-major order; integers below 2^53 and booleans as doubles too.
using ConstValues = std::vector<double>;

// The values of a constant, or null. If all elements are equal, the vector is created on demand. If
// they are too many to keep, it is null, and uniform() says their value.
class TensorValues {
 public:
  using Shared = std::shared_ptr<const ConstValues>;
  TensorValues() = default;
  TensorValues(Shared values) : values_(std::move(values)) {}  // NOLINT: implicit on purpose
  TensorValues(std::nullptr_t) {}                              // NOLINT
  // `n` times `value`.
  static TensorValues Filled(Interpreter& interp, int64_t n, double value);

  const Shared& shared() const;
  operator const Shared&() const { return shared(); }  // NOLINT
  const ConstValues* get() const { return shared().get(); }
  const ConstValues& operator*() const { return *shared(); }
  const ConstValues* operator->() const { return get(); }
  // The value of all elements, if they are known to be equal. Looks through a vector.
  std::optional<double> uniform() const;
  // Of a vector that nothing else refers to.
  size_t OwnBytes() const { return values_ != nullptr && values_.use_count() == 1 ? values_->size() * 8 : 0; }
  bool operator==(std::nullptr_t) const { return values_ == nullptr && interp_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return !(*this == nullptr); }

 private:
  mutable Shared values_;
  mutable Interpreter* interp_ = nullptr;  // set until the vector is created
  int64_t count_ = 0;  // of equal elements; their vector is shared (TorchState::fills), so nobody writes to it
  double value_ = 0;
};

// A view of a constant, as the call that created it from `parent` (null: from the base itself). A
// write through either tensor is visible through the other (const_views.cc).
struct ConstView {
  graph::Op op;
  graph::Attributes attributes;
  size_t output = 0;
  std::vector<graph::TensorType> inputs;  // of the call
  std::shared_ptr<const ConstView> parent;
};

struct Tensor : NativeObject {
  static constexpr char kTag = 0;
  explicit Tensor(absl::string_view label = "") : NativeObject(&kTag), label(label) {}
  graph::TensorType type;
  graph::ValueRef ref;  // kNone: a constant that the graph does not know (yet)
  // Of a constant that a call of the graph makes: its output. kNone: it was made before the network
  // ran.
  graph::ValueRef computed;
  // Of a constant; null if too large, random or loaded from a file. Of a node's output: known all
  // the same
  TensorValues values;
  InstanceObject* base = nullptr;         // for a view: the tensor whose storage it shares
  std::shared_ptr<const ConstView> view;  // of a view of a constant with known values
  uint32_t writes = 0;                    // for a constant base: number of writes to it, directly or through a view
  uint32_t seen = 0;                      // for a view: `writes` of its base when it got its values
  std::string label;                      // for a constant: the function that created it ("arange"), for the graph
  bool is_random = false;                 // values differ from run to run
  bool is_drawn = false;  // random, and drawn while the network runs, so computations with it are part of the network
  // The call that created it returned a view of a tensor that is not visible in Python (apply.cc).
  bool has_hidden_base = false;
  bool is_conj = false;  // the numbers are to be conjugated when they are read (x.conj()); see resolve_conj()
  bool requires_grad = false;
  bool is_uninitialized = false;  // parameter of a lazy module: the first call determines the shape
  bool is_reordered = false;      // for a base: reordered as by x.t_(), after which earlier views see other elements

  // A constant: depends on no input and on no parameter of the network.
  bool is_const() const {
    return !is_drawn && (ref.kind == graph::ValueRef::Kind::kNone || ref.kind == graph::ValueRef::Kind::kBuffer ||
                         ref.kind == graph::ValueRef::Kind::kConstant);
  }
  NativeObject* Copy(Interpreter& interp) override;
};

template <>
inline Tensor* NativeCast<Tensor>(Value v) {
  if (!v.IsInstance()) return nullptr;
  NativeObject* native = v.as<InstanceObject>()->native;
  return native != nullptr && native->tag == &Tensor::kTag ? static_cast<Tensor*>(native) : nullptr;
}

// The names under which a module keeps its state (module_state.h), as the interpreter's own
// strings, and the methods of every module that a class may replace.
struct ModuleNames {
  std::array<StrObject*, 10> slots = {};  // by ModuleSlot
  StrObject* forward = nullptr;
  StrObject *torch_function = nullptr, *torch_dispatch = nullptr;  // "__torch_function__" ...
  Value init, setattr, getattr;
};

// Whether the constructor of a class can be replaced by the library's native one: no method that it
// would call is overridden (layers.cc).
struct LayerPlan {
  uint32_t epoch = 0;  // of the classes, when this was computed
  bool plain = false;
  bool resets = false;  // reset_parameters() is defined by the program
};

// Positions of the attributes that a layer reads in instances of a class (SelfAttributes in
// layers.h).
struct AttributePlaces {
  uint32_t epoch = 0;
  bool plain = false;
  std::array<uint16_t, 12> places = {};
};

// A line of the program.
struct SourceLine {
  const CodeUnit* unit = nullptr;
  int line = 0;
  friend bool operator==(const SourceLine& a, const SourceLine& b) { return a.unit == b.unit && a.line == b.line; }
};

// A module of the network that is read.
struct NetworkModule {
  std::string path;                // "layer1.0.conv1"
  bool is_library_module = false;  // its forward() is torch.nn's own
  SourceLine made;                 // where the program constructed it; only for modules of the library
};

// Objects that the native modules create at import; a part of the interpreter's image.
struct TorchLibrary {
  ClassObject* tensor_class = nullptr;
  ClassObject* parameter_class = nullptr;
  ClassObject* size_class = nullptr;
  ClassObject* dtype_class = nullptr;
  ClassObject* module_class = nullptr;
  ClassObject* array_class = nullptr;                    // numpy.ndarray; null before numpy is imported
  ClassObject* buffer_class = nullptr;                   // torch.nn.Buffer; null before its first use
  Value global_forward_pre_hooks, global_forward_hooks;  // dicts
  ModuleNames names;
  ModuleObject* functional = nullptr;  // torch.nn.functional
  HeapVector<StrObject*> index_names;  // "0", "1" ...: names of modules in containers
  DictTable module_prototype;          // of a new module's __dict__
  // torch.fx.Proxy, and the function that records calls with a Proxy; null before torch.fx is
  // imported
  ClassObject* proxy_class = nullptr;
  Value proxy_call;
  Value dtypes[12] = {};          // by DType
  Value device;                   // torch.device("cpu")
  Value values_indices_class;     // makes (values, indices)
  Value named_outputs;            // makes the other named tuples by the operator's name
  Value disabled_torch_function;  // what a class has as __torch_function__ that sees no calls
  graph::DType default_dtype = graph::DType::float32;
  HeapVector<SourceLine> constructions;  // Object::mark of a module is a position in here, from 1 (module_state.h)
  int version_major = 1, version_minor = 13;
};

// The state of torch.autocast('cpu') (autocast.cc).
struct AutocastState {
  bool enabled = false;
  bool caches = true;
  graph::DType dtype = graph::DType::bfloat16;
  int depth = 0;                                    // context managers that are open
  absl::flat_hash_map<const Tensor*, Value> casts;  // of parameters, until the outermost context manager exits
};

// The torch library's state of one interpreter. InterpreterOptions::host points to it.
struct TorchState : TorchLibrary {
  explicit TorchState(GraphLimits limits = {}) : builder(limits) {}

  // ---- the run of the network
  graph::GraphBuilder builder;
  bool keep_values = false;  // SourceRequest::keep_values
  std::optional<graph::LayoutTracker> layout{std::in_place, builder.graph()};
  bool recording = false;
  bool has_constant_calls = false;  // a call of the graph makes a constant (Tensor::computed)
  bool tracing = false;             // by torch.fx
  absl::flat_hash_map<const Object*, NetworkModule> modules;
  absl::flat_hash_map<const Tensor*, std::string> uninitialized_names;  // of lazy modules that were not called yet
  std::vector<const NetworkModule*> module_stack;                       // innermost last; never empty while recording
  NetworkModule root;                                                   // path ""
  // The innermost module that an exception propagated out of, and the exception (null: a failure
  // that a program cannot catch).
  const std::string* failed_module = nullptr;
  const Object* failure = nullptr;
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>> files;
  struct NamedFile {
    const CodeUnit* unit = nullptr;
    std::shared_ptr<const std::string> name;
  };
  NamedFile origin_file, made_file;  // of the latest call, and of the latest layer with a construction site
  int64_t next_constant = 0;
  AutocastState autocast;
  // How often __torch_function__ of classes was switched off, and that of modes; the modes that
  // were entered, the innermost last (overrides.cc).
  int overrides_off = 0, modes_off = 0;
  std::vector<Value> function_modes;
  // By declaration (layers.cc) and class.
  absl::flat_hash_map<std::pair<const void*, const ClassObject*>, LayerPlan> layer_plans;
  absl::flat_hash_map<std::pair<const void*, const ClassObject*>, AttributePlaces> attribute_places;
  // Tensors of one value everywhere share their values: networks zero thousands of weights.
  absl::flat_hash_map<std::pair<int64_t, double>, std::shared_ptr<const ConstValues>> fills;

  // Before the network runs a second time, with another builder.
  void ForgetRun() {
    layout.emplace(builder.graph());
    modules.clear();
    uninitialized_names.clear();
    next_constant = 0;
    has_constant_calls = false;
    autocast.casts.clear();
  }
  bool AtLeast(int major, int minor) const {
    return version_major != major ? version_major > major : version_minor >= minor;
  }
};

inline TorchState& Torch(Interpreter& interp) { return *interp.host<TorchState>(); }
inline Tensor* AsTensor(Value v) { return NativeCast<Tensor>(v); }
// Whether `v` is the placeholder that torch.load() returns instead of the file's contents
// (library/torch/serialization.py).
inline bool IsUnread(Interpreter& interp, Value v) { return interp.TypeName(v) == "_Unread"; }
inline Failure UnreadTensor(Interpreter& interp) {
  return interp.Unsupported("a tensor out of a checkpoint file (torch.load() reads nothing here)",
                            "make one of that shape instead (torch.randn): a latency does not depend on its values");
}

// A bool, an int or a float, also of a subclass (np.int64, a member of an IntEnum); an int beyond
// int64 as a double. nullopt if it is not a number.
std::optional<graph::AttributeValue> AsNumber(Value v);

InstanceObject* NewTensor(Interpreter& interp, graph::TensorType type, TensorValues values = nullptr,
                          absl::string_view label = "constant");
InstanceObject* NewGraphTensor(Interpreter& interp, graph::TensorType type, graph::ValueRef ref);
// A fast path for tensor.normal_(), or with `fill` for tensor.fill_(fill), if the tensor is a
// constant and nothing would be recorded. Otherwise does nothing and returns false.
bool OverwriteConstant(Interpreter& interp, Value tensor, std::optional<double> fill);
// `n` times `value`; null if that is too many to keep.
std::shared_ptr<const ConstValues> FilledValues(Interpreter& interp, int64_t n, double value);
// The reference of the tensor in the graph. A constant is added to the graph if it is not there
// yet.
graph::ValueRef RefOf(Interpreter& interp, Tensor* tensor);
// The values of a constant, or the error that says why they cannot be read; `what` names the
// reader: "Tensor.item()". Complex values only if the reader supports pairs.
Result<const ConstValues*> ReadValues(Interpreter& interp, Tensor* tensor, absl::string_view what,
                                      bool complex = false);
// A Python number of one value.
Value NumberOf(graph::DType dtype, double value);
// Of element `n`, also of a complex tensor.
Value ElementOf(Interpreter& interp, graph::DType dtype, const ConstValues& values, int64_t n);

// ---- views of constants (const_views.cc) Updates the values of a constant view from its base.
// Cheap if the tensor is not a view.
void Refresh(Interpreter& interp, Tensor* tensor);
// Gives the graph the values of a buffer or a constant, if it is to keep them and they are known.
void KeepValues(Interpreter& interp, Tensor* tensor);
// Called after an in-place call on a constant: propagates the new values to its base and other
// views.
void NoteWrite(Interpreter& interp, Tensor* tensor, graph::Op op);
// The order of a tensor's elements in memory; constants that are no views lie row by row.
graph::Strides StridesNow(Interpreter& interp, const Tensor* tensor);
bool IsContiguousNow(Interpreter& interp, const Tensor* tensor);

Value NewSize(Interpreter& interp, const graph::Shape& shape);
Value NewSizeOf(Interpreter& interp, absl::Span<const Value> items);
std::optional<graph::DType> AsDType(Interpreter& interp,
                                    Value v);  // torch.float32, or the Python types float, int, bool
// "torch.float32"
std::string DTypeText(graph::DType dtype);
// repr() of a tensor.
std::string TensorText(const Tensor& tensor);

// The Python form of a call's outputs. kNamed: a named tuple, from a table in
// library/torch/__init__.py: (U, S, Vh)
enum class Returns : uint8_t { kTensor, kTuple, kList, kValuesIndices, kNamed, kOneOrTuple };
// Runs one call: records a node, or computes a constant. `inputs` are Tensors or None in the order
// of OpInfo::inputs. With `inplace` the first one is modified and returned.
Result<Value> Apply(Interpreter& interp, graph::Op op, graph::Attributes attributes, std::vector<Value> inputs,
                    bool inplace = false, Returns returns = Returns::kTensor);
// `made` is a constant that torch.NAME has just made of no tensor. While the network runs it
// becomes a call of the graph.
Result<Value> Created(Interpreter& interp, graph::Op op, InstanceObject* made, graph::Attributes attributes = {});
// An error of a shape rule as PyTorch raises it: RuntimeError, IndexError, or a diagnostic.
Failure RaiseShapeError(Interpreter& interp, const absl::Status& status);

// Casts the inputs of a call as autocast does for this operator. REQUIRES: it is enabled.
Result<void> CastInputs(Interpreter& interp, graph::Op op, const graph::Attributes& attributes,
                        std::vector<Value>* inputs);
void DefineAutocast(NativeModuleBuilder& m);

// The tensor inside a numpy array; other values unchanged.
Value UnwrapArray(Interpreter& interp, Value v);

template <>
struct ArgConverter<Tensor*> {
  static bool Convert(Interpreter&, Value v, Tensor** out) { return (*out = AsTensor(v)) != nullptr; }
  static absl::string_view Expected() { return "Tensor"; }
};

// The classes torch.dtype and torch.Size.
void DefineDTypes(Interpreter& interp, NativeModuleBuilder& m);
void DefineSizeClass(Interpreter& interp, NativeModuleBuilder& m);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_TENSOR_TENSOR_H_

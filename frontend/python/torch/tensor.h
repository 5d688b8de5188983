// The tensor that programs see: a type, where its value comes from in the graph, and, for small constants, the values.
//
// A tensor is a CONSTANT until it depends on a graph input or on a parameter while the network runs: then every call on
// it appends a node and it names an output of that node. Calls on constants are computed at once (const_eval.h) and
// leave no node; a program may read the values of a constant (`.item()`, bool(), tolist()), of anything else it may
// not.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_TENSOR_H_
#define COBRA_FRONTEND_PYTHON_TORCH_TENSOR_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "frontend/python/runtime/native.h"
#include "graph/attributes.h"
#include "graph/builder.h"
#include "graph/layout.h"

namespace cobra::python {

// Values of a constant in row-major order; integers below 2^53 and booleans as doubles too.
using ConstValues = std::vector<double>;

// The values of a constant, or null; of one value everywhere they are made when somebody asks for them.
class TensorValues {
 public:
  using Shared = std::shared_ptr<const ConstValues>;
  TensorValues() = default;
  TensorValues(Shared values) : values_(std::move(values)) {}  // NOLINT: implicit on purpose
  TensorValues(std::nullptr_t) {}                              // NOLINT
  // `n` times `value`; null if that is too many to keep.
  static TensorValues Filled(Interpreter& interp, int64_t n, double value);

  const Shared& shared() const;
  operator const Shared&() const { return shared(); }  // NOLINT
  const ConstValues* get() const { return shared().get(); }
  const ConstValues& operator*() const { return *shared(); }
  const ConstValues* operator->() const { return get(); }
  bool operator==(std::nullptr_t) const { return values_ == nullptr && interp_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return !(*this == nullptr); }

 private:
  mutable Shared values_;
  mutable Interpreter* interp_ = nullptr;  // of what is not made yet
  int64_t count_ = 0;
  double value_ = 0;
};

// How a view of a constant sees the tensor that it is a view of: the call that made it, on `parent` or, where that is
// null, on the base itself. So a write through either is seen through the other (const_views.cc).
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
  TensorValues
      values;  // of a constant; null if too large, random or loaded from a file. Of a node's output: known all the same
  InstanceObject* base = nullptr;         // of a view: the tensor whose storage it shares
  std::shared_ptr<const ConstView> view;  // of a view of a constant with known values
  uint32_t writes = 0;     // of a base that is a constant: how often it was written to, through a view or not
  uint32_t seen = 0;       // of a view: `writes` of its base when it got its values
  std::string label;       // of a constant: what made it ("arange"), for the graph
  bool is_random = false;  // values differ from run to run
  bool is_drawn = false;   // random, and drawn while the network runs: what is computed from it is part of the run
  bool has_hidden_base = false;  // the call that made it returned a view of a tensor that Python never sees (apply.cc)
  bool requires_grad = false;
  bool is_uninitialized = false;  // of a lazy module: the first call decides the shape
  bool is_reordered = false;      // of a base: written as x.t_() does, after which views made before see other elements

  // Folds: depends on no input and on no parameter that is being run.
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

// The names under which a module keeps its state (module_state.h), as the interpreter's own strings, and the methods of
// every module that a class may replace.
struct ModuleNames {
  std::array<StrObject*, 10> slots = {};  // by ModuleSlot
  StrObject* forward = nullptr;
  Value init, setattr, getattr;
};

// Whether a class makes a layer's part of an instance as the library does: nothing is overridden that this would call
// (layers.cc).
struct LayerPlan {
  uint32_t epoch = 0;  // of the classes, when that was found out
  bool plain = false;
  bool resets = false;  // reset_parameters() is the program's
};

// Where the instances of a class have the attributes that a layer reads (SelfAttributes in layers.h).
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
  std::string path;          // "layer1.0.conv1"
  bool is_librarys = false;  // its forward() is torch.nn's own, not the program's
  SourceLine made;           // where the program constructed it; of the library's only
};

// What the native modules make as they are imported; a part of the interpreter's image.
struct TorchLibrary {
  ClassObject* tensor_class = nullptr;
  ClassObject* parameter_class = nullptr;
  ClassObject* size_class = nullptr;
  ClassObject* dtype_class = nullptr;
  ClassObject* module_class = nullptr;
  ClassObject* array_class = nullptr;                    // numpy.ndarray; null before numpy is imported
  ClassObject* buffer_class = nullptr;                   // torch.nn.Buffer; null before somebody asks for it
  Value global_forward_pre_hooks, global_forward_hooks;  // dicts
  ModuleNames names;
  ModuleObject* functional = nullptr;  // torch.nn.functional
  HeapVector<StrObject*> index_names;  // "0", "1" ...: names of modules in containers
  DictTable module_prototype;          // of a new module's __dict__
  ClassObject* proxy_class =
      nullptr;  // torch.fx.Proxy, and what records a call that got one; null before torch.fx is imported
  Value proxy_call;
  Value dtypes[12] = {};       // by DType
  Value device;                // torch.device("cpu")
  Value values_indices_class;  // makes (values, indices)
  Value named_outputs;         // makes the other named tuples, from the operator's name
  graph::DType default_dtype = graph::DType::float32;
  HeapVector<SourceLine> constructions;  // Object::mark of a module is a position in here, from 1 (module_state.h)
  int version_major = 1, version_minor = 13;
};

// What torch.autocast('cpu') sets (autocast.cc).
struct AutocastState {
  bool enabled = false;
  bool caches = true;
  graph::DType dtype = graph::DType::bfloat16;
  int depth = 0;                                    // context managers that are open
  absl::flat_hash_map<const Tensor*, Value> casts;  // of parameters, until the outermost one closes
};

// What the torch library keeps for one interpreter: InterpreterOptions::host points to it.
struct TorchState : TorchLibrary {
  explicit TorchState(GraphLimits limits = {}) : builder(limits) {}

  // ---- the run of the network
  graph::GraphBuilder builder;
  graph::LayoutTracker layout{builder.graph()};
  bool recording = false;
  bool tracing = false;  // by torch.fx
  absl::flat_hash_map<const Object*, NetworkModule> modules;
  absl::flat_hash_map<const Tensor*, std::string> uninitialized_names;  // of lazy modules that were not called yet
  std::vector<const NetworkModule*> module_stack;                       // innermost last; never empty while recording
  NetworkModule root;                                                   // path ""
  // The innermost module that an exception left, and which exception (null: a failure that a program cannot catch).
  const std::string* failed_module = nullptr;
  const Object* failure = nullptr;
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>> files;
  struct NamedFile {
    const CodeUnit* unit = nullptr;
    std::shared_ptr<const std::string> name;
  };
  NamedFile origin_file, made_file;  // of the latest call, and of the latest layer with a place of its own
  int64_t next_constant = 0;
  AutocastState autocast;
  // By declaration (layers.cc) and class.
  absl::flat_hash_map<std::pair<const void*, const ClassObject*>, LayerPlan> layer_plans;
  absl::flat_hash_map<std::pair<const void*, const ClassObject*>, AttributePlaces> attribute_places;
  // Tensors of one value everywhere share their values: networks zero thousands of weights.
  absl::flat_hash_map<std::pair<int64_t, double>, std::shared_ptr<const ConstValues>> fills;

  bool AtLeast(int major, int minor) const {
    return version_major != major ? version_major > major : version_minor >= minor;
  }
};

// Whether the target version has a name that PyTorch added after 1.13.
bool InTorchVersion(const TorchLibrary& library, absl::string_view module, absl::string_view name);

inline TorchState& Torch(Interpreter& interp) { return *interp.host<TorchState>(); }
inline Tensor* AsTensor(Value v) { return NativeCast<Tensor>(v); }
// What torch.load() gives in place of what it would have read (torch/py/services.py).
inline bool IsUnread(Interpreter& interp, Value v) { return interp.TypeName(v) == "_Unread"; }
inline Failure UnreadTensor(Interpreter& interp) {
  return interp.Unsupported("a tensor out of a checkpoint file (torch.load() reads nothing here)",
                            "make one of that shape instead (torch.randn): a latency does not depend on its values");
}

// A bool, an int or a float, also of a subclass (np.int64, a member of an IntEnum); an int beyond int64 as a double.
// nullopt: no number.
std::optional<graph::AttributeValue> AsNumber(Value v);

InstanceObject* NewTensor(Interpreter& interp, graph::TensorType type,
                          std::shared_ptr<const ConstValues> values = nullptr, absl::string_view label = "constant");
InstanceObject* NewGraphTensor(Interpreter& interp, graph::TensorType type, graph::ValueRef ref);
// torch.empty(size, dtype=dtype), as a Parameter or as it is.
Result<Value> NewEmpty(Interpreter& interp, absl::Span<const Value> size, Value dtype, bool parameter);
// tensor.normal_(), or with `fill` tensor.fill_(fill), where the tensor is a constant and nothing would be recorded: in
// one go. False where that is not so.
bool OverwriteConstant(Interpreter& interp, Value tensor, std::optional<double> fill);
// `n` times `value`; null if that is too many to keep.
std::shared_ptr<const ConstValues> FilledValues(Interpreter& interp, int64_t n, double value);
// 1j as a tensor without dimensions, which promotes in the same way. REQUIRES: IsComplex().
Value ComplexScalar(Interpreter& interp, Value number);
// Where the graph finds it; a constant that it does not know is added.
graph::ValueRef RefOf(Interpreter& interp, Tensor* tensor);
// The values of a constant, or the error that says why they cannot be read; `what` names the reader: "Tensor.item()".
// Complex ones only for readers that know of pairs.
Result<const ConstValues*> ReadValues(Interpreter& interp, Tensor* tensor, absl::string_view what,
                                      bool complex = false);
// A Python number of one value.
Value NumberOf(graph::DType dtype, double value);
// Of element `n`, also of a complex tensor.
Value ElementOf(Interpreter& interp, graph::DType dtype, const ConstValues& values, int64_t n);

// ---- views of constants (const_views.cc)
// After this, the values of a constant are those that its base has now. Cheap where it is no view.
void Refresh(Interpreter& interp, Tensor* tensor);
// After an in-place call on a constant, whose values are the new ones: its base and other views see them too.
void NoteWrite(Interpreter& interp, Tensor* tensor, graph::Op op);
// A constant whose elements stand in memory in another order than its own: x.t().
bool IsScattered(Interpreter& interp, const Tensor* tensor);

Value NewSize(Interpreter& interp, const graph::Shape& shape);
Value NewSizeOf(Interpreter& interp, absl::Span<const Value> items);
std::optional<graph::DType> AsDType(Interpreter& interp,
                                    Value v);  // torch.float32, or the Python types float, int, bool
// "torch.float32"
std::string DTypeText(graph::DType dtype);

// How the outputs of a call come back to Python.
// kNamed: a tuple whose items have names too, of a table in py/torch.py: (U, S, Vh)
enum class Returns : uint8_t { kTensor, kTuple, kList, kValuesIndices, kNamed, kOneOrTuple };
// Runs one call: records a node, or computes a constant. `inputs` are Tensors or None in the order of OpInfo::inputs.
// With `inplace` the first one changes and is returned.
Result<Value> Apply(Interpreter& interp, graph::Op op, graph::Attributes attributes, std::vector<Value> inputs,
                    bool inplace = false, Returns returns = Returns::kTensor);
// The pending Python exception, which stays pending; null if there is none, or a failure that a program cannot catch.
const Object* PendingException(Interpreter& interp);
// An error of a shape rule as PyTorch raises it: RuntimeError, IndexError, or a diagnostic.
Failure RaiseShapeError(Interpreter& interp, const absl::Status& status);

// Casts the inputs of a call as autocast does for this operator. REQUIRES: it is enabled.
Result<void> CastInputs(Interpreter& interp, graph::Op op, const graph::Attributes& attributes,
                        std::vector<Value>* inputs);
void DefineAutocast(NativeModuleBuilder& m);

// Of a tensor of the graph; a constant is contiguous.
bool IsContiguousNow(Interpreter& interp, Tensor* tensor);

// nonzero, unique, equal ...: computed on constants of known values, refused as data-dependent elsewhere (values.cc).
void DefineValueFunctions(NativeModuleBuilder& m);
void DefineValueMethods(NativeClassBuilder& tensor_class);
Result<Value> WhereIndices(Interpreter& interp, Tensor* condition);  // torch.where(condition)

// x[index] and x[index] = value.
Result<Value> TensorGetItem(Interpreter& interp, Value self, Value index);
Result<void> TensorSetItem(Interpreter& interp, Value self, Value index, Value value);

// The tensor that a numpy array holds; anything else as it is.
Value UnwrapArray(Interpreter& interp, Value v);
// torch.tensor(data): nested lists of numbers.
Result<Value> TensorFromData(Interpreter& interp, Value data, std::optional<graph::DType> dtype,
                             absl::string_view label);
// Nested lists (numbers for a scalar).
Result<Value> TensorToList(Interpreter& interp, Tensor* tensor);

template <>
struct ArgConverter<Tensor*> {
  static bool Convert(Interpreter&, Value v, Tensor** out) { return (*out = AsTensor(v)) != nullptr; }
  static absl::string_view Expected() { return "Tensor"; }
};

// ---- one for each file of this folder
Result<void> DefineTensorClass(Interpreter& interp, NativeModuleBuilder& m);
Result<void> DefineTensorMethods(Interpreter& interp, NativeClassBuilder& tensor_class);
void DefineCreation(Interpreter& interp, NativeModuleBuilder& m);
void DefineModuleClass(Interpreter& interp, NativeModuleBuilder& m);
Result<void> DefineParameterClass(Interpreter& interp, NativeModuleBuilder& m);  // REQUIRES: the tensor class is there
// The functions of functions.def: `space` is 't' (torch), 'F' (torch.nn.functional), 'f' (torch.fft), 'l'
// (torch.linalg), 's' (torch.special).
void DefineFunctions(NativeModuleBuilder& m, char space, const TorchState& state);
void DefineTableMethods(Interpreter& interp, NativeClassBuilder& tensor_class);
// One function of the table by name, for operators; REQUIRES: it is there.
NativeFunction TableFunction(absl::string_view name, char space);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_TENSOR_H_

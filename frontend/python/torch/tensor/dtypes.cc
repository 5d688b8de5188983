// The dtype and Size classes of torch.
#include "absl/strings/str_cat.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {
namespace {

struct DTypeObject : NativeObject {
  explicit DTypeObject(graph::DType d) : dtype(d) {}
  graph::DType dtype;
  NativeObject* Copy(Interpreter&) override { return this; }
};

}  // namespace

std::optional<graph::DType> AsDType(Interpreter& interp, Value v) {
  if (DTypeObject* object = NativeCast<DTypeObject>(v)) return object->dtype;
  if (v.IsClass()) {
    const ClassObject* cls = v.as<ClassObject>();
    if (cls == interp.types().float_type) return graph::DType::float64;  // as Python counts
    if (cls == interp.types().int_type) return graph::DType::int64;
    if (cls == interp.types().bool_type) return graph::DType::bool_;
    if (cls == interp.types().complex_type) return graph::DType::complex128;
  }
  return std::nullopt;
}

void DefineDTypes(Interpreter& interp, NativeModuleBuilder& m) {
  TorchState& torch = Torch(interp);
  torch.dtype_class =
      m.Class("dtype", {interp.types().object})
          .Property("is_floating_point",
                    [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                      return Value::Bool(graph::IsFloatingPoint(*AsDType(i, a.self)));
                    })
          .Property("is_complex",
                    [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                      return Value::Bool(graph::IsComplex(*AsDType(i, a.self)));
                    })
          .Property("itemsize",
                    [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                      return Value::Int(graph::DTypeBytes(*AsDType(i, a.self)));
                    })
          .Method("__repr__",
                  [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                    return i.NewStr(DTypeText(*AsDType(i, a.self)));
                  })
          .Method("__deepcopy__", [](Interpreter&, const CallArgs& a) -> Result<Value> { return a.self; })
          .Final()
          .Build();
  for (int i = 0; i < 12; ++i) {
    const graph::DType dtype = static_cast<graph::DType>(i);
    torch.dtypes[i] = interp.NewInstance(torch.dtype_class, interp.heap().New<DTypeObject>(dtype));
    m.Value(graph::DTypeName(dtype), torch.dtypes[i]);
  }
  for (const auto& [name, dtype] :
       {std::make_pair("float", graph::DType::float32), std::make_pair("double", graph::DType::float64),
        std::make_pair("half", graph::DType::float16), std::make_pair("long", graph::DType::int64),
        std::make_pair("int", graph::DType::int32), std::make_pair("short", graph::DType::int16),
        std::make_pair("cfloat", graph::DType::complex64), std::make_pair("cdouble", graph::DType::complex128)}) {
    m.Value(name, torch.dtypes[static_cast<int>(dtype)]);
  }
}

void DefineSizeClass(Interpreter& interp, NativeModuleBuilder& m) {
  Torch(interp).size_class = m.Class("Size", {interp.types().tuple})
                                 .New([](Interpreter& i, const CallArgs& a) -> Result<Value> {
                                   if (a.positional.empty()) return NewSizeOf(i, {});
                                   COBRA_TRY_ASSIGN(std::vector<Value> items, i.ToVector(a.positional[0]));
                                   return NewSizeOf(i, items);
                                 })
                                 .Method("__repr__",
                                         [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                                           std::string text;
                                           for (Value v : a.self.as<TupleObject>()->span()) {
                                             COBRA_TRY_ASSIGN(StrObject * item, i.Repr(v));
                                             absl::StrAppend(&text, text.empty() ? "" : ", ", item->view());
                                           }
                                           return i.NewStr(absl::StrCat("torch.Size([", text, "])"));
                                         })
                                 .Attribute("_closed", Value::Bool(true))  // slices, sums and repetitions are sizes too
                                 .Method("numel",
                                         [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                                           int64_t n = 1;
                                           for (Value v : a.self.as<TupleObject>()->span()) n *= v.as_int();
                                           return Value::Int(n);
                                         })
                                 .Build();
}

}  // namespace cobra::python

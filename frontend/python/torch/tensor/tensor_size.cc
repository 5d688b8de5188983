// torch.Size and the text of a type.
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

Value NewSizeOf(Interpreter& interp, absl::Span<const Value> items) {
  TupleObject* size = interp.NewTuple(items);
  if (size->size == 0) {  // the empty tuple is shared
    size = interp.heap().New<TupleObject>();
  }
  size->cls = Torch(interp).size_class;
  return size;
}

Value NewSize(Interpreter& interp, const graph::Shape& shape) {
  absl::InlinedVector<Value, 6> items;
  for (int64_t d : shape) items.push_back(Value::Int(d));
  return NewSizeOf(interp, items);
}

std::string DTypeText(graph::DType dtype) { return absl::StrCat("torch.", graph::DTypeName(dtype)); }

}  // namespace cobra::python

// Gemm, MatMul, Einsum: matrix products. A product with a weight becomes PyTorch's linear, which
// includes a following Add of a bias, as in the network before the export.
#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

absl::StatusOr<TensorPtr> TransposedMatrix(NodeContext& c, const TensorPtr& x) { return c.Call(graph::Op::t, {}, {x}); }

bool IsVector(const TensorPtr& tensor, int64_t size) {
  return tensor->type.rank() == 1 && tensor->type.shape[0] == size;
}

absl::StatusOr<Outputs> Gemm(NodeContext& c) {
  if (c.Rank(0) != 2 || c.Rank(1) != 2)
    return Invalid("multiplies matrices, got ", graph::ShapeText(c.ShapeOf(0)), " and ",
                   graph::ShapeText(c.ShapeOf(1)));
  TensorPtr a = c.In(0), b = c.In(1), bias = c.In(2);
  const double alpha = c.Float("alpha", 1), beta = c.Float("beta", 1);
  const bool trans_b = c.Int("transB") != 0;
  const int64_t columns = b->type.shape[trans_b ? 0 : 1];
  if (c.Int("transA") != 0) {
    COBRA_ASSIGN_OR_RETURN(a, TransposedMatrix(c, a));
  }
  const bool is_linear = alpha == 1 && (bias == nullptr || (beta == 1 && IsVector(bias, columns)));
  if (is_linear != trans_b) {  // linear takes [out, in], the others [in, out]
    COBRA_ASSIGN_OR_RETURN(b, TransposedMatrix(c, b));
  }
  if (is_linear) return c.Out(c.Call(graph::Op::linear, {}, {a, b, bias}));
  if (bias != nullptr) return c.Out(c.Call(graph::Op::addmm, {{"beta", beta}, {"alpha", alpha}}, {bias, a, b}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr product, c.Call(graph::Op::mm, {}, {a, b}));
  return c.Out(c.WithNumber(graph::Op::mul, product, alpha));
}

// The index of the Add that is the only consumer of this node's output and adds a vector of the
// right size to it; -1 if there is none.
int BiasAdd(NodeContext& c, int64_t columns, TensorPtr* bias) {
  const std::string& output = c.node().output(0);
  const auto readers = c.run().consumers->find(output);
  if (readers == c.run().consumers->end() || readers->second.size() != 1 || readers->second[0] < 0) return -1;
  const ::onnx::NodeProto& add = c.run().graph->node(readers->second[0]);
  if (add.op_type() != "Add" || add.input_size() != 2 || add.output_size() != 1 || c.opset() < 7) return -1;
  const Value* other = c.run().Find(add.input(add.input(0) == output ? 1 : 0));
  if (other == nullptr || !other->is_tensor() || !other->tensor->weight || !IsVector(other->tensor, columns)) return -1;
  *bias = other->tensor;
  return readers->second[0];
}

absl::StatusOr<Outputs> MatMul(NodeContext& c) {
  const TensorPtr a = c.In(0), b = c.In(1);
  if (!b->weight || b->type.rank() != 2 || a->constant || a->type.rank() < 2 || c.node().output_size() != 1)
    return c.Out(c.Binary(graph::Op::matmul, a, b));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, TransposedMatrix(c, b));
  TensorPtr bias;
  const int add = BiasAdd(c, b->type.shape[1], &bias);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::linear, {}, {a, weight, bias}));
  if (add >= 0) {
    c.run().done[add] = true;
    c.run().values[c.run().graph->node(add).output(0)] = Value(y);
  }
  return Outputs{y};
}

absl::StatusOr<Outputs> Einsum(NodeContext& c) {
  return c.Out(c.Call(graph::Op::einsum, {{"equation", c.String("equation")}}, c.AllInputs()));
}

}  // namespace

void AddProductOperators(Registry* registry) {
  registry->Add("Gemm", {Gemm, 2});
  registry->Add("MatMul", {MatMul, 2});
  registry->Add("Einsum", {Einsum, 1});
}

}  // namespace cobra::onnx

// A small network written as one call a line, for tests.
#ifndef COBRA_TESTS_GRAPH_GRAPH_TESTING_H_
#define COBRA_TESTS_GRAPH_GRAPH_TESTING_H_

#include <string>
#include <vector>

#include "graph/builder/builder.h"
#include "gtest/gtest.h"

namespace cobra::graph {

class TestNet {
 public:
  ValueRef Input(absl::string_view type) { return builder_.AddInput("x", Type(type)); }
  ValueRef Parameter(absl::string_view name, absl::string_view type) { return builder_.AddParameter(name, Type(type)); }
  ValueRef Call(Op op, Attributes attributes, ValueRefs inputs, bool inplace = false) {
    absl::StatusOr<int32_t> node = builder_.Add(op, std::move(attributes), std::move(inputs), {}, inplace);
    EXPECT_TRUE(node.ok()) << node.status();
    return node.ok() ? ValueRef::Node(*node) : ValueRef::None();
  }
  ValueRef Conv(absl::string_view name, ValueRef x, absl::string_view weight, int64_t padding = 0, int64_t groups = 1) {
    return Call(Op::conv2d,
                {{"stride", std::vector<int64_t>{1, 1}},
                 {"padding", std::vector<int64_t>{padding, padding}},
                 {"dilation", std::vector<int64_t>{1, 1}},
                 {"groups", groups}},
                {x, Parameter(name, weight)});
  }
  Graph Build(std::vector<ValueRef> outputs) { return std::move(builder_).Build(std::move(outputs)); }

  static TensorType Type(absl::string_view text) { return ParseTensorType(text).value(); }

 private:
  GraphBuilder builder_;
};

}  // namespace cobra::graph

#endif  // COBRA_TESTS_GRAPH_GRAPH_TESTING_H_

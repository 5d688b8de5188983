#include "graph/builder/extract.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/builder/builder.h"

namespace cobra::graph {
namespace {

constexpr int kMostViews = 8;  // before one argument; a longer chain is cut there, and its tensor becomes an input

class Extractor {
 public:
  Extractor(const Graph& graph, int64_t max_tensors)
      : graph_(graph), max_tensors_(max_tensors), tensors_left_(max_tensors) {}

  absl::StatusOr<Graph> Run(int32_t node) {
    COBRA_ASSIGN_OR_RETURN(const int32_t copied, Copy(node, kMostViews));
    std::vector<ValueRef> outputs;
    for (size_t k = 0; k < graph_.nodes()[static_cast<size_t>(node)].outputs.size(); ++k) {
      outputs.push_back(ValueRef::Node(copied, static_cast<int32_t>(k)));
    }
    return std::move(builder_).Build(std::move(outputs));
  }

 private:
  absl::StatusOr<int32_t> Copy(int32_t index, int views_left) {
    if (const auto found = copied_.find(index); found != copied_.end()) return found->second;
    const Node& node = graph_.nodes()[static_cast<size_t>(index)];
    tensors_left_ -= static_cast<int64_t>(node.inputs.size() + node.outputs.size());
    if (tensors_left_ < 0)
      return absl::ResourceExhaustedError(LimitMessage("the layer", max_tensors_, "arguments and results"));
    ValueRefs inputs;
    for (const ValueRef& ref : node.inputs) {
      COBRA_ASSIGN_OR_RETURN(const ValueRef input, Argument(ref, views_left));
      inputs.push_back(input);
    }
    COBRA_ASSIGN_OR_RETURN(const int32_t copied,
                           builder_.Add(node.op, node.attributes, std::move(inputs), {}, node.inplace));
    return copied_[index] = copied;
  }

  absl::StatusOr<ValueRef> Argument(const ValueRef& ref, int views_left) {
    if (ref.is_none()) return ref;
    if (ref.is_node() && views_left > 0 && IsView(graph_.nodes()[static_cast<size_t>(ref.index)])) {
      COBRA_ASSIGN_OR_RETURN(const int32_t view, Copy(ref.index, views_left - 1));
      return ValueRef::Node(view, ref.output);
    }
    // A tensor that the call reads twice (x * x) becomes one leaf.
    const auto key = std::make_pair(static_cast<int>(ref.kind), std::make_pair(ref.index, ref.output));
    if (const auto found = leaves_.find(key); found != leaves_.end()) return found->second;
    const TensorType& type = graph_.TypeOf(ref);
    const std::string number = absl::StrCat(leaves_.size());
    ValueRef leaf;
    switch (ref.kind) {
      case ValueRef::Kind::kParameter: leaf = builder_.AddParameter(absl::StrCat("p", number), type); break;
      case ValueRef::Kind::kBuffer: leaf = builder_.AddBuffer(absl::StrCat("b", number), type); break;
      case ValueRef::Kind::kConstant: leaf = builder_.AddConstant(absl::StrCat("c", number), type); break;
      default: leaf = builder_.AddInput(absl::StrCat("x", number), type); break;
    }
    return leaves_[key] = leaf;
  }

  const Graph& graph_;
  const int64_t max_tensors_;
  int64_t tensors_left_;
  GraphBuilder builder_;
  std::map<int32_t, int32_t> copied_;
  std::map<std::pair<int, std::pair<int32_t, int32_t>>, ValueRef> leaves_;
};

}  // namespace

absl::StatusOr<Graph> ExtractLayer(const Graph& graph, int32_t node, int64_t max_tensors) {
  return Extractor(graph, max_tensors).Run(node);
}

}  // namespace cobra::graph

// Which values of a graph share memory. ONNX and ncnn have no in-place calls, so a write gives the
// memory a new value, and every later reader, through whatever view, must read that one.
#ifndef COBRA_EXPORT_ALIASING_H_
#define COBRA_EXPORT_ALIASING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace cobra::exporting {

// For each element of output `output` of a view, the position (row-major) of its element in the
// first input, whose type is `base`. Unimplemented for views of which graph/ does not know it.
absl::StatusOr<std::vector<int64_t>> ViewPositions(const graph::Node& view, const graph::TensorType& base,
                                                   size_t output);

// The values of a graph by the memory that they share: a root owns its memory, a view shows a part
// of another value.
class Aliases {
 public:
  explicit Aliases(const graph::Graph& graph);

  // A value with its own memory; `name` is its value in the written graph.
  void AddRoot(graph::ValueRef ref, std::string name);
  // Output `ref` of a view, which shows a part of `of`.
  void AddView(graph::ValueRef ref, graph::ValueRef of, std::string name);
  // The outputs of call `index`, a view: each of the input in its place, or all of the first one.
  void AddViews(int32_t index, const std::vector<std::string>& names);
  // Another name of `of`.
  void AddSame(graph::ValueRef ref, graph::ValueRef of);

  // The name of the value as it is now; "" if the memory was written to since it had that name.
  const std::string& NameOf(graph::ValueRef ref) const;
  // The views from the root (excluded) to `ref` whose names are out of date: the first one's base
  // has a name.
  std::vector<graph::ValueRef> OutOfDate(graph::ValueRef ref) const;
  void Rename(graph::ValueRef ref, std::string name);  // the same memory, up to date
  // After a write to the memory of `ref`: the root's value is now `root`, the value of `ref` is
  // `name`.
  void Write(graph::ValueRef ref, std::string root, std::string name);

  bool IsRoot(graph::ValueRef ref) const { return Of(ref).parent < 0; }
  graph::ValueRef RootOf(graph::ValueRef ref) const;
  // The positions of the elements of `ref` among those of its root.
  absl::StatusOr<std::vector<int64_t>> PositionsInRoot(graph::ValueRef ref) const;

 private:
  struct Entry {
    graph::ValueRef ref;   // that made it
    int parent = -1;       // of a view
    int memory = -1;       // the root's entry
    uint32_t version = 0;  // of the memory, when `name` was its value; of a root: now
    std::string name;
  };
  const Entry& Of(graph::ValueRef ref) const { return entries_[static_cast<size_t>(IdOf(ref))]; }
  int IdOf(graph::ValueRef ref) const;
  void SetId(graph::ValueRef ref, int id);

  const graph::Graph& graph_;
  std::vector<Entry> entries_;
  std::vector<int> ids_[6];              // by kind and index
  std::vector<std::vector<int>> nodes_;  // by node and output
};

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ALIASING_H_

// Colour refinement. Each call starts with a colour for its operator, attributes and output types.
// A forward sweep adds the colours of its sources, a backward sweep those of its readers. A DAG in
// execution order needs one sweep in each direction to carry a difference to everything downstream
// or upstream of it. The second round carries it across branches (a parameter that two branches
// share, seen by a third). The fingerprint hashes the colours as a multiset: names and the order of
// independent calls have no effect.
#include "graph/form/fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "graph/distinct_calls.h"
#include "graph/op_rules.h"

namespace cobra::graph {
namespace {

constexpr int kRounds = 3;

Hash128 HashType(Hash128 seed, const TensorType& type) {
  seed = HashCombine(seed, static_cast<uint64_t>(type.dtype));
  seed = HashCombine(seed, static_cast<uint64_t>(type.rank()));
  for (int64_t d : type.shape) seed = HashCombine(seed, static_cast<uint64_t>(d));
  return seed;
}

// Hashes are spread evenly: most buckets by the first bits of many have one or two.
void SortMany(std::vector<Hash128>* hashes) {
  constexpr int kShift = 64 - 9;
  std::array<uint32_t, (1 << 9) + 1> begin{};
  for (const Hash128& hash : *hashes) ++begin[(hash.high >> kShift) + 1];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Hash128> sorted(hashes->size());
  std::array<uint32_t, (1 << 9) + 1> next = begin;
  for (const Hash128& hash : *hashes) sorted[next[hash.high >> kShift]++] = hash;
  for (size_t i = 1; i < begin.size(); ++i) {
    if (begin[i] - begin[i - 1] > 1) std::sort(sorted.begin() + begin[i - 1], sorted.begin() + begin[i]);
  }
  hashes->swap(sorted);
}

Hash128 HashSorted(Hash128 seed, absl::Span<Hash128> colours) {
  if (colours.size() > 1) std::sort(colours.begin(), colours.end());
  for (const Hash128& colour : colours) seed = HashCombine(seed, colour);
  return HashCombine(seed, colours.size());
}

bool IsCommutative(const Node& node) {
  const Operands operands = RulesOf(node.op).operands;
  const bool may_swap =
      operands == Operands::kSwap || (operands == Operands::kSwapUnscaled && node.attributes.Find("alpha") == nullptr);
  return may_swap && !node.inplace && node.inputs.size() == 2 && !node.inputs[1].is_none();
}

// Values are numbered: results of calls first, then inputs, parameters, buffers and constants.
class Refinement {
 public:
  explicit Refinement(const Graph& graph) : graph_(graph), nodes_(graph.nodes()) {
    for (const Node& node : nodes_) {
      skipped_.push_back(IsAlias(graph, node));
      commutative_.push_back(IsCommutative(node));
    }
    ColourCalls();
    for (const auto& [kind, tensors] : {std::make_pair(ValueRef::Kind::kInput, graph.inputs()),
                                        std::make_pair(ValueRef::Kind::kParameter, graph.parameters()),
                                        std::make_pair(ValueRef::Kind::kBuffer, graph.buffers()),
                                        std::make_pair(ValueRef::Kind::kConstant, graph.constants())})
      ColourLeaves(kind, tensors);
    CollectArguments();
    CountReaders();
  }

  Hash128 Run() {
    for (int round = 0; round < kRounds; ++round) {
      SweepForward();
      SweepBackward();
    }
    std::vector<Hash128> all;
    all.reserve(colours_.size());
    for (size_t value = 0; value < colours_.size(); ++value) {
      if (value >= nodes_.size() || !skipped_[value]) all.push_back(colours_[value]);
    }
    SortMany(&all);
    Hash128 result = HashBytes("cobra.graph.1");
    for (const Hash128& colour : all) result = HashCombine(result, colour);
    result = HashCombine(result, all.size());
    for (const ValueRef& ref : graph_.outputs()) result = HashCombine(result, Source(ArgumentOf(ref)));
    return result;
  }

 private:
  struct Argument {
    int32_t value = kNone;
    int32_t output = 0;
  };
  static constexpr int32_t kNone = -1;

  static Hash128 ColourOfCall(const Node& node) {
    Hash128 colour = HashBytes(OpName(node.op));
    for (const auto& [name, value] : node.attributes) {
      const std::string text = IsForTraining(node.op, name) ? "0.0" : AttributeText(value);
      colour = HashCombine(HashCombine(colour, HashBytes(name)), HashBytes(text));
    }
    for (const TensorType& type : node.outputs) colour = HashType(colour, type);
    return HashCombine(colour, node.inplace ? 1 : 0);
  }

  // Most calls of a network are like others of it, and texts take time.
  void ColourCalls() {
    const std::shared_ptr<const DistinctCalls> calls = DistinctCallsOf(graph_);
    std::vector<Hash128> of_distinct;
    of_distinct.reserve(calls->size());
    for (const int32_t call : calls->first) of_distinct.push_back(ColourOfCall(nodes_[static_cast<size_t>(call)]));
    colours_.reserve(nodes_.size() + graph_.parameters().size() + graph_.buffers().size());
    for (const int32_t distinct : calls->of_call) colours_.push_back(of_distinct[static_cast<size_t>(distinct)]);
  }

  void ColourLeaves(ValueRef::Kind kind, absl::Span<const NamedTensor> tensors) {
    const Hash128 of_kind = HashCombine(HashBytes("leaf"), static_cast<uint64_t>(kind));
    const size_t first = colours_.size();
    first_of_kind_[static_cast<size_t>(kind)] = static_cast<int32_t>(first);
    for (size_t i = 0; i < tensors.size(); ++i) {
      // Three of the four tensors of a norm have the same type.
      const size_t like = i > 0 && tensors[i].type == tensors[i - 1].type   ? i - 1
                          : i > 2 && tensors[i].type == tensors[i - 3].type ? i - 3
                                                                            : i;
      colours_.push_back(like < i ? colours_[first + like] : HashType(of_kind, tensors[i].type));
    }
  }

  Argument ArgumentOf(ValueRef ref) const {
    if (ref.is_none()) return {};
    while (ref.is_node() && skipped_[static_cast<size_t>(ref.index)])  // it returns its argument unchanged
      ref = nodes_[static_cast<size_t>(ref.index)].inputs[0];
    return {first_of_kind_[static_cast<size_t>(ref.kind)] + ref.index, ref.output};
  }
  Hash128 Source(const Argument& argument) const {
    if (argument.value == kNone) return none_;
    return HashCombine(colours_[static_cast<size_t>(argument.value)], static_cast<uint64_t>(argument.output));
  }

  void CollectArguments() {
    begin_.reserve(nodes_.size() + 1);
    begin_.push_back(0);
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if (!skipped_[k]) {
        for (const ValueRef& ref : nodes_[k].inputs) arguments_.push_back(ArgumentOf(ref));
      }
      begin_.push_back(arguments_.size());
    }
  }
  absl::Span<const Argument> ArgumentsOf(size_t call) const {
    return absl::MakeConstSpan(arguments_).subspan(begin_[call], begin_[call + 1] - begin_[call]);
  }

  void SweepForward() {
    std::vector<Hash128> sources;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if (skipped_[k]) continue;
      Hash128 colour = colours_[k];
      if (commutative_[k]) {
        sources.clear();
        for (const Argument& argument : ArgumentsOf(k)) sources.push_back(Source(argument));
        std::sort(sources.begin(), sources.end());
        for (const Hash128& source : sources) colour = HashCombine(colour, source);
      } else {
        for (const Argument& argument : ArgumentsOf(k)) colour = HashCombine(colour, Source(argument));
      }
      colours_[k] = colour;
    }
  }

  // The readers of each value, one list after the other: a slot for each argument that reads it.
  void CountReaders() {
    readers_begin_.assign(colours_.size() + 1, 0);
    const auto count = [this](const Argument& argument) {
      if (argument.value != kNone) ++readers_begin_[static_cast<size_t>(argument.value) + 1];
    };
    for (const ValueRef& ref : graph_.outputs()) count(ArgumentOf(ref));
    for (const Argument& argument : arguments_) count(argument);
    for (size_t i = 1; i < readers_begin_.size(); ++i) readers_begin_[i] += readers_begin_[i - 1];
    readers_.resize(readers_begin_.back());
  }

  // Each reader adds its colour and the position of the argument. The network's outputs count as
  // readers.
  void SweepBackward() {
    std::vector<size_t> next(readers_begin_.begin(), readers_begin_.end() - 1);
    const auto add = [&](const Argument& argument, Hash128 reader) {
      if (argument.value == kNone) return;
      readers_[next[static_cast<size_t>(argument.value)]++] =
          HashCombine(reader, static_cast<uint64_t>(argument.output));
    };
    const auto with_readers = [this](size_t value) {
      const size_t begin = readers_begin_[value], count = readers_begin_[value + 1] - begin;
      return HashSorted(colours_[value], absl::MakeSpan(readers_).subspan(begin, count));
    };
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      add(ArgumentOf(graph_.outputs()[i]), HashCombine(HashBytes("output"), i));
    for (size_t k = nodes_.size(); k-- > 0;) {
      if (skipped_[k]) continue;
      colours_[k] = with_readers(k);
      const HashSeed colour(colours_[k]);
      const absl::Span<const Argument> arguments = ArgumentsOf(k);
      for (size_t i = 0; i < arguments.size(); ++i) add(arguments[i], colour.With(commutative_[k] ? 0 : i));
    }
    for (size_t leaf = nodes_.size(); leaf < colours_.size(); ++leaf) colours_[leaf] = with_readers(leaf);
  }

  static constexpr size_t kKinds = static_cast<size_t>(ValueRef::Kind::kConstant) + 1;
  const Graph& graph_;
  const absl::Span<const Node> nodes_;
  const Hash128 none_ = HashBytes("none");
  std::vector<bool> skipped_, commutative_;
  std::vector<Hash128> colours_;                 // of values
  std::array<int32_t, kKinds> first_of_kind_{};  // the number of its first value
  std::vector<Argument> arguments_;              // of all calls that are not skipped
  std::vector<size_t> begin_;                    // of each call in arguments_, and the end
  std::vector<size_t> readers_begin_;            // of each value in readers_, and the end
  std::vector<Hash128> readers_;
};

}  // namespace

Hash128 Fingerprint(const Graph& graph) { return Refinement(graph).Run(); }

}  // namespace cobra::graph

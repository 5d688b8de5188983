// Colour refinement. Each call starts with a colour for its operator, attributes and output types.
// A forward sweep adds the colours of its sources, a backward sweep those of its readers. A DAG in
// execution order needs one sweep in each direction to carry a difference to everything downstream
// or upstream of it. The second round carries it across branches (a parameter that two branches
// share, seen by a third). The fingerprint hashes the colours as a multiset: names and the order of
// independent calls have no effect.
#include "graph/form/fingerprint.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"
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

Hash128 HashSorted(Hash128 seed, absl::Span<Hash128> colours) {
  if (colours.size() > 1) std::sort(colours.begin(), colours.end());
  for (const Hash128& colour : colours) seed = HashCombine(seed, colour);
  return HashCombine(seed, colours.size());
}

// Whether their texts are the same, too: -0.0 equals 0.0, and NaN no number.
bool AreIdentical(const Attributes& a, const Attributes& b) {
  if (a.SharesEntriesWith(b)) return true;
  const auto identical = [](const Attributes::Entry& x, const Attributes::Entry& y) {
    const auto *p = std::get_if<double>(&x.second), *q = std::get_if<double>(&y.second);
    if (p != nullptr && q != nullptr)
      return x.first == y.first && absl::bit_cast<uint64_t>(*p) == absl::bit_cast<uint64_t>(*q);
    return !std::holds_alternative<std::vector<double>>(x.second) && x == y;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), identical);
}

bool IsCommutative(const Node& node) {
  const Operands operands = RulesOf(node.op).operands;
  const bool may_swap =
      operands == Operands::kSwap || (operands == Operands::kSwapUnscaled && node.attributes.Find("alpha") == nullptr);
  return may_swap && !node.inplace && node.inputs.size() == 2 && !node.inputs[1].is_none();
}

class Refinement {
 public:
  explicit Refinement(const Graph& graph) : graph_(graph), nodes_(graph.nodes()) {
    for (const auto& [kind, tensors] : {std::make_pair(ValueRef::Kind::kInput, graph.inputs()),
                                        std::make_pair(ValueRef::Kind::kParameter, graph.parameters()),
                                        std::make_pair(ValueRef::Kind::kBuffer, graph.buffers()),
                                        std::make_pair(ValueRef::Kind::kConstant, graph.constants())}) {
      std::vector<Hash128>& colours = leaves_[static_cast<int>(kind)];
      const Hash128 of_kind = HashCombine(HashBytes("leaf"), static_cast<uint64_t>(kind));
      colours.reserve(tensors.size());
      for (const NamedTensor& tensor : tensors) colours.push_back(HashType(of_kind, tensor.type));
    }
    for (const Node& node : nodes_) {
      skipped_.push_back(IsAlias(graph, node));
      commutative_.push_back(IsCommutative(node));
    }
    ColourCalls();
    CountReaders();
  }

  Hash128 Run() {
    for (int round = 0; round < kRounds; ++round) {
      SweepForward();
      SweepBackward();
    }
    Hash128 result = HashBytes("cobra.graph.1");
    std::vector<Hash128> all;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if (!skipped_[k]) all.push_back(colours_[k]);
    }
    for (const std::vector<Hash128>& kind : leaves_) all.insert(all.end(), kind.begin(), kind.end());
    result = HashSorted(result, absl::MakeSpan(all));
    for (const ValueRef& ref : graph_.outputs()) result = HashCombine(result, Source(ref));
    return result;
  }

 private:
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
    const auto hash = [this](size_t k) {
      const Node& node = nodes_[k];
      return absl::HashOf(node.op, node.attributes.size(),
                          node.outputs.empty() ? absl::Span<const int64_t>() : node.outputs[0].shape);
    };
    const auto equal = [this](size_t a, size_t b) {
      const Node &x = nodes_[a], &y = nodes_[b];
      return x.op == y.op && x.inplace == y.inplace && x.outputs == y.outputs &&
             AreIdentical(x.attributes, y.attributes);
    };
    absl::flat_hash_map<size_t, Hash128, decltype(hash), decltype(equal)> known(0, hash, equal);
    colours_.reserve(nodes_.size());
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const auto [found, is_new] = known.try_emplace(k);
      if (is_new) found->second = ColourOfCall(nodes_[k]);
      colours_.push_back(found->second);
    }
  }

  ValueRef Resolve(ValueRef ref) const {  // skips calls that return their argument unchanged
    while (ref.is_node() && skipped_[ref.index]) ref = nodes_[ref.index].inputs[0];
    return ref;
  }
  Hash128& Colour(ValueRef ref) {
    return ref.is_node() ? colours_[ref.index] : leaves_[static_cast<int>(ref.kind)][ref.index];
  }
  Hash128 Source(ValueRef ref) {
    if (ref.is_none()) return none_;
    ref = Resolve(ref);
    return HashCombine(Colour(ref), static_cast<uint64_t>(ref.output));
  }

  void SweepForward() {
    std::vector<Hash128> sources;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if (skipped_[k]) continue;
      sources.clear();
      for (const ValueRef& ref : nodes_[k].inputs) sources.push_back(Source(ref));
      if (commutative_[k]) std::sort(sources.begin(), sources.end());
      for (const Hash128& source : sources) colours_[k] = HashCombine(colours_[k], source);
    }
  }

  // The readers of each value, one list after the other: a slot for each argument that reads it.
  struct Readers {
    std::vector<size_t> begin;  // one more than values
    std::vector<size_t> size;   // in this sweep
    std::vector<Hash128> colours;

    void Count(size_t value) { ++begin[value + 1]; }
    void Add(size_t value, Hash128 colour) { colours[begin[value] + size[value]++] = colour; }
    absl::Span<Hash128> Of(size_t value) { return absl::MakeSpan(colours).subspan(begin[value], size[value]); }
  };
  Readers& ReadersOf(ValueRef ref) { return readers_[ref.is_node() ? 0 : 1 + static_cast<int>(ref.kind)]; }

  void CountReaders() {
    readers_[0].begin.assign(nodes_.size() + 1, 0);
    for (int kind = 0; kind < kKinds; ++kind) readers_[1 + kind].begin.assign(leaves_[kind].size() + 1, 0);
    const auto count = [this](ValueRef ref) {
      if (ref.is_none()) return;
      ref = Resolve(ref);
      ReadersOf(ref).Count(static_cast<size_t>(ref.index));
    };
    for (const ValueRef& ref : graph_.outputs()) count(ref);
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if (skipped_[k]) continue;
      for (const ValueRef& ref : nodes_[k].inputs) count(ref);
    }
    for (Readers& readers : readers_) {
      for (size_t i = 1; i < readers.begin.size(); ++i) readers.begin[i] += readers.begin[i - 1];
      readers.colours.resize(readers.begin.back());
    }
  }

  // Each reader adds its colour and the position of the argument. The network's outputs count as
  // readers.
  void SweepBackward() {
    for (Readers& readers : readers_) readers.size.assign(readers.begin.size(), 0);
    const auto add = [&](ValueRef ref, Hash128 reader) {
      ref = Resolve(ref);
      ReadersOf(ref).Add(static_cast<size_t>(ref.index), HashCombine(reader, static_cast<uint64_t>(ref.output)));
    };
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (!graph_.outputs()[i].is_none()) add(graph_.outputs()[i], HashCombine(HashBytes("output"), i));
    }
    for (size_t k = nodes_.size(); k-- > 0;) {
      if (skipped_[k]) continue;
      colours_[k] = HashSorted(colours_[k], readers_[0].Of(k));
      for (size_t i = 0; i < nodes_[k].inputs.size(); ++i) {
        if (nodes_[k].inputs[i].is_none()) continue;
        add(nodes_[k].inputs[i], HashCombine(colours_[k], commutative_[k] ? 0 : i));
      }
    }
    for (int kind = 0; kind < kKinds; ++kind) {
      for (size_t i = 0; i < leaves_[kind].size(); ++i)
        leaves_[kind][i] = HashSorted(leaves_[kind][i], readers_[1 + kind].Of(i));
    }
  }

  static constexpr int kKinds = static_cast<int>(ValueRef::Kind::kConstant) + 1;
  const Graph& graph_;
  const absl::Span<const Node> nodes_;
  const Hash128 none_ = HashBytes("none");
  std::vector<Hash128> leaves_[kKinds];
  std::vector<Hash128> colours_;
  std::vector<bool> skipped_, commutative_;
  Readers readers_[1 + kKinds];  // of calls, then of leaves by their kind
};

}  // namespace

Hash128 Fingerprint(const Graph& graph) { return Refinement(graph).Run(); }

}  // namespace cobra::graph

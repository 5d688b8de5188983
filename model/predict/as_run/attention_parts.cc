#include "model/predict/as_run/attention_parts.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/status_macros.h"
#include "graph/shape/attention_inputs.h"

namespace cobra::predict {
namespace {

using graph::Attributes;
using graph::GraphBuilder;
using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;
using Ints = std::vector<int64_t>;
using namespace graph::attention_inputs;

// After the first call that cannot be written the others do nothing.
class Parts {
 public:
  Parts(const graph::Node& call, absl::Span<const ValueRef> inputs, GraphBuilder* builder)
      : call_(call), inputs_(inputs), builder_(*builder), heads_(call.attributes.Int("num_heads", 1)) {
    const graph::Shape& query = builder_.TypeOf(In(kQuery)).shape;
    is_batched_ = query.size() == 3;
    rows_ = query[0];
    batch_ = is_batched_ ? query[1] : 1;
    embed_ = query.back();
    keys_ = builder_.TypeOf(In(kKey)).shape[0];
  }

  absl::StatusOr<std::vector<ValueRef>> Run() {
    const std::vector<ValueRef> projected = Project();
    const ValueRef query = Heads(projected[0], rows_), key = Heads(projected[1], keys_),
                   value = Heads(projected[2], keys_), mask = Mask();
    const bool has_weights = call_.attributes.Bool("need_weights", true);
    ValueRef weights, merged;
    if (has_weights) {
      weights = Weights(query, key, mask);
      merged =
          Add(Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}}, {Add(Op::matmul, {}, {weights, value})});
    } else {
      merged = Add(Op::permute, {{"dims", Ints{2, 0, 1, 3}}}, {Fused(query, key, value, mask)});
    }
    merged = View(Add(Op::contiguous, {}, {merged}), {rows_ * batch_, embed_});
    const ValueRef output = Add(Op::linear, {}, {merged, In(kOutWeight), In(kOutBias)});
    COBRA_RETURN_IF_ERROR(status_);
    const int64_t width = builder_.TypeOf(output).shape.back();
    std::vector<ValueRef> results{View(output, is_batched_ ? Ints{rows_, batch_, width} : Ints{rows_, width})};
    if (has_weights) results.push_back(Returned(weights));
    COBRA_RETURN_IF_ERROR(status_);
    return results;
  }

 private:
  ValueRef In(MhaInput input) const {
    return static_cast<size_t>(input) < inputs_.size() ? inputs_[input] : ValueRef::None();
  }
  double Dropout() const { return call_.attributes.Bool("training") ? call_.attributes.Double("dropout_p", 0) : 0; }

  ValueRef Add(Op op, Attributes attributes, ValueRefs inputs) {
    if (!status_.ok()) return ValueRef::None();
    const auto added = builder_.Add(op, std::move(attributes), std::move(inputs), call_.origin);
    status_ = added.status();
    return added.ok() ? ValueRef::Node(*added) : ValueRef::None();
  }
  ValueRef View(const ValueRef& x, Ints size) { return Add(Op::view, {{"size", std::move(size)}}, {x}); }

  // Rows [first, first + count) times the embedding of the packed weights.
  ValueRef Part(MhaInput packed, int64_t first, int64_t count) {
    if (In(packed).is_none() || count == 3) return In(packed);
    return Add(Op::narrow, {{"dim", int64_t{0}}, {"start", first * embed_}, {"length", count * embed_}}, {In(packed)});
  }
  ValueRef Linear(MhaInput x, const ValueRef& weight, const ValueRef& bias) {
    return Add(Op::linear, {}, {In(x), weight, bias});
  }

  // One product for equal arguments, whose parts are then copied apart.
  std::vector<ValueRef> Packed(MhaInput x, int64_t first, int64_t count) {
    const ValueRef all = Linear(x, Part(kInWeight, first, count), Part(kInBias, first, count));
    const int64_t rows = x == kQuery ? rows_ : keys_;
    const ValueRef apart =
        Add(Op::contiguous, {},
            {Add(Op::permute, {{"dims", Ints{2, 0, 1, 3}}}, {View(all, {rows, batch_, count, embed_})})});
    const ValueRef each = Add(Op::unbind, {{"dim", int64_t{0}}}, {apart});
    std::vector<ValueRef> parts;
    for (int32_t i = 0; i < count; ++i) parts.push_back(ValueRef::Node(each.index, i));
    return parts;
  }

  // Of queries, keys and values.
  std::vector<ValueRef> Project() {
    if (call_.attributes.Bool("use_separate_proj_weight")) {
      std::vector<ValueRef> parts;
      const std::pair<MhaInput, MhaInput> each[] = {{kQuery, kQWeight}, {kKey, kKWeight}, {kValue, kVWeight}};
      for (const auto& [x, weight] : each)
        parts.push_back(Linear(x, In(weight), Part(kInBias, static_cast<int64_t>(parts.size()), 1)));
      return parts;
    }
    if (In(kKey) == In(kValue)) {
      if (In(kQuery) == In(kKey)) return Packed(kQuery, 0, 3);
      std::vector<ValueRef> parts{Linear(kQuery, Part(kInWeight, 0, 1), Part(kInBias, 0, 1))};
      for (const ValueRef& part : Packed(kKey, 1, 2)) parts.push_back(part);
      return parts;
    }
    std::vector<ValueRef> parts;
    for (const MhaInput x : {kQuery, kKey, kValue}) {
      const auto place = static_cast<int64_t>(parts.size());
      parts.push_back(Linear(x, Part(kInWeight, place, 1), Part(kInBias, place, 1)));
    }
    return parts;
  }

  ValueRef Heads(const ValueRef& x, int64_t rows) {
    return Add(Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}},
               {View(x, {rows, batch_ * heads_, embed_ / heads_})});
  }

  // A mask of booleans is written as numbers first.
  ValueRef InNumbers(const ValueRef& mask) {
    if (mask.is_none() || !status_.ok() || builder_.TypeOf(mask).dtype != graph::DType::bool_) return mask;
    const graph::Shape& shape = builder_.TypeOf(mask).shape;
    const ValueRef zeros =
        Add(Op::zeros, {{"size", Ints(shape.begin(), shape.end())}, {"dtype", std::string(Type())}}, {});
    return Add(Op::masked_fill, {{"value", -std::numeric_limits<double>::infinity()}}, {zeros, mask});
  }
  absl::string_view Type() const { return graph::DTypeName(builder_.TypeOf(In(kQuery)).dtype); }

  // Both masks together; of [rows, keys], or of each head.
  ValueRef Mask() {
    const ValueRef of_rows = InNumbers(In(kAttnMask)), padding = InNumbers(In(kKeyPaddingMask));
    if (padding.is_none()) return of_rows;
    const ValueRef expanded =
        Add(Op::expand, {{"size", Ints{batch_, heads_, 1, keys_}}}, {View(padding, {batch_, 1, 1, keys_})});
    const ValueRef of_heads = Add(Op::reshape, {{"shape", Ints{batch_ * heads_, 1, keys_}}}, {expanded});
    return of_rows.is_none() ? of_heads : Add(Op::add, {}, {of_rows, of_heads});
  }

  // torch.bmm's kernels, under the name that networks use.
  ValueRef Weights(const ValueRef& query, const ValueRef& key, const ValueRef& mask) {
    const double scale = 1 / std::sqrt(static_cast<double>(embed_ / heads_));
    const ValueRef scaled = Add(Op::mul, {{"other", scale}}, {query});
    const ValueRef turned = Add(Op::transpose, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {key});
    const ValueRef scores =
        mask.is_none() ? Add(Op::matmul, {}, {scaled, turned}) : Add(Op::baddbmm, {}, {mask, scaled, turned});
    const ValueRef weights = Add(Op::softmax, {{"dim", int64_t{-1}}}, {scores});
    if (Dropout() == 0) return weights;
    return Add(Op::dropout, {{"p", Dropout()}, {"training", true}}, {weights});
  }

  ValueRef Fused(const ValueRef& query, const ValueRef& key, const ValueRef& value, ValueRef mask) {
    const int64_t width = embed_ / heads_;
    if (!mask.is_none() && status_.ok()) {
      const graph::Shape& shape = builder_.TypeOf(mask).shape;
      const bool of_heads = shape.size() == 3 && shape[0] == batch_ * heads_;
      mask = View(mask, {of_heads ? batch_ : 1, of_heads ? heads_ : 1, shape[shape.size() - 2], shape.back()});
    }
    return Add(Op::scaled_dot_product_attention,
               {{"dropout_p", Dropout()}, {"is_causal", false}, {"enable_gqa", false}},
               {View(query, {batch_, heads_, rows_, width}), View(key, {batch_, heads_, keys_, width}),
                View(value, {batch_, heads_, keys_, width}), mask});
  }

  ValueRef Returned(const ValueRef& weights) {
    const bool is_mean = call_.attributes.Bool("average_attn_weights", true);
    ValueRef of_heads = View(weights, {batch_, heads_, rows_, keys_});
    if (is_mean) of_heads = Add(Op::mean, {{"dim", Ints{1}}, {"keepdim", false}}, {of_heads});
    return is_batched_ ? of_heads : Add(Op::squeeze, {{"dim", int64_t{0}}}, {of_heads});
  }

  const graph::Node& call_;
  const absl::Span<const ValueRef> inputs_;
  GraphBuilder& builder_;
  const int64_t heads_;
  bool is_batched_ = true;
  int64_t rows_ = 0, batch_ = 1, embed_ = 0, keys_ = 0;
  absl::Status status_;
};

}  // namespace

bool HasAttentionParts(const graph::Node& call) {
  if (call.op != Op::multi_head_attention_forward || call.attributes.Bool("add_zero_attn")) return false;
  return absl::c_none_of(Ints{kBiasK, kBiasV, kStaticK, kStaticV}, [&call](int64_t input) {
    return static_cast<size_t>(input) < call.inputs.size() && !call.inputs[static_cast<size_t>(input)].is_none();
  });
}

absl::StatusOr<std::vector<ValueRef>> AddAttentionParts(const graph::Node& call, absl::Span<const ValueRef> inputs,
                                                        GraphBuilder* builder) {
  return Parts(call, inputs, builder).Run();
}

}  // namespace cobra::predict

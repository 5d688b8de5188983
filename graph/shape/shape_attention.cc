// Attention: scaled_dot_product_attention, multi_head_attention_forward.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/shape/attention_inputs.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

Shape BatchOf(const TensorType& type) { return Shape(type.shape.begin(), type.shape.end() - 2); }

absl::Status SameDTypes(const Call& call) {
  if (call.in(0).dtype == call.in(1).dtype && call.in(0).dtype == call.in(2).dtype) return absl::OkStatus();
  return ShapeError(
      "Expected query, key, and value to have the same dtype, but got query.dtype: ", DTypeName(call.in(0).dtype),
      " key.dtype: ", DTypeName(call.in(1).dtype), " and value.dtype: ", DTypeName(call.in(2).dtype), " instead.");
}

// The shapes of query and key without and with the heads that a group shares (enable_gqa). Key and
// value may have fewer.
absl::Status ShareHeads(const TensorType& query, Shape* key, Shape* value) {
  if (query.rank() < 3 || key->size() < 3 || value->size() < 3)
    return ShapeError("scaled_dot_product_attention: enable_gqa needs heads: query, key and value of 3 dimensions");
  const int64_t heads = query.shape[query.rank() - 3];
  for (Shape* of : {key, value}) {
    int64_t& own = (*of)[of->size() - 3];
    if (own == 0 || heads % own != 0)
      return ShapeError("Number of heads in key and value must divide the number of heads in query");
    own = heads;
  }
  return absl::OkStatus();
}

absl::Status CheckSdpaMask(const Call& call, Shape batch) {
  const TensorType& mask = call.in(3);
  if (mask.dtype != DType::bool_ && mask.dtype != DType::float32 && mask.dtype != call.in(0).dtype)
    return ShapeError("Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
                      DTypeName(mask.dtype), " and  query.dtype: ", DTypeName(call.in(0).dtype), " instead.");
  if (call.attributes.Bool("is_causal"))
    return ShapeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  batch.push_back(call.in(0).shape[call.in(0).rank() - 2]);
  batch.push_back(call.in(1).shape[call.in(1).rank() - 2]);
  COBRA_ASSIGN_OR_RETURN(const Shape joined, BroadcastShapes(batch, mask.shape));
  if (joined == batch) return absl::OkStatus();
  return ShapeError("output with shape ", SizesText(batch), " doesn't match the broadcast shape ", SizesText(joined));
}

}  // namespace

ShapeResult Sdpa(const Call& call) {
  const TensorType& query = call.in(0);
  TensorType key = call.in(1);
  TensorType value = call.in(2);
  COBRA_RETURN_IF_ERROR(SameDTypes(call));
  if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2) {
    return ShapeError("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ",
                      query.rank(), ", key.dim: ", key.rank(), " and value.dim: ", value.rank(), " instead.");
  }
  if (Category(query.dtype) < 2) return NotImplementedFor(call, query.dtype);
  if (query.shape.back() != key.shape.back() || key.shape[key.rank() - 2] != value.shape[value.rank() - 2]) {
    return ShapeError("scaled_dot_product_attention: query ", SizesText(query.shape), ", key ", SizesText(key.shape),
                      " and value ", SizesText(value.shape), " do not fit");
  }
  if (call.attributes.Bool("enable_gqa")) COBRA_RETURN_IF_ERROR(ShareHeads(query, &key.shape, &value.shape));
  COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(BatchOf(query), BatchOf(key)));
  if (call.has(3)) COBRA_RETURN_IF_ERROR(CheckSdpaMask(call, batch));
  COBRA_ASSIGN_OR_RETURN(batch, BroadcastShapes(batch, BatchOf(value)));
  batch.push_back(query.shape[query.rank() - 2]);
  batch.push_back(value.shape.back());
  return One(std::move(batch), query.dtype);
}

namespace {

using namespace attention_inputs;

struct Mha {
  const Call& call;
  int64_t embed = 0, heads = 1;
  bool batched = true;
  int64_t batch = 1, target = 0;
  int64_t source = 0;  // of the keys, then with what is added to them
  int64_t added = 0;   // by bias_k and add_zero_attn, for which the masks are padded
};

absl::Status CheckMhaRanks(const Call& call) {
  const int rank = call.in(kQuery).rank();
  if (rank != 2 && rank != 3)
    return ShapeError("query should be unbatched 2D or batched 3D tensor but received ", rank, "-D query tensor");
  const absl::string_view kind = rank == 3 ? "batched (3-D)" : "unbatched (2-D)";
  if (call.in(kKey).rank() != rank || call.in(kValue).rank() != rank)
    return ShapeError("For ", kind, " `query`, expected `key` and `value` to be ", rank, "-D but found ",
                      call.in(kKey).rank(), "-D and ", call.in(kValue).rank(), "-D tensors respectively");
  if (call.has(kKeyPaddingMask) && call.in(kKeyPaddingMask).rank() != rank - 1)
    return ShapeError("For ", kind, " `query`, expected `key_padding_mask` to be `None` or ", rank - 1, "-D but found ",
                      call.in(kKeyPaddingMask).rank(), "-D tensor instead");
  if (call.has(kAttnMask) && call.in(kAttnMask).rank() != 2 && call.in(kAttnMask).rank() != 3)
    return ShapeError("For ", kind, " `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found ",
                      call.in(kAttnMask).rank(), "-D tensor instead");
  return absl::OkStatus();
}

absl::Status CheckMhaSizes(Mha* a) {
  const Call& call = a->call;
  const TensorType& query = call.in(kQuery);
  const TensorType& key = call.in(kKey);
  const TensorType& value = call.in(kValue);
  if (query.shape.back() != a->embed)
    return ShapeError("was expecting embedding dimension of ", a->embed, ", but got ", query.shape.back());
  if (a->heads <= 0 || a->embed % a->heads != 0)
    return ShapeError("embed_dim ", a->embed, " not divisible by num_heads ", a->heads);
  if (!call.attributes.Bool("use_separate_proj_weight")) {
    if (key.shape != value.shape)
      return ShapeError("key shape ", SizesText(key.shape), " does not match value shape ", SizesText(value.shape));
  } else if (!std::equal(key.shape.begin(), key.shape.end() - 1, value.shape.begin())) {
    return ShapeError("key's sequence and batch dims ", SizesText(key.shape), " do not match value's ",
                      SizesText(value.shape));
  }
  a->batched = query.rank() == 3;
  a->batch = a->batched ? query.shape[1] : 1;
  a->target = query.shape[0];
  a->source = key.shape[0];
  if (a->batched && key.shape[1] != a->batch)
    return ShapeError("shape '[", a->source, ", ", a->batch * a->heads, ", ", a->embed / a->heads,
                      "]' is invalid for input of size ", a->source * key.shape[1] * a->embed);
  return absl::OkStatus();
}

// A product of `input` with a weight of `rows` rows.
absl::Status CheckMhaWeight(const Call& call, MhaInput input, MhaInput weight, int64_t rows, absl::string_view name) {
  if (!call.has(weight)) return ShapeError(name, " is None");
  const TensorType& w = call.in(weight);
  const TensorType& x = call.in(input);
  if (w.dtype != x.dtype)
    return ShapeError("expected m1 and m2 to have the same dtype, but got: ", DTypeName(x.dtype),
                      " != ", DTypeName(w.dtype));
  if (w.rank() != 2 || w.shape[1] != x.shape.back())
    return ShapeError("mat1 and mat2 shapes cannot be multiplied (",
                      x.num_elements() / std::max<int64_t>(x.shape.back(), 1), "x", x.shape.back(), " and ",
                      absl::StrJoin(w.shape.rbegin(), w.shape.rend(), "x"), ")");
  if (w.shape[0] != rows)
    return ShapeError(name, " of size ", SizesText(w.shape), " does not fit embedding dimension ",
                      call.in(kQuery).shape.back());
  return absl::OkStatus();
}

absl::Status CheckMhaProjections(const Mha& a) {
  const Call& call = a.call;
  if (call.attributes.Bool("use_separate_proj_weight")) {
    COBRA_RETURN_IF_ERROR(
        CheckMhaWeight(call, kQuery, kQWeight, a.embed, "use_separate_proj_weight is True but q_proj_weight"));
    COBRA_RETURN_IF_ERROR(
        CheckMhaWeight(call, kKey, kKWeight, a.embed, "use_separate_proj_weight is True but k_proj_weight"));
    COBRA_RETURN_IF_ERROR(
        CheckMhaWeight(call, kValue, kVWeight, a.embed, "use_separate_proj_weight is True but v_proj_weight"));
  } else {
    for (const MhaInput input : {kQuery, kKey, kValue})
      COBRA_RETURN_IF_ERROR(
          CheckMhaWeight(call, input, kInWeight, 3 * a.embed, "use_separate_proj_weight is False but in_proj_weight"));
  }
  if (call.has(kInBias) &&
      (call.in(kInBias).shape != Shape{3 * a.embed} || call.in(kInBias).dtype != call.in(kQuery).dtype))
    return ShapeError("in_proj_bias of size ", SizesText(call.in(kInBias).shape), " and type ",
                      DTypeName(call.in(kInBias).dtype), " does not fit embedding dimension ", a.embed, " and ",
                      DTypeName(call.in(kQuery).dtype));
  return absl::OkStatus();
}

absl::Status CheckMhaMasks(const Mha& a) {
  const Call& call = a.call;
  if (call.has(kKeyPaddingMask) && Category(call.in(kKeyPaddingMask).dtype) != 0 &&
      Category(call.in(kKeyPaddingMask).dtype) != 2)
    return ShapeError("only bool and floating types of key_padding_mask are supported");
  if (!call.has(kAttnMask)) {
    if (call.attributes.Bool("is_causal")) return ShapeError("Need attn_mask if specifying the is_causal hint.");
    return absl::OkStatus();
  }
  const TensorType& mask = call.in(kAttnMask);
  if (mask.dtype != DType::bool_ && mask.dtype != DType::uint8 && mask.dtype != call.in(kQuery).dtype)
    return ShapeError("Only float, byte, and bool types are supported for attn_mask, not torch.", DTypeName(mask.dtype),
                      Category(mask.dtype) == 2 ? " where the query is of another type" : "");
  const Shape wanted = mask.rank() == 2 ? Shape{a.target, a.source} : Shape{a.batch * a.heads, a.target, a.source};
  if (mask.shape == wanted) return absl::OkStatus();
  return ShapeError("The shape of the ", mask.rank(), "D attn_mask is torch.Size(", SizesText(mask.shape),
                    "), but should be (", absl::StrJoin(wanted, ", "), ").");
}

// bias_k and bias_v are one more key each, static_k and static_v come in place of all keys,
// add_zero_attn adds one.
absl::Status AddMhaKeys(Mha* a) {
  const Call& call = a->call;
  const int64_t width = a->embed / a->heads;
  if (call.has(kBiasK) != call.has(kBiasV)) return ShapeError("bias_k and bias_v must be given together");
  if (call.has(kBiasK)) {
    if (call.has(kStaticK)) return ShapeError("bias cannot be added to static key.");
    if (call.has(kStaticV)) return ShapeError("bias cannot be added to static value.");
    for (const MhaInput bias : {kBiasK, kBiasV}) {
      if (call.in(bias).shape != Shape{1, 1, a->embed} || call.in(bias).dtype != call.in(kQuery).dtype)
        return ShapeError("Sizes of tensors must match except in dimension 0: ", bias == kBiasK ? "bias_k" : "bias_v",
                          " is ", TypeText(call.in(bias)), ", but should be of size [1, 1, ", a->embed, "] and type ",
                          DTypeName(call.in(kQuery).dtype));
    }
    ++a->added;
  }
  for (const MhaInput fixed : {kStaticK, kStaticV}) {
    if (!call.has(fixed)) continue;
    const TensorType& type = call.in(fixed);
    const absl::string_view name = fixed == kStaticK ? "static_k" : "static_v";
    if (type.rank() != 3 || type.shape[0] != a->batch * a->heads)
      return ShapeError("expecting ", name, ".size(0) of ", a->batch * a->heads, ", but got ", SizesText(type.shape));
    if (type.shape[2] != width)
      return ShapeError("expecting ", name, ".size(2) of ", width, ", but got ", type.shape[2]);
    if (type.dtype != call.in(kQuery).dtype)
      return ShapeError("expected scalar type ", DTypeName(call.in(kQuery).dtype), " but found ",
                        DTypeName(type.dtype));
  }
  const int64_t keys = call.has(kStaticK) ? call.in(kStaticK).shape[1] : a->source;
  const int64_t values = call.has(kStaticV) ? call.in(kStaticV).shape[1] : a->source;
  if (keys != values)
    return ShapeError("Expected size for first two dimensions of batch2 tensor to be: [", a->batch * a->heads, ", ",
                      keys, "] but got: [", a->batch * a->heads, ", ", values, "].");
  if (call.has(kAttnMask) && keys != a->source && a->source != 1)
    return ShapeError("The expanded size of the tensor (", keys, ") must match the existing size (", a->source,
                      ") at non-singleton dimension 2");
  if (call.attributes.Bool("add_zero_attn")) ++a->added;
  a->source = keys + a->added;
  const Shape wanted = a->batched ? Shape{a->batch, keys} : Shape{keys};
  if (call.has(kKeyPaddingMask) && call.in(kKeyPaddingMask).shape != wanted)
    return ShapeError("expecting key_padding_mask shape of (", a->batch, ", ", a->source, "), but got torch.Size(",
                      SizesText(call.in(kKeyPaddingMask).shape), ")");
  return absl::OkStatus();
}

absl::Status CheckMhaOutput(const Mha& a) {
  const Call& call = a.call;
  const TensorType& weight = call.in(kOutWeight);
  if (weight.dtype != call.in(kQuery).dtype)
    return ShapeError("expected m1 and m2 to have the same dtype, but got: ", DTypeName(call.in(kQuery).dtype),
                      " != ", DTypeName(weight.dtype));
  if (weight.rank() != 2 || weight.shape[1] != a.embed)
    return ShapeError("mat1 and mat2 shapes cannot be multiplied (", a.target * a.batch, "x", a.embed, " and ",
                      absl::StrJoin(weight.shape.rbegin(), weight.shape.rend(), "x"), ")");
  if (!call.has(kOutBias)) return absl::OkStatus();
  const TensorType& bias = call.in(kOutBias);
  if (bias.dtype != weight.dtype)
    return ShapeError("self and mat2 must have the same dtype, but got ", DTypeName(bias.dtype), " and ",
                      DTypeName(weight.dtype));
  if (bias.shape == Shape{weight.shape[0]} || bias.shape == Shape{1}) return absl::OkStatus();
  return ShapeError("The expanded size of the tensor (", weight.shape[0], ") must match the existing size (",
                    bias.shape.empty() ? 1 : bias.shape.back(), ") at non-singleton dimension 1");
}

}  // namespace

ShapeResult MultiHeadAttention(const Call& call) {
  Mha a{call, call.attributes.Int("embed_dim_to_check"), call.attributes.Int("num_heads", 1)};
  COBRA_RETURN_IF_ERROR(CheckMhaRanks(call));
  COBRA_RETURN_IF_ERROR(CheckMhaSizes(&a));
  if (Category(call.in(kQuery).dtype) != 2) return NotImplementedFor(call, call.in(kQuery).dtype);
  COBRA_RETURN_IF_ERROR(CheckMhaProjections(a));
  COBRA_RETURN_IF_ERROR(CheckMhaMasks(a));
  COBRA_RETURN_IF_ERROR(AddMhaKeys(&a));
  COBRA_RETURN_IF_ERROR(CheckMhaOutput(a));
  TensorTypes out{call.in(kQuery)};
  out[0].shape.back() = call.in(kOutWeight).shape[0];  // CLIP's attention pool has another width
  if (call.attributes.Bool("need_weights", true)) {
    Shape weights{a.batch, a.heads, a.target, a.source};
    if (call.attributes.Bool("average_attn_weights", true)) weights.erase(weights.begin() + 1);
    if (!a.batched) weights.erase(weights.begin());
    out.push_back({weights, call.in(kQuery).dtype});
  }
  return out;
}

}  // namespace cobra::graph::shape_rules

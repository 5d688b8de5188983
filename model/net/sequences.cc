#include "model/net/sequences.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/kernels/kernels.h"
#include "model/net/rows.h"

namespace cobra::net {
namespace {

using kernels::kLaneFloats;
using kernels::PaddedWidth;
using Context = torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A matrix within another one.
struct Block {
  const float* at;
  int64_t rows, columns, stride;
};

// For products: a copy of a matrix, and of its transpose, in panels of 16 columns; and its
// transpose, row by row.
class Scratch {
 public:
  const float* Panels(const Block& b) {
    const int64_t panels = PaddedWidth(b.columns) / kLaneFloats;
    float* to = Room(panels * b.rows * kLaneFloats);
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t first = panel * kLaneFloats, count = std::min(kLaneFloats, b.columns - first);
      for (int64_t row = 0; row < b.rows; ++row, to += kLaneFloats) {
        const float* from = b.at + row * b.stride + first;
        std::copy(from, from + count, to);
        std::fill(to + count, to + kLaneFloats, 0.F);
      }
    }
    return values_.data();
  }
  const float* TransposedPanels(const Block& b) {
    const int64_t panels = PaddedWidth(b.rows) / kLaneFloats;
    float* to = Room(panels * b.columns * kLaneFloats);
    std::fill(values_.begin(), values_.end(), 0.F);
    for (int64_t row = 0; row < b.rows; ++row) {
      const float* from = b.at + row * b.stride;
      float* lane = to + row / kLaneFloats * b.columns * kLaneFloats + row % kLaneFloats;
      for (int64_t column = 0; column < b.columns; ++column) lane[column * kLaneFloats] = from[column];
    }
    return values_.data();
  }
  const float* Transposed(const Block& b) {
    float* to = Room(b.rows * b.columns);
    for (int64_t row = 0; row < b.rows; ++row) {
      for (int64_t column = 0; column < b.columns; ++column) to[column * b.rows + row] = b.at[row * b.stride + column];
    }
    return values_.data();
  }
  float* Room(int64_t size) {
    values_.resize(static_cast<size_t>(size));
    return values_.data();
  }

 private:
  std::vector<float> values_;
};

// One head of one sequence: where its rows are in tensors of `width` columns for each of queries,
// keys and values.
struct Head {
  int64_t begin, tokens, column, size, width;
  float scale() const { return 1.F / std::sqrt(static_cast<float>(size)); }
  int64_t padded_tokens() const { return PaddedWidth(tokens); }
  // Of queries (0), keys (1) or values (2) in [tokens, 3 * width].
  Block Of(const float* qkv, int64_t part) const {
    return {qkv + begin * 3 * width + part * width + column, tokens, size, 3 * width};
  }
  Block Mixed(const float* mixed) const { return {mixed + begin * width + column, tokens, size, width}; }
};

void CopyInto(const float* from, int64_t from_stride, const Head& head, float* to, int64_t to_stride) {
  for (int64_t row = 0; row < head.tokens; ++row, from += from_stride, to += to_stride)
    std::copy(from, from + head.size, to);
}

class HeadProducts {
 public:
  // shares: [tokens, padded tokens]; mixed: [tokens, width].
  void Forward(const Head& head, const float* qkv, float* shares, float* mixed) {
    const Block q = head.Of(qkv, 0);
    const int64_t stride = head.padded_tokens();
    kernels_.product(q.at, q.rows, q.stride, right_.TransposedPanels(head.Of(qkv, 1)), head.size, head.tokens, nullptr,
                     false, shares, stride);
    kernels_.softmax(shares, head.tokens, head.tokens, stride, head.scale());
    const float* product = Times(shares, stride, head.Of(qkv, 2));
    CopyInto(product, PaddedWidth(head.size), head, mixed + head.begin * head.width + head.column, head.width);
  }

  void Backward(const Head& head, const float* qkv, const float* shares, const float* mixed_gradient,
                float* qkv_gradient) {
    const int64_t stride = head.padded_tokens(), tokens = head.tokens;
    const Block gradient = head.Mixed(mixed_gradient);
    const auto store = [&](const float* product, int64_t part) {
      CopyInto(product, PaddedWidth(head.size), head,
               qkv_gradient + head.begin * 3 * head.width + part * head.width + head.column, 3 * head.width);
    };
    store(Times(left_.Transposed({shares, tokens, tokens, stride}), tokens, gradient), 2);
    float* scores = scores_.Room(tokens * stride);
    kernels_.product(gradient.at, tokens, gradient.stride, right_.TransposedPanels(head.Of(qkv, 2)), head.size, tokens,
                     nullptr, false, scores, stride);
    for (int64_t row = 0; row < tokens; ++row)
      OfScores(shares + row * stride, tokens, head.scale(), scores + row * stride);
    store(Times(scores, stride, head.Of(qkv, 1)), 0);
    store(Times(left_.Transposed({scores, tokens, tokens, stride}), tokens, head.Of(qkv, 0)), 1);
  }

 private:
  // [tokens, tokens] times [tokens, head size], with rows of whole lanes.
  const float* Times(const float* left, int64_t stride, const Block& right) {
    float* to = product_.Room(right.rows * PaddedWidth(right.columns));
    kernels_.product(left, right.rows, stride, right_.Panels(right), right.rows, right.columns, nullptr, false, to,
                     PaddedWidth(right.columns));
    return to;
  }

  // The gradient of a softmax: from that of its results to that of the scores before the scale.
  static void OfScores(const float* shares, int64_t tokens, float scale, float* gradient) {
    float mean = 0;
    for (int64_t i = 0; i < tokens; ++i) mean += shares[i] * gradient[i];
    for (int64_t i = 0; i < tokens; ++i) gradient[i] = shares[i] * (gradient[i] - mean) * scale;
  }

  const kernels::Kernels& kernels_ = kernels::BestKernels();
  Scratch left_, right_, scores_, product_;
};

// Calls visit(head, where its shares begin) for all heads; returns the size of all shares.
template <typename Visit>
int64_t ForEachHead(const std::vector<int64_t>& ends, int64_t heads, int64_t width, const Visit& visit) {
  int64_t begin = 0, place = 0;
  for (const int64_t end : ends) {
    for (int64_t h = 0; h < heads; ++h) {
      const Head head{begin, end - begin, h * (width / heads), width / heads, width};
      visit(head, place);
      place += head.tokens * head.padded_tokens();
    }
    begin = end;
  }
  return place;
}

struct PackedAttention : torch::autograd::Function<PackedAttention> {
  static at::Tensor forward(Context* context, const at::Tensor& qkv, const std::vector<int64_t>& ends, int64_t heads) {
    const at::Tensor rows = qkv.contiguous();
    const int64_t width = rows.size(1) / 3;
    at::Tensor shares = at::empty({ForEachHead(ends, heads, width, [](const Head&, int64_t) {})}, rows.options());
    at::Tensor mixed = at::empty({rows.size(0), width}, rows.options());
    HeadProducts products;
    const float* from = rows.data_ptr<float>();
    float *of_shares = shares.data_ptr<float>(), *to = mixed.data_ptr<float>();
    ForEachHead(ends, heads, width,
                [&](const Head& head, int64_t place) { products.Forward(head, from, of_shares + place, to); });
    context->save_for_backward({rows, shares});
    context->saved_data["ends"] = ends;
    context->saved_data["heads"] = heads;
    return mixed;
  }

  static variable_list backward(Context* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor mixed = gradients[0].contiguous();
    at::Tensor gradient = at::empty_like(saved[0]);
    HeadProducts products;
    const float *qkv = saved[0].data_ptr<float>(), *shares = saved[1].data_ptr<float>();
    const float* from = mixed.data_ptr<float>();
    float* to = gradient.data_ptr<float>();
    ForEachHead(context->saved_data["ends"].toIntVector(), context->saved_data["heads"].toInt(), mixed.size(1),
                [&](const Head& head, int64_t place) { products.Backward(head, qkv, shares + place, from, to); });
    return {gradient, at::Tensor(), at::Tensor()};
  }
};

// Calls visit(sequence, row) for all rows.
template <typename Visit>
void ForEachRow(const std::vector<int64_t>& ends, const Visit& visit) {
  int64_t row = 0;
  for (size_t sequence = 0; sequence < ends.size(); ++sequence) {
    for (; row < ends[sequence]; ++row) visit(static_cast<int64_t>(sequence), row);
  }
}

}  // namespace

at::Tensor Attention(const at::Tensor& qkv, const std::vector<int64_t>& ends, int64_t heads) {
  return qkv.device().is_cpu() ? PackedAttention::apply(qkv, ends, heads) : PaddedAttention(qkv, ends, heads);
}

at::Tensor PaddedAttention(const at::Tensor& qkv, const std::vector<int64_t>& ends, int64_t heads) {
  const auto batch = static_cast<int64_t>(ends.size());
  const int64_t width = qkv.size(1) / 3, head = width / heads;
  int64_t longest = 0, begin = 0;
  for (const int64_t end : ends) longest = std::max(longest, end - std::exchange(begin, end));
  at::Tensor place = at::empty({qkv.size(0)}, at::kLong);  // of each row among the padded ones
  ForEachRow(ends, [&](int64_t sequence, int64_t row) {
    const int64_t first = sequence == 0 ? 0 : ends[static_cast<size_t>(sequence) - 1];
    place.data_ptr<int64_t>()[row] = sequence * longest + row - first;
  });
  place = place.to(qkv.device());
  const at::Tensor bias =
      at::full({batch * longest}, -1e9, qkv.options()).index_fill(0, place, 0).view({batch, 1, 1, longest});
  const at::Tensor padded = at::zeros({batch * longest, 3 * width}, qkv.options()).index_copy(0, place, qkv);
  // [batch, tokens, 3, heads, head] -> three of [batch, heads, tokens, head]
  const at::Tensor parts = padded.view({batch, longest, 3, heads, head}).permute({2, 0, 3, 1, 4});
  const at::Tensor scores =
      at::matmul(parts[0] * (1.0 / std::sqrt(static_cast<double>(head))), parts[1].transpose(-2, -1));
  const at::Tensor mixed = at::matmul((scores + bias).softmax(-1), parts[2]);
  return mixed.transpose(1, 2).reshape({batch * longest, width}).index_select(0, place);
}

at::Tensor MeanOfEach(const at::Tensor& x, const std::vector<int64_t>& ends) {
  const auto sequences = static_cast<int64_t>(ends.size());
  at::Tensor sequence_of = at::empty({x.size(0)}, at::kLong), counts = at::zeros({sequences, 1});
  ForEachRow(ends, [&](int64_t sequence, int64_t row) {
    sequence_of.data_ptr<int64_t>()[row] = sequence;
    counts.data_ptr<float>()[sequence] += 1;
  });
  return SumRows(x, sequence_of.to(x.device()), sequences) / counts.clamp_min(1).to(x.device());
}

}  // namespace cobra::net

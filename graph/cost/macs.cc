#include "graph/cost/macs.h"

#include <algorithm>
#include <cstddef>

#include "graph/saturated.h"
#include "graph/shape/attention_inputs.h"

namespace cobra::graph {
namespace {

using Types = std::vector<const TensorType*>;

bool Has(const Types& in, size_t i) { return i < in.size() && in[i] != nullptr; }

// How many matrices two batches of them have when they are broadcast. Of heads that share keys
// (enable_gqa) there are as many as the query has, which is `a`.
int64_t JoinedBatch(const Shape& a, const Shape& b) {
  constexpr size_t kMatrix = 2;
  int64_t joined = 1;
  for (size_t i = kMatrix; i < std::max(a.size(), b.size()); ++i) {
    const int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    joined = Times(joined, of_a != 1 || i >= b.size() ? of_a : b[b.size() - 1 - i]);
  }
  return joined;
}

}  // namespace

// Query times keys has the batch of these two; only what follows has that of the values too.
int64_t SdpaMacs(const Node& node, const Types& in) {
  const Shape &query = in[0]->shape, &key = in[1]->shape;
  const int64_t keys = key[key.size() - 2];
  const int64_t scores = Times(JoinedBatch(query, key), Times(query[query.size() - 2], keys));
  return Plus(Times(scores, query.back()), Times(node.outputs[0].num_elements(), keys));
}

// The keys and values that are given are projected even where static ones take their place. bias_k
// and add_zero_attn add one more each.
int64_t MhaMacs(const Node& node, const Types& in) {
  using namespace attention_inputs;
  const Shape &query = in[kQuery]->shape, &key = in[kKey]->shape, &value = in[kValue]->shape;
  const int64_t embed = query.back(), queries = query[0], out = node.outputs[0].shape.back();
  const int64_t batch = query.size() == 3 ? query[1] : 1;
  int64_t keys = Has(in, kStaticK) && in[kStaticK]->rank() == 3 ? in[kStaticK]->shape[1] : key[0];
  if (Has(in, kBiasK)) keys = Plus(keys, 1);
  if (node.attributes.Bool("add_zero_attn")) keys = Plus(keys, 1);
  const int64_t of_queries = Times(Times(queries, embed), Plus(embed, out));
  const int64_t of_keys = Times(embed, Plus(Times(key[0], key.back()), Times(value[0], value.back())));
  const int64_t attention = Times(2, Times(Times(queries, keys), embed));
  return Times(batch, Plus(Plus(of_queries, of_keys), attention));
}

int64_t RnnMacs(const Node& node, const Types& in) {
  const TensorType& out = node.outputs[0];
  const int64_t steps = out.shape.back() == 0 ? 0 : out.num_elements() / out.shape.back();
  int64_t weights = 0;
  for (size_t i = GetOpInfo(node.op).inputs.size() - 1; i < in.size(); ++i) {  // the parameters are the last input
    if (in[i]->rank() == 2) weights = Plus(weights, in[i]->num_elements());
  }
  return Times(steps, weights);
}

int64_t RnnCellMacs(const Node& node, const Types& in) {
  const size_t states = node.op == Op::lstm_cell ? 2 : 1;
  return Times(in[0]->shape[0], Plus(in[1 + states]->num_elements(), in[2 + states]->num_elements()));
}

// Where one of two contracted dimensions is 1, the other is summed before.
int64_t TensordotMacs(const Node& node, const Types& in) {
  const Shape &a = in[0]->shape, &b = in[1]->shape;
  const auto rank_a = static_cast<int64_t>(a.size()), rank_b = static_cast<int64_t>(b.size());
  const std::vector<int64_t> axes = node.attributes.Ints("axes");
  const bool by_axes = node.attributes.Find("axes") != nullptr;
  const int64_t pairs = by_axes ? static_cast<int64_t>(axes.size()) / 2 : node.attributes.Int("dims", 2);
  int64_t inner = 1;
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t of_a = by_axes ? axes[static_cast<size_t>(i)] : rank_a - pairs + i;
    const int64_t of_b = by_axes ? axes[static_cast<size_t>(pairs + i)] : i;
    const int64_t size = a[static_cast<size_t>(of_a < 0 ? of_a + rank_a : of_a)];
    if (size == b[static_cast<size_t>(of_b < 0 ? of_b + rank_b : of_b)]) inner = Times(inner, size);
  }
  return Times(node.outputs[0].num_elements(), inner);
}

int64_t MultiDotMacs(const Types& in) {
  constexpr size_t kMostOrdered = 256;  // the search takes the third power of it; nobody chains so many
  const size_t n = in.size();
  if (n < 2) return 0;
  std::vector<int64_t> sizes;  // matrix i has sizes[i] rows and sizes[i + 1] columns; a vector at an end is one of them
  for (size_t i = 0; i < n; ++i) sizes.push_back(i == 0 && in[i]->rank() == 1 ? 1 : in[i]->shape[0]);
  sizes.push_back(in[n - 1]->rank() == 1 ? 1 : in[n - 1]->shape.back());
  const auto product = [&sizes](size_t first, size_t split, size_t last) {
    return Times(Times(sizes[first], sizes[split + 1]), sizes[last + 1]);
  };
  if (n > kMostOrdered) {
    int64_t macs = 0;
    for (size_t i = 1; i < n; ++i) macs = Plus(macs, product(0, i - 1, i));
    return macs;
  }
  std::vector<std::vector<int64_t>> least(n, std::vector<int64_t>(n, 0));  // of the matrices from the first to the last
  for (size_t length = 1; length < n; ++length) {
    for (size_t first = 0; first + length < n; ++first) {
      const size_t last = first + length;
      int64_t& best = least[first][last];
      for (size_t split = first; split < last; ++split) {
        const int64_t macs = Plus(Plus(least[first][split], least[split + 1][last]), product(first, split, last));
        if (split == first || macs < best) best = macs;
      }
    }
  }
  return least[0][n - 1];
}

int64_t MatrixPowerMacs(const Node& node, const TensorType& matrix) {
  const int64_t n = node.attributes.Int("n");
  int64_t products = -1;  // the first bit that is set needs none
  for (uint64_t bits = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n); bits != 0; bits /= 2) {
    products += static_cast<int64_t>(bits % 2) + (bits > 1 ? 1 : 0);
  }
  return products <= 0 ? 0 : Times(products, Times(matrix.num_elements(), matrix.shape.back()));
}

int64_t CovMacs(const TensorType& input) {
  const int64_t variables = input.rank() == 2 ? input.shape[0] : 1;
  return Times(variables, input.num_elements());
}

}  // namespace cobra::graph

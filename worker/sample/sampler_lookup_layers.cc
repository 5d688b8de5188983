// Calls that read or write a part of a tensor: rows of tables from a hundred to ten million rows,
// steps of a decoder's cache, elements that integers select. What they take follows from what they
// touch, and from whether a cache holds the table; hardly from its size. Layers of image networks
// do not show that.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/net_builder.h"
#include "worker/sample/layer_kinds.h"
#include "worker/sample/random.h"

namespace cobra::worker {
namespace {

using graph::DType;
using graph::NetBuilder;
using graph::Op;
using graph::Shape;
using graph::ValueRef;
using graph::ValueRefs;
using Ints = std::vector<int64_t>;

constexpr int64_t kDimension = 0;

// The caps of a parameter end a table that has many rows and is wide.
int64_t Rows(Random* r) { return r->Chance(0.3) ? r->LogBetween(100'000, 10'000'000) : r->LogBetween(100, 300'000); }
int64_t Width(Random* r) { return r->LogBetween(1, 512) * 8; }
// A decoder asks one, a prompt thousands.
int64_t Count(Random* r) { return r->Chance(0.25) ? 1 : r->LogBetween(2, 4096); }

ValueRef Table(Random* r, NetBuilder* b) { return b->Parameter({Rows(r), Width(r)}); }
ValueRef Indices(NetBuilder* b, Shape shape) { return b->Input(std::move(shape), DType::int64); }

ValueRef Embedding(Random* r, NetBuilder* b) {
  const int64_t count = Count(r), batch = r->Chance(0.7) ? 1 : std::min<int64_t>(count, r->LogBetween(1, 16));
  return b->Call(Op::embedding, {}, {Indices(b, {batch, count / batch}), Table(r, b)});
}

ValueRef EmbeddingBag(Random* r, NetBuilder* b) {
  const ValueRef indices = Indices(b, {r->LogBetween(1, 256), r->LogBetween(1, 64)}), none = ValueRef::None();
  return b->Call(Op::embedding_bag, {{"mode", std::string(r->Chance(0.5) ? "mean" : "sum")}},
                 {indices, Table(r, b), none, none});
}

ValueRef IndexSelect(Random* r, NetBuilder* b) {
  if (r->Chance(0.7)) return b->Call(Op::index_select, {{"dim", kDimension}}, {Table(r, b), Indices(b, {Count(r)})});
  const ValueRef columns = b->Input({r->LogBetween(1, 4096), Width(r)});
  return b->Call(Op::index_select, {{"dim", int64_t{1}}}, {columns, Indices(b, {Count(r)})});
}

// Rows of a table as an index of their width has them; or one score of each row.
ValueRef Gather(Random* r, NetBuilder* b) {
  const Op op = r->Chance(0.8) ? Op::gather : Op::take_along_dim;
  const ValueRef table = Table(r, b);
  if (r->Chance(0.5)) {
    const int64_t rows = std::min(Count(r), b->Dim(table, 0));
    return b->Call(op, {{"dim", kDimension}}, {table, Indices(b, {rows, b->Dim(table, 1)})});
  }
  const ValueRef scores = b->Input({Count(r), r->LogBetween(10, 50'000)});
  return b->Call(op, {{"dim", int64_t{1}}}, {scores, Indices(b, {b->Dim(scores, 0), r->LogBetween(1, 8)})});
}

ValueRef Take(Random* r, NetBuilder* b) { return b->Call(Op::take, {}, {Table(r, b), Indices(b, {Count(r)})}); }

// x[T0], x[:, T0], x[T0, T1]
ValueRef GetItem(Random* r, NetBuilder* b) {
  const auto index = [](const char* text) { return graph::Attributes{{"index", std::string(text)}}; };
  const int64_t count = Count(r);
  switch (r->Between(0, 3)) {
    case 0: {
      const ValueRef tokens = b->Input({r->LogBetween(1, 16), r->LogBetween(8, 1024), Width(r)});
      return b->Call(Op::getitem, index(":, T0"), {tokens, Indices(b, {r->LogBetween(1, 1024)})});
    }
    case 1: {
      const ValueRef tokens = b->Input({r->LogBetween(1, 16), r->LogBetween(8, 1024), Width(r)});
      return b->Call(Op::getitem, index("T0, T1"), {tokens, Indices(b, {count}), Indices(b, {count})});
    }
    default: return b->Call(Op::getitem, index("T0"), {Table(r, b), Indices(b, {count})});
  }
}

// Keys or values of a decoder: [batch, heads, places, width].
Shape Cache(Random* r) {
  return {r->Chance(0.7) ? 1 : r->LogBetween(2, 8), r->LogBetween(1, 32), r->LogBetween(64, 16'384),
          r->Pick<int64_t>({32, 64, 64, 128, 128})};
}
Shape Step(Random* r, const Shape& cache) {
  Shape step = cache;
  step[2] = std::min(cache[2], r->Chance(0.6) ? 1 : r->LogBetween(2, 512));
  return step;
}

ValueRef CacheWrite(Random* r, NetBuilder* b) {
  const Shape cache = Cache(r), step = Step(r, cache);
  const ValueRef places = b->Input(cache), values = b->Input(step);
  if (r->Chance(0.5)) {
    const int64_t at = r->Between(0, cache[2] - step[2]);
    const std::string index = ":, :, " + std::to_string(at) + ":" + std::to_string(at + step[2]);
    return b->CallInPlace(Op::setitem, {{"index", index}}, {places, values});
  }
  const ValueRefs inputs = {places, Indices(b, {step[2]}), values};
  const graph::Attributes dim = {{"dim", int64_t{2}}};
  return r->Chance(0.7) ? b->CallInPlace(Op::index_copy, dim, inputs) : b->Call(Op::index_copy, dim, inputs);
}

// Sums of rows, as graphs of neighbours and mixtures of experts have them.
ValueRef RowsAdded(Random* r, NetBuilder* b) {
  const Shape table = {r->LogBetween(100, 200'000), Width(r)};
  const int64_t count = Count(r);
  const bool by_row = r->Chance(0.5);
  const ValueRefs inputs = {b->Input(table), Indices(b, by_row ? Shape{count} : Shape{count, table[1]}),
                            b->Input({count, table[1]})};
  const Op op = by_row ? Op::index_add : Op::scatter_add;
  graph::Attributes attributes = {{"dim", kDimension}};
  if (by_row) attributes.Set("alpha", int64_t{1});
  return r->Chance(0.5) ? b->CallInPlace(op, attributes, inputs) : b->Call(op, attributes, inputs);
}

ValueRef Scatter(Random* r, NetBuilder* b) {
  const int64_t rows = Count(r);
  const ValueRef scores = b->Input({rows, r->LogBetween(10, 50'000)});
  return b->Call(Op::scatter, {{"dim", int64_t{1}}, {"value", 0.0}},
                 {scores, Indices(b, {rows, std::min(b->Dim(scores, 1), r->LogBetween(1, 64))}), ValueRef::None()});
}

ValueRef Bucketize(Random* r, NetBuilder* b) {
  return b->Call(Op::bucketize, {{"out_int32", false}, {"right", false}},
                 {b->Input({Count(r), r->LogBetween(1, 256)}), b->Parameter({r->LogBetween(4, 1'000'000)})});
}

constexpr LayerKind kKinds[] = {
    {"embedding", 10, Embedding},
    {"embedding_bag", 2, EmbeddingBag},
    {"index_select", 5, IndexSelect},
    {"gather", 5, Gather},
    {"take", 1, Take},
    {"getitem", 5, GetItem},
    {"cache_write", 5, CacheWrite},
    {"rows_added", 3, RowsAdded},
    {"scatter", 2, Scatter},
    {"bucketize", 1, Bucketize},
};

}  // namespace

std::unique_ptr<Sampler> MakeLookupLayerSampler(const SamplerOptions& options) {
  return MakeKindSampler("lookup-layers", kKinds, options);
}

}  // namespace cobra::worker

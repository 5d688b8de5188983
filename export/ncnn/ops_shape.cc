// The same numbers in another shape or order.
#include <algorithm>
#include <numeric>

#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

using graph::Op;

// Dimensions of 1 left out, and neighbours that stay neighbours joined: what is left is what moves.
struct Moved {
  Ints dims, order;
};
Moved Joined(const Ints& shape, const Ints& perm) {
  Ints order;
  for (const int64_t d : perm) {
    if (shape[static_cast<size_t>(d)] != 1) order.push_back(d);
  }
  Ints kept = order;
  std::sort(kept.begin(), kept.end());
  std::vector<Ints> blocks;
  for (const int64_t d : order) {
    const bool follows = !blocks.empty() && std::find(kept.begin(), kept.end(), blocks.back().back()) + 1 ==
                                                std::find(kept.begin(), kept.end(), d);
    if (follows) {
      blocks.back().push_back(d);
    } else {
      blocks.push_back({d});
    }
  }
  std::vector<Ints> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  Moved moved;
  for (const Ints& block : sorted) {
    moved.dims.push_back(1);
    for (const int64_t d : block) moved.dims.back() *= shape[static_cast<size_t>(d)];
  }
  for (const Ints& block : blocks)
    moved.order.push_back(std::find(sorted.begin(), sorted.end(), block) - sorted.begin());
  return moved;
}

// Any order, by exchanging two neighbouring groups of dimensions at a time.
std::string InSteps(CallWriter& c, std::string x, Moved moved) {
  while (!std::is_sorted(moved.order.begin(), moved.order.end())) {
    size_t place = 0;
    while (moved.order[place] == static_cast<int64_t>(place)) ++place;
    const auto from = static_cast<size_t>(moved.order[place]);
    const auto begin = moved.dims.begin();
    const auto product = [&](size_t first, size_t last) {
      return std::accumulate(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last),
                             int64_t{1}, std::multiplies<int64_t>());
    };
    x = c.Reshaped(x,
                   {product(0, place), product(place, from), moved.dims[from], product(from + 1, moved.dims.size())});
    x = c.Permuted(x, {0, 2, 1, 3});
    std::rotate(moved.dims.begin() + static_cast<std::ptrdiff_t>(place),
                moved.dims.begin() + static_cast<std::ptrdiff_t>(from),
                moved.dims.begin() + static_cast<std::ptrdiff_t>(from) + 1);
    for (int64_t& d : moved.order) {
      if (d == static_cast<int64_t>(from)) {
        d = static_cast<int64_t>(place);
      } else if (d >= static_cast<int64_t>(place) && d < static_cast<int64_t>(from)) {
        ++d;
      }
    }
  }
  return x;
}

Ints OrderOf(const CallWriter& c) {
  const int rank = c.Rank(0);
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  switch (c.op()) {
    case Op::permute: {
      perm = c.IntList("dims");
      for (int64_t& d : perm) d += d < 0 ? rank : 0;
      return perm;
    }
    case Op::transpose:
      if (rank > 0)
        std::swap(perm[static_cast<size_t>(c.Dim("dim0", 0, rank))], perm[static_cast<size_t>(c.Dim("dim1", 0, rank))]);
      return perm;
    case Op::mT:
    case Op::mH:
    case Op::adjoint: std::swap(perm[static_cast<size_t>(rank) - 1], perm[static_cast<size_t>(rank) - 2]); return perm;
    case Op::movedim: {
      Ints source = c.IntList("source"), destination = c.IntList("destination");
      std::fill(perm.begin(), perm.end(), -1);
      for (size_t i = 0; i < source.size(); ++i) {
        source[i] += source[i] < 0 ? rank : 0;
        perm[static_cast<size_t>(destination[i] + (destination[i] < 0 ? rank : 0))] = source[i];
      }
      int64_t next = 0;
      for (int64_t& place : perm) {
        if (place >= 0) continue;
        while (std::count(source.begin(), source.end(), next) > 0) ++next;
        place = next++;
      }
      return perm;
    }
    default: std::reverse(perm.begin(), perm.end()); return perm;  // t, T, H
  }
}

}  // namespace

std::string Ordered(CallWriter& c, const std::string& x, const Ints& shape, const Ints& perm) {
  const Moved moved = Joined(shape, perm);
  if (moved.dims.size() < 2) return x;
  if (moved.dims.size() > 4) return InSteps(c, x, moved);
  return c.Permuted(c.Reshaped(x, moved.dims), moved.order);
}

// view, reshape, squeeze and all that only change the shape. A shape of more than four dimensions
// is none of a blob: the next call takes the numbers in the shape that it needs.
absl::StatusOr<Names> WriteReshape(CallWriter& c) {
  if (c.Out().dtype != c.Type(0).dtype) return Refused("the same bytes as another type");
  const Ints dims = BlobOf(c.Out().shape);
  return Names{dims.empty() ? c.In(0) : c.In(0, dims)};
}

absl::StatusOr<Names> WriteFlatten(CallWriter& c) {
  const Ints dims = BlobOf(c.Out().shape);
  const std::string x = c.In(0);
  if (dims.size() == 1 && c.DimsOf(x).size() > 1) return Names{c.Layer("Flatten", {x}, dims)};
  return WriteReshape(c);
}

absl::StatusOr<Names> WritePermute(CallWriter& c) {
  const Ints perm = OrderOf(c), rule = BlobOf(c.ShapeOf(0)), out = BlobOf(c.Out().shape);
  const Shape& shape = c.ShapeOf(0);
  const size_t dropped = shape.size() - rule.size();
  if (perm.empty()) return Names{c.In(0)};
  // As one layer, where the blobs have the tensors' dimensions.
  if (!rule.empty() && rule.size() == out.size() && (dropped == 0 || perm[0] == 0)) {
    Ints order;
    for (size_t i = dropped; i < perm.size(); ++i) order.push_back(perm[i] - static_cast<int64_t>(dropped));
    return Names{c.Permuted(c.In(0, rule), order)};
  }
  const std::string y = Ordered(c, c.In(0), Ints(shape.begin(), shape.end()), perm);
  return Names{out.empty() ? y : c.Reshaped(y, out)};
}

// expand, broadcast_to: as often as it takes.
absl::StatusOr<Names> WriteExpand(CallWriter& c) {
  const Shape& out = c.Out().shape;
  if (c.Type(0).num_elements() == c.Out().num_elements()) return WriteReshape(c);
  Ints shape(c.ShapeOf(0).begin(), c.ShapeOf(0).end()), repeats;
  if (c.op() == Op::repeat) {
    repeats = c.IntList("repeats");
    while (shape.size() < repeats.size()) shape.insert(shape.begin(), 1);
  } else {
    while (shape.size() < out.size()) shape.insert(shape.begin(), 1);
    for (size_t d = 0; d < out.size(); ++d) repeats.push_back(out[d] / shape[d]);
  }
  while (repeats.size() > 1 && repeats[0] == 1 && shape[0] == 1) {
    repeats.erase(repeats.begin());
    shape.erase(shape.begin());
  }
  // Neighbours that are not repeated are one dimension.
  for (size_t d = shape.size() - 1; d > 0 && shape.size() > 4; --d) {
    if (repeats[d] != 1 || repeats[d - 1] != 1) continue;
    shape[d - 1] *= shape[d];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
    repeats.erase(repeats.begin() + static_cast<std::ptrdiff_t>(d));
  }
  if (shape.size() > 4) return Refused("more than four dimensions");
  Ints dims = shape;
  for (size_t d = 0; d < dims.size(); ++d) dims[d] *= repeats[d];
  return Names{c.Layer("Tile", {c.In(0, shape)}, dims, {{2, repeats}})};
}

}  // namespace cobra::exporting::ncnn

// Views: the same numbers in another shape or order. aliasing.h says which tensors share memory.
#include <algorithm>

#include "base/status_macros.h"
#include "export/aliasing.h"
#include "export/onnx/handlers.h"
#include "export/onnx/region.h"

namespace cobra::exporting {
namespace {

// Pieces of a dimension, one output each.
Names Cut(CallWriter& c, int64_t axis) {
  Ints sizes;
  for (const TensorType& type : c.node().outputs) sizes.push_back(type.shape[static_cast<size_t>(axis)]);
  if (sizes.size() == 1) return {c.In(0)};
  return c.Nodes("Split", {c.In(0), c.IntsOf(sizes)}, sizes.size(), {{"axis", axis}});
}

}  // namespace

// view, reshape and all that only change the shape
absl::StatusOr<Names> WriteReshape(CallWriter& c) {
  if (c.Out().dtype != c.Type(0).dtype) return Refused("the same bytes as another type");
  if (c.Out().shape == c.ShapeOf(0)) return Names{c.In(0)};
  return Names{c.Reshaped(c.In(0), c.Out().shape)};
}

absl::StatusOr<Names> WriteFlatten(CallWriter& c) {
  const int rank = c.Rank(0);
  if (rank < 2) return WriteReshape(c);
  const int64_t start = c.Dim("start_dim", 0, rank), end = c.Dim("end_dim", -1, rank);
  if (start == 1 && end == rank - 1) return Names{c.Node("Flatten", {c.In(0)}, {{"axis", 1}})};
  return WriteReshape(c);
}

absl::StatusOr<Names> WritePermute(CallWriter& c) {
  const int rank = c.Rank(0);
  Ints perm = Range(0, rank);
  switch (c.op()) {
    case graph::Op::permute: perm = Wrapped(c.IntList("dims"), rank); break;
    case graph::Op::transpose:
      if (rank == 0) return Names{c.In(0)};
      std::swap(perm[static_cast<size_t>(c.Dim("dim0", 0, rank))], perm[static_cast<size_t>(c.Dim("dim1", 0, rank))]);
      break;
    case graph::Op::mT:
    case graph::Op::mH:
    case graph::Op::adjoint: std::swap(perm[static_cast<size_t>(rank) - 1], perm[static_cast<size_t>(rank) - 2]); break;
    default: std::reverse(perm.begin(), perm.end());  // t, T, H
  }
  if (rank < 2) return Names{c.In(0)};
  return Names{c.Transposed(c.In(0), perm)};
}

absl::StatusOr<Names> WriteMovedim(CallWriter& c) {
  const int rank = c.Rank(0);
  if (rank == 0) return Names{c.In(0)};
  const Ints source = Wrapped(c.IntList("source"), rank), destination = Wrapped(c.IntList("destination"), rank);
  Ints perm(static_cast<size_t>(rank), -1);
  for (size_t i = 0; i < source.size(); ++i) perm[static_cast<size_t>(destination[i])] = source[i];
  int64_t next = 0;
  for (int64_t& place : perm) {
    if (place >= 0) continue;
    while (std::count(source.begin(), source.end(), next) > 0) ++next;
    place = next++;
  }
  return Names{c.Transposed(c.In(0), perm)};
}

absl::StatusOr<Names> WriteSelect(CallWriter& c) {
  const int64_t axis = c.Dim("dim", 0, c.Rank(0)), size = c.ShapeOf(0)[static_cast<size_t>(axis)];
  const int64_t index = c.Int("index");
  const std::string number = c.Number(DType::int64, static_cast<double>(index < 0 ? index + size : index));
  return Names{c.Node("Gather", {c.In(0), number}, {{"axis", axis}})};
}

// narrow, narrow_copy
absl::StatusOr<Names> WriteNarrow(CallWriter& c) {
  const int64_t axis = c.Dim("dim", 0, c.Rank(0)), size = c.ShapeOf(0)[static_cast<size_t>(axis)];
  const int64_t start = c.Int("start");
  const int64_t from = start < 0 ? start + size : start;
  return Names{c.Sliced(c.In(0), axis, from, from + c.Int("length"))};
}

// split, chunk, tensor_split and their like: the sizes are those of the outputs.
absl::StatusOr<Names> WriteSplit(CallWriter& c) {
  if (c.node().outputs.empty()) return Names{};
  int64_t axis = c.Rank(0) == 0 ? 0 : c.Dim("dim", 0, c.Rank(0));
  if (c.op() == graph::Op::hsplit) axis = c.Rank(0) == 1 ? 0 : 1;
  if (c.op() == graph::Op::vsplit) axis = 0;
  if (c.op() == graph::Op::dsplit) axis = 2;
  return Cut(c, axis);
}

absl::StatusOr<Names> WriteUnbind(CallWriter& c) {
  const int64_t axis = c.Dim("dim", 0, c.Rank(0)), size = c.ShapeOf(0)[static_cast<size_t>(axis)];
  Names parts{c.In(0)};
  if (size != 1)
    parts = c.Nodes("Split", {c.In(0), c.IntsOf(Ints(static_cast<size_t>(size), 1))}, static_cast<size_t>(size),
                    {{"axis", axis}});
  if (size == 0) parts.clear();
  for (std::string& part : parts) part = c.Squeezed(part, {axis});
  return parts;
}

absl::StatusOr<Names> WriteSqueeze(CallWriter& c) {
  const Shape& shape = c.ShapeOf(0);
  const Ints dims = c.HasValue("dim") ? Wrapped(c.IntList("dim"), c.Rank(0)) : Range(0, c.Rank(0));
  Ints axes;
  for (int64_t dim : dims) {
    if (dim < static_cast<int64_t>(shape.size()) && shape[static_cast<size_t>(dim)] == 1) axes.push_back(dim);
  }
  return Names{axes.empty() ? c.In(0) : c.Squeezed(c.In(0), axes)};
}

absl::StatusOr<Names> WriteUnsqueeze(CallWriter& c) {
  return Names{c.Unsqueezed(c.In(0), {c.Dim("dim", 0, c.Rank(0) + 1)})};
}

absl::StatusOr<Names> WriteExpand(CallWriter& c) {
  if (c.Out().shape == c.ShapeOf(0)) return Names{c.In(0)};
  return Names{c.Expanded(c.In(0), c.Out().shape)};
}

absl::StatusOr<Names> WriteBroadcastTensors(CallWriter& c) {
  Names y;
  for (size_t i = 0; i < c.num_inputs(); ++i)
    y.push_back(c.ShapeOf(i) == c.Out(i).shape ? c.In(i) : c.Expanded(c.In(i), c.Out(i).shape));
  return y;
}

absl::StatusOr<Names> WriteMeshgrid(CallWriter& c) {
  const size_t n = c.num_inputs();
  const bool swap = c.String("indexing", "ij") == "xy" && n > 1;
  Names y;
  for (size_t i = 0; i < n; ++i) {
    Shape line(n, 1);
    line[swap && i < 2 ? 1 - i : i] = c.Type(i).num_elements();
    y.push_back(c.Expanded(c.Reshaped(c.In(i), line), c.Out(i).shape));
  }
  return y;
}

absl::StatusOr<Names> WriteAtLeast(CallWriter& c) {
  Names y;
  for (size_t i = 0; i < c.num_inputs(); ++i)
    y.push_back(c.ShapeOf(i) == c.Out(i).shape ? c.In(i) : c.Reshaped(c.In(i), c.Out(i).shape));
  return y;
}

// detach, alias, contiguous: the tensor itself, or a copy of it
absl::StatusOr<Names> WriteSame(CallWriter& c) { return Names{c.In(0)}; }

// Views of a form that ONNX has no operator for (diagonal, unfold): their elements by number.
absl::StatusOr<Names> WriteByElements(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(const Ints positions, ViewPositions(c.node(), c.Type(0), 0));
  const std::string flat = c.Reshaped(c.In(0), {c.Type(0).num_elements()});
  return Names{c.Reshaped(c.Gathered(flat, positions, 0), c.Out().shape)};
}

// The strides are those of a contiguous tensor's memory.
absl::StatusOr<Names> WriteAsStrided(CallWriter& c) {
  const Ints size = c.IntList("size"), stride = c.IntList("stride");
  Selection s;
  s.shape = ToShape(size);
  s.strides = stride;
  s.offset = c.Int("storage_offset");
  const Ints positions = PositionsOf(s);
  const int64_t count = c.Type(0).num_elements();
  for (int64_t position : positions) {
    if (position < 0 || position >= count) return Refused("memory beyond the tensor's own elements");
  }
  const std::string flat = c.Reshaped(c.In(0), {count});
  return Names{c.Reshaped(c.Gathered(flat, positions, 0), c.Out().shape)};
}

}  // namespace cobra::exporting

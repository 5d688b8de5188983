// Copies: joins, pads, rolls, casts, fills.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// All inputs in the type of the result, without those of no elements that PyTorch lets stand beside
// any shape.
Names Parts(CallWriter& c) {
  Names parts;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const bool nothing = c.ShapeOf(i) == Shape{0} && c.Out().rank() != 1;
    if (!nothing) parts.push_back(c.Input(i, c.Out().dtype));
  }
  return parts;
}

std::string Concatenated(CallWriter& c, const Names& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : c.Joined(parts, axis);
}

// Each input in a shape that `f` makes from the input's, joined along `axis`.
template <typename F>
Names JoinedAs(CallWriter& c, int64_t axis, F f) {
  Names parts;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const Shape shape = f(c.ShapeOf(i));
    const std::string x = c.Input(i, c.Out().dtype);
    parts.push_back(shape == c.ShapeOf(i) ? x : c.Reshaped(x, shape));
  }
  return {Concatenated(c, parts, axis)};
}

std::string Flipped(CallWriter& c, const std::string& x, const Ints& axes) {
  if (axes.empty()) return x;
  const Ints ends(axes.size(), INT64_MIN);
  return c.Node("Slice",
                {x, c.IntsOf(Ints(axes.size(), -1)), c.IntsOf(ends), c.IntsOf(axes), c.IntsOf(Ints(axes.size(), -1))});
}

// The last `shift` elements come to the front.
std::string Rolled(CallWriter& c, const std::string& x, int64_t axis, int64_t size, int64_t shift) {
  if (size == 0) return x;
  const int64_t front = ((shift % size) + size) % size;
  if (front == 0) return x;
  return c.Joined({c.Sliced(x, axis, size - front, size), c.Sliced(x, axis, 0, size - front)}, axis);
}

// The paddings of all dimensions, first those in front. PyTorch's begin with the last dimension.
Ints PadsOf(const Ints& pad, int rank) {
  Ints pads(2 * static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = static_cast<size_t>(rank) - 1 - i;
    pads[d] = pad[2 * i];
    pads[static_cast<size_t>(rank) + d] = pad[2 * i + 1];
  }
  return pads;
}

// The tensor goes on with its other end.
std::string Circular(CallWriter& c, const Ints& pads) {
  std::string x = c.In(0);
  const size_t rank = c.ShapeOf(0).size();
  for (size_t d = 0; d < rank; ++d) {
    if (pads[d] == 0 && pads[rank + d] == 0) continue;
    Ints rows;
    const int64_t size = c.ShapeOf(0)[d];
    for (int64_t i = -pads[d]; i < size + pads[rank + d]; ++i) rows.push_back(((i % size) + size) % size);
    x = c.Gathered(x, rows, static_cast<int64_t>(d));
  }
  return x;
}

// 1 where the row and the column of a matrix are `offset` apart.
std::string OnDiagonal(CallWriter& c, int64_t rows, int64_t columns, int64_t offset) {
  std::vector<double> values(static_cast<size_t>(rows * columns), 0);
  for (int64_t i = 0; i < rows; ++i) {
    if (i + offset >= 0 && i + offset < columns) values[static_cast<size_t>(i * columns + i + offset)] = 1;
  }
  return c.Numbers({{rows, columns}, DType::bool_}, values);
}

// A matrix of zeros with a vector on a diagonal; of a batch of vectors, a batch of matrices.
std::string WithDiagonal(CallWriter& c, const std::string& vectors, const Shape& shape, int64_t offset, DType dtype) {
  const int64_t n = shape.back(), width = n + (offset < 0 ? -offset : offset);
  Ints rows;  // which element stands in a row; any where there is none
  for (int64_t i = 0; i < width; ++i)
    rows.push_back(std::clamp<int64_t>(i + std::min<int64_t>(offset, 0), 0, std::max<int64_t>(n - 1, 0)));
  const int64_t axis = static_cast<int64_t>(shape.size()) - 1;
  const std::string spread = c.Unsqueezed(c.Gathered(vectors, rows, axis), {axis + 1});
  return c.Chosen(OnDiagonal(c, width, width, offset), spread, c.Number(dtype, 0), dtype);
}

}  // namespace

absl::StatusOr<Names> WriteCat(CallWriter& c) {
  const Names parts = Parts(c);
  if (parts.empty()) return Names{c.In(0)};
  return Names{c.Joined(parts, c.Dim("dim", 0, c.Out().rank()))};
}

absl::StatusOr<Names> WriteStack(CallWriter& c) {
  const int64_t axis = c.Dim("dim", 0, c.Out().rank());
  Names parts;
  for (const std::string& part : Parts(c)) parts.push_back(c.Unsqueezed(part, {axis}));
  return Names{Concatenated(c, parts, axis)};
}

// hstack, vstack, dstack, column_stack
absl::StatusOr<Names> WriteStacks(CallWriter& c) {
  switch (c.op()) {
    case graph::Op::hstack:
      return JoinedAs(c, c.Rank(0) <= 1 ? 0 : 1, [](const Shape& s) { return s.empty() ? Shape{1} : s; });
    case graph::Op::dstack:
      return JoinedAs(c, 2, [](Shape s) {
        if (s.empty()) return Shape{1, 1, 1};
        if (s.size() == 1) return Shape{1, s[0], 1};
        if (s.size() == 2) s.push_back(1);
        return s;
      });
    case graph::Op::column_stack:
      return JoinedAs(c, 1, [](const Shape& s) { return s.size() > 1 ? s : Shape{s.empty() ? 1 : s[0], 1}; });
    default: return JoinedAs(c, 0, [](const Shape& s) { return s.size() > 1 ? s : Shape{1, s.empty() ? 1 : s[0]}; });
  }
}

absl::StatusOr<Names> WritePad(CallWriter& c) {
  const std::string mode = c.op() == graph::Op::pad ? c.String("mode", "constant") : "constant";
  const Ints pads = PadsOf(c.IntList("pad"), c.Rank(0));
  if (std::count(pads.begin(), pads.end(), 0) == static_cast<int64_t>(pads.size())) return Names{c.In(0)};
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  if (mode == "circular") return Names{Circular(c, pads)};
  if (mode != "constant")
    return Names{
        c.Node("Pad", {c.In(0), c.IntsOf(pads)}, {{"mode", std::string(mode == "replicate" ? "edge" : mode)}})};
  const std::string value = c.Number(wide, c.Double("value"));
  return Names{c.Cast(c.Node("Pad", {c.Input(0, wide), c.IntsOf(pads), value}, {{"mode", "constant"}}), wide, dtype)};
}

absl::StatusOr<Names> WritePadSequence(CallWriter& c) {
  const bool batch_first = c.Bool("batch_first");
  const int64_t longest = c.Out().shape[batch_first ? 1 : 0];
  Names parts;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    Ints pads(2 * c.ShapeOf(i).size(), 0);
    pads[c.ShapeOf(i).size()] = longest - c.ShapeOf(i)[0];
    const std::string value = c.Number(c.Out().dtype, c.Double("padding_value"));
    const std::string padded = c.Node("Pad", {c.In(i), c.IntsOf(pads), value}, {{"mode", "constant"}});
    parts.push_back(c.Unsqueezed(padded, {batch_first ? 0 : 1}));
  }
  return Names{Concatenated(c, parts, batch_first ? 0 : 1)};
}

// roll, and the halves of a spectrum swapped
absl::StatusOr<Names> WriteRoll(CallWriter& c) {
  std::string x = c.In(0);
  const bool forward = c.op() == graph::Op::fft_fftshift, backward = c.op() == graph::Op::fft_ifftshift;
  if (forward || backward) {
    const Ints dims = c.HasValue("dim") ? Wrapped(c.IntList("dim"), c.Rank(0)) : Range(0, c.Rank(0));
    for (int64_t d : dims) {
      const int64_t size = c.ShapeOf(0)[static_cast<size_t>(d)];
      x = Rolled(c, x, d, size, forward ? size / 2 : (size + 1) / 2);
    }
    return Names{x};
  }
  const Ints shifts = c.IntList("shifts"), dims = Wrapped(c.IntList("dims"), c.Rank(0));
  if (dims.empty()) {  // as if it had one dimension
    const int64_t count = c.Type(0).num_elements();
    return Names{c.Reshaped(Rolled(c, c.Reshaped(x, {count}), 0, count, shifts.empty() ? 0 : shifts[0]), c.ShapeOf(0))};
  }
  for (size_t i = 0; i < dims.size(); ++i)
    x = Rolled(c, x, dims[i], c.ShapeOf(0)[static_cast<size_t>(dims[i])], shifts[i]);
  return Names{x};
}

// flip, fliplr, flipud
absl::StatusOr<Names> WriteFlip(CallWriter& c) {
  if (c.op() == graph::Op::fliplr) return Names{Flipped(c, c.In(0), {1})};
  if (c.op() == graph::Op::flipud) return Names{Flipped(c, c.In(0), {0})};
  return Names{Flipped(c, c.In(0), Wrapped(c.IntList("dims"), c.Rank(0)))};
}

absl::StatusOr<Names> WriteRot90(CallWriter& c) {
  const int rank = c.Rank(0);
  const Ints dims = Wrapped(c.HasValue("dims") ? c.IntList("dims") : Ints{0, 1}, rank);
  const int64_t k = ((c.Int("k", 1) % 4) + 4) % 4;
  const int a = static_cast<int>(dims[0]), b = static_cast<int>(dims[1]);
  if (k == 0) return Names{c.In(0)};
  if (k == 2) return Names{Flipped(c, c.In(0), dims)};
  if (k == 1) return Names{c.Swapped(Flipped(c, c.In(0), {b}), rank, a, b)};
  return Names{Flipped(c, c.Swapped(c.In(0), rank, a, b), {b})};
}

// repeat, tile
absl::StatusOr<Names> WriteRepeat(CallWriter& c) {
  Ints repeats = c.IntList(c.op() == graph::Op::repeat ? "repeats" : "dims");
  Shape shape = c.ShapeOf(0);
  std::string x = c.In(0);
  while (repeats.size() < shape.size()) repeats.insert(repeats.begin(), 1);
  if (repeats.size() > shape.size()) {
    shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
    x = c.Reshaped(x, shape);
  }
  return Names{repeats.empty() ? x : c.Node("Tile", {x, c.IntsOf(repeats)})};
}

absl::StatusOr<Names> WriteRepeatInterleave(CallWriter& c) {
  if (c.Has(1)) return Refused("repeats that are values of a tensor");
  const bool flat = !c.HasValue("dim");
  const std::string x = flat ? c.Reshaped(c.In(0), {c.Type(0).num_elements()}) : c.In(0);
  const int64_t axis = flat ? 0 : c.Dim("dim", 0, c.Rank(0));
  const int64_t size = flat ? c.Type(0).num_elements() : c.ShapeOf(0)[static_cast<size_t>(axis)];
  Ints rows;
  for (int64_t i = 0; i < size; ++i) rows.insert(rows.end(), static_cast<size_t>(c.Int("repeats", 1)), i);
  return Names{c.Gathered(x, rows, axis)};
}

absl::StatusOr<Names> WriteTriangle(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const DType wide = graph::IsFloatingPoint(dtype) ? dtype : DType::int64;
  const std::string k = c.Number(DType::int64, static_cast<double>(c.Int("diagonal")));
  const std::string y = c.Node("Trilu", {c.Input(0, wide), k}, {{"upper", c.op() == graph::Op::triu ? 1 : 0}});
  return Names{c.Cast(y, wide, dtype)};
}

// A vector becomes a matrix's diagonal, of a matrix the diagonal is taken.
absl::StatusOr<Names> WriteDiag(CallWriter& c) {
  const int64_t offset = c.Int("diagonal");
  if (c.Rank(0) == 1) return Names{WithDiagonal(c, c.In(0), c.ShapeOf(0), offset, c.Out().dtype)};
  const int64_t columns = c.ShapeOf(0)[1];
  Ints places;
  for (int64_t i = 0; i < c.Out().shape[0]; ++i)
    places.push_back((i + std::max<int64_t>(-offset, 0)) * columns + i + std::max<int64_t>(offset, 0));
  return Names{c.Gathered(c.Reshaped(c.In(0), {c.Type(0).num_elements()}), places, 0)};
}

// diag_embed, diagflat
absl::StatusOr<Names> WriteDiagEmbed(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const int64_t offset = c.Int("offset");
  if (c.op() == graph::Op::diagflat) {
    const int64_t count = c.Type(0).num_elements();
    return Names{WithDiagonal(c, c.Reshaped(c.In(0), {count}), {count}, offset, dtype)};
  }
  const int rank = c.Out().rank();
  const int64_t first = c.Dim("dim1", -2, rank), second = c.Dim("dim2", -1, rank);
  const std::string y = WithDiagonal(c, c.In(0), c.ShapeOf(0), offset, dtype);
  if (first == rank - 2 && second == rank - 1) return Names{y};
  Ints perm;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d) perm.push_back(d == first ? rank - 2 : d == second ? rank - 1 : next++);
  return Names{c.Transposed(y, perm)};
}

absl::StatusOr<Names> WriteFillDiagonal(CallWriter& c) {
  if (c.Rank(0) != 2) return Refused("an input of ", c.Rank(0), " dimensions");
  if (c.Bool("wrap") && c.ShapeOf(0)[0] > c.ShapeOf(0)[1]) return Refused("wrap=True of a tall matrix");
  const DType dtype = c.Out().dtype;
  return Names{c.Chosen(OnDiagonal(c, c.ShapeOf(0)[0], c.ShapeOf(0)[1], 0), c.Number(dtype, c.Double("fill_value")),
                        c.In(0), dtype)};
}

absl::StatusOr<Names> WriteTrace(CallWriter& c) {
  const int64_t columns = c.ShapeOf(0)[1];
  Ints places;
  for (int64_t i = 0; i < std::min(c.ShapeOf(0)[0], columns); ++i) places.push_back(i * (columns + 1));
  const DType dtype = c.Out().dtype;
  const std::string flat = c.Reshaped(c.Input(0, dtype), {c.Type(0).num_elements()});
  return Names{c.Summed(c.Gathered(flat, places, 0), {0}, false)};
}

// Matrices one below the other, each right of the one before.
absl::StatusOr<Names> WriteBlockDiag(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const int64_t width = c.Out().shape[1];
  Names rows;
  int64_t left = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    Shape shape = c.ShapeOf(i);
    while (shape.size() < 2) shape.insert(shape.begin(), 1);
    std::string x = c.Input(i, dtype);
    if (shape != c.ShapeOf(i)) x = c.Reshaped(x, shape);
    const Ints pads{0, left, 0, width - left - shape[1]};
    rows.push_back(c.Node("Pad", {x, c.IntsOf(pads), c.Number(dtype, 0)}, {{"mode", "constant"}}));
    left += shape[1];
  }
  return Names{Concatenated(c, rows, 0)};
}

absl::StatusOr<Names> WriteCartesianProd(CallWriter& c) {
  const size_t n = c.num_inputs();
  if (n == 1) return Names{c.In(0)};
  Shape all;
  for (size_t i = 0; i < n; ++i) all.push_back(c.ShapeOf(i)[0]);
  Names columns;
  for (size_t i = 0; i < n; ++i) {
    Shape line(n, 1);
    line[i] = all[i];
    const std::string wide = c.Expanded(c.Reshaped(c.Input(i, c.Out().dtype), line), all);
    columns.push_back(c.Reshaped(wide, {c.Out().shape[0], 1}));
  }
  return Names{c.Joined(columns, 1)};
}

absl::StatusOr<Names> WriteCombinations(CallWriter& c) {
  const int64_t n = c.ShapeOf(0)[0], r = c.Int("r", 2);
  const bool again = c.Bool("with_replacement");
  std::vector<double> picks;
  Ints pick = again ? Ints(static_cast<size_t>(r), 0) : Range(0, r);
  const int64_t rows = c.Out().shape[0];
  for (int64_t row = 0; row < rows; ++row) {
    picks.insert(picks.end(), pick.begin(), pick.end());
    // The last one that can still be larger, and those behind it as small as possible.
    for (int64_t i = r - 1; i >= 0; --i) {
      const int64_t most = again ? n - 1 : n - r + i;
      if (pick[static_cast<size_t>(i)] >= most) continue;
      int64_t next = pick[static_cast<size_t>(i)] + 1;
      for (int64_t k = i; k < r; ++k) {
        pick[static_cast<size_t>(k)] = next;
        if (!again) ++next;
      }
      break;
    }
  }
  return Names{c.Node("Gather", {c.In(0), c.Numbers({c.Out().shape, DType::int64}, picks)}, {{"axis", 0}})};
}

// Casts: the type is that of the result.
absl::StatusOr<Names> WriteCast(CallWriter& c) { return Names{c.Input(0, c.Out().dtype)}; }

absl::StatusOr<Names> WriteCopy(CallWriter& c) {
  const std::string x = c.Input(1, c.Out().dtype);
  if (c.ShapeOf(1) == c.Out().shape) return Names{x};
  return Names{c.Expanded(x, c.Out().shape)};
}

// fill, zero
absl::StatusOr<Names> WriteFill(CallWriter& c) {
  if (c.Has(1)) {
    const std::string x = c.Input(1, c.Out().dtype);
    return Names{c.Expanded(x, c.Out().shape)};
  }
  return Names{c.Filled(c.Out(), c.op() == graph::Op::zero ? 0 : c.Double("value"))};
}

// empty, zeros, ones, full, and tensor, whose numbers are not known here
absl::StatusOr<Names> WriteCreated(CallWriter& c) {
  return Names{c.Filled(c.Out(), c.op() == graph::Op::ones ? 1 : c.Double("fill_value"))};
}

// arange, linspace
absl::StatusOr<Names> WriteRange(CallWriter& c) {
  const double start = c.Double("start");
  const auto count = static_cast<size_t>(c.Out().num_elements());
  double step = c.Double("step", 1);
  if (c.op() == graph::Op::linspace)
    step = count > 1 ? (c.Double("end", 1) - start) / static_cast<double>(count - 1) : 0;
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = start + step * static_cast<double>(i);
  return Names{c.Numbers(c.Out(), numbers)};
}

absl::StatusOr<Names> WriteEye(CallWriter& c) {
  const int64_t rows = c.Out().shape[0], columns = c.Out().shape[1];
  std::vector<double> numbers(static_cast<size_t>(rows * columns), 0);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) numbers[static_cast<size_t>(i * columns + i)] = 1;
  return Names{c.Numbers(c.Out(), numbers)};
}

// tril_indices, triu_indices
absl::StatusOr<Names> WriteTriangleIndices(CallWriter& c) {
  std::vector<double> numbers, columns;
  for (int64_t i = 0; i < c.Int("row"); ++i) {
    for (int64_t j = 0; j < c.Int("col"); ++j) {
      if (c.op() == graph::Op::triu_indices ? j - i < c.Int("offset") : j - i > c.Int("offset")) continue;
      numbers.push_back(static_cast<double>(i));
      columns.push_back(static_cast<double>(j));
    }
  }
  numbers.insert(numbers.end(), columns.begin(), columns.end());
  return Names{c.Numbers(c.Out(), numbers)};
}

// round(x / scale) + zero_point within the type's range
absl::StatusOr<Names> WriteQuantize(CallWriter& c) {
  const DType dtype = c.Type(0).dtype;
  const double scale = c.Double("scale", 1), zero = c.Double("zero_point");
  const double low = c.Out().dtype == DType::uint8 ? 0 : c.Out().dtype == DType::int8 ? -128 : -32768;
  const double high = c.Out().dtype == DType::uint8 ? 255 : c.Out().dtype == DType::int8 ? 127 : 32767;
  std::string y = c.Node("Round", {c.Node("Div", {c.In(0), c.Number(dtype, scale)})});
  y = c.Node("Add", {y, c.Number(dtype, zero)});
  return Names{c.Cast(c.Node("Clip", {y, c.Number(dtype, low), c.Number(dtype, high)}), dtype, c.Out().dtype)};
}

absl::StatusOr<Names> WriteDequantize(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string centred = c.Node("Sub", {c.Input(0, dtype), c.Number(dtype, c.Double("zero_point"))});
  return Names{c.Scaled(centred, c.Double("scale", 1), dtype)};
}

}  // namespace cobra::exporting

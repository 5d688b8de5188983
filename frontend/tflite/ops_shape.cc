// Operators that move, join and split tensors. They work in the file's order of dimensions: if the
// input is an image, the view in that order costs nothing.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/tflite/handlers.h"

namespace cobra::tflite::handlers {
namespace {

int64_t Product(const std::vector<int64_t>& values) {
  int64_t product = 1;
  for (int64_t v : values) {
    if (v < 0 || __builtin_mul_overflow(product, v, &product)) return -1;
  }
  return product;
}

// Makes a constant with the same numbers and another shape.
absl::Status ReshapeConstant(Importer& im, const OpCall& call, std::vector<int64_t> shape) {
  const TensorState& in = im.State(call.inputs[0]);
  int64_t known = 1;
  for (int64_t d : shape) known *= d < 0 ? 1 : d;
  for (int64_t& d : shape) {
    if (d < 0) d = known == 0 ? 0 : in.type.num_elements() / known;
  }
  if (Product(shape) != in.type.num_elements()) return im.Wrong(call, "the new shape has another number of elements");
  return im.SetConstant(call, 0, {graph::Shape(shape.begin(), shape.end()), in.type.dtype}, *in.values);
}

absl::Status ReshapeTo(Importer& im, const OpCall& call, std::vector<int64_t> shape) {
  const TensorState& in = im.State(call.inputs[0]);
  if (in.constant && in.values != nullptr) return ReshapeConstant(im, call, std::move(shape));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Move(call, graph::Op::reshape, {{"shape", std::move(shape)}}, {x}));
}

}  // namespace

absl::Status Reshape(Importer& im, const OpCall& call) {
  std::vector<int64_t> shape;
  if (call.has(1)) {
    COBRA_ASSIGN_OR_RETURN(shape, im.Ints(call, 1, "the new shape"));
  } else {
    COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::ReshapeOptions>(call));
    if (options->new_shape() != nullptr) shape.assign(options->new_shape()->begin(), options->new_shape()->end());
  }
  if (shape.size() > 16) return im.Wrong(call, absl::StrCat("a shape of ", shape.size(), " dimensions"));
  // The file may be made for another batch size than the request's: the first dimension of the
  // shape is the batch.
  const int64_t wanted = Product(shape), given = im.State(call.inputs[0]).type.num_elements();
  if (wanted > 0 && wanted != given && !shape.empty() && given % (wanted / shape[0]) == 0) shape[0] = -1;
  return ReshapeTo(im, call, std::move(shape));
}

absl::Status Squeeze(Importer& im, const OpCall& call) {
  const graph::Shape in = im.ShapeOf(call.inputs[0]);
  std::vector<bool> gone(in.size(), false);
  const auto* options = call.op->builtin_options_as_SqueezeOptions();
  const bool all = options == nullptr || options->squeeze_dims() == nullptr || options->squeeze_dims()->size() == 0;
  for (size_t d = 0; d < in.size(); ++d) gone[d] = all && in[d] == 1;
  if (!all) {
    for (int32_t a : *options->squeeze_dims()) {
      COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, a, static_cast<int>(in.size())));
      if (in[axis] != 1)
        return im.Wrong(call, absl::StrCat("dimension ", axis, " of ", graph::ShapeText(in), " is not 1"));
      gone[axis] = true;
    }
  }
  std::vector<int64_t> shape;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!gone[d]) shape.push_back(in[d]);
  }
  return ReshapeTo(im, call, std::move(shape));
}

absl::Status ExpandDims(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const int64_t given, im.Int(call, 1, "the axis"));
  COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, given, im.Rank(call.inputs[0]) + 1));
  const TensorState& in = im.State(call.inputs[0]);
  if (in.constant && in.values != nullptr) {
    std::vector<int64_t> shape(in.type.shape.begin(), in.type.shape.end());
    shape.insert(shape.begin() + axis, 1);
    return ReshapeConstant(im, call, std::move(shape));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Move(call, graph::Op::unsqueeze, {{"dim", int64_t{axis}}}, {x}));
}

absl::Status Transpose(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, im.Ints(call, 1, "the order of dimensions"));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Move(call, graph::Op::permute, {{"dims", dims}}, {x}));
}

absl::Status ShapeOf(Importer& im, const OpCall& call) {
  const graph::Shape shape = im.ShapeOf(call.inputs[0]);
  return im.SetConstant(call, 0, {{static_cast<int64_t>(shape.size())}, im.FileDType(call.outputs[0])},
                        Values(shape.begin(), shape.end()));
}

namespace {

// Concatenates the numbers of constants, which are for example the parts of a shape; nullopt if a
// value is not known.
std::optional<Values> Joined(const Importer& im, const OpCall& call, int max_rank) {
  Values values;
  for (int tensor : call.inputs) {
    if (tensor < 0) return std::nullopt;
    const TensorState& state = im.State(tensor);
    if (!state.constant || state.values == nullptr || state.type.rank() > max_rank) return std::nullopt;
    values.insert(values.end(), state.values->begin(), state.values->end());
  }
  return values;
}

}  // namespace

absl::Status Concatenation(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::ConcatenationOptions>(call));
  COBRA_ASSIGN_OR_RETURN(int axis, Axis(im, call, options->axis(), im.Rank(call.inputs[0])));
  const graph::DType dtype = im.State(call.inputs[0]).type.dtype;
  if (std::optional<Values> values = Joined(im, call, 1); values.has_value() && im.Rank(call.inputs[0]) == 1) {
    const auto n = static_cast<int64_t>(values->size());
    return im.SetConstant(call, 0, {{n}, dtype}, *std::move(values));
  }
  const bool image = OnImages(im, call);
  graph::ValueRefs parts;
  for (int tensor : call.inputs) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, image ? im.Image(tensor) : im.File(tensor));
    parts.push_back(x);
  }
  if (image) axis = ImageDim(axis);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Move(call, graph::Op::cat, {{"dim", int64_t{axis}}}, parts));
  COBRA_ASSIGN_OR_RETURN(x, im.Activate(call, x, options->fused_activation_function()));
  return image ? im.SetImage(call, 0, x) : im.SetFile(call, 0, x);
}

absl::Status Pack(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::PackOptions>(call));
  COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, options->axis(), im.Rank(call.inputs[0]) + 1));
  const graph::DType dtype = im.State(call.inputs[0]).type.dtype;
  if (std::optional<Values> values = Joined(im, call, 0); values.has_value()) {
    const auto n = static_cast<int64_t>(values->size());
    return im.SetConstant(call, 0, {{n}, dtype}, *std::move(values));
  }
  graph::ValueRefs parts;
  for (int tensor : call.inputs) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.File(tensor));
    parts.push_back(x);
  }
  return im.SetFile(call, 0, im.Move(call, graph::Op::stack, {{"dim", int64_t{axis}}}, parts));
}

absl::Status Unpack(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::UnpackOptions>(call));
  COBRA_ASSIGN_OR_RETURN(const int axis, Axis(im, call, options->axis(), im.Rank(call.inputs[0])));
  const TensorState& in = im.State(call.inputs[0]);
  const auto parts = static_cast<size_t>(in.type.shape[axis]);
  if (parts != call.outputs.size()) {
    return im.Wrong(call, absl::StrCat("it has ", call.outputs.size(), " outputs for ", parts, " parts"));
  }
  if (in.constant && in.values != nullptr && in.type.rank() == 1) {
    const Values values = *in.values;
    const graph::DType dtype = in.type.dtype;
    for (size_t k = 0; k < parts; ++k) COBRA_RETURN_IF_ERROR(im.SetConstant(call, k, {{}, dtype}, {values[k]}));
    return absl::OkStatus();
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::unbind, {{"dim", int64_t{axis}}}, {x}));
  for (size_t k = 0; k < parts; ++k)
    COBRA_RETURN_IF_ERROR(im.SetFile(call, k, graph::ValueRef::Node(x.index, static_cast<int32_t>(k))));
  return absl::OkStatus();
}

// SPLIT: axis, tensor; SPLIT_V: tensor, sizes, axis.
absl::Status Split(Importer& im, const OpCall& call) {
  const bool sizes_given = call.code == schema::BuiltinOperator_SPLIT_V;
  const size_t data = sizes_given ? 0 : 1;
  if (!call.has(data)) return im.Wrong(call, "its tensor is missing");
  const int tensor = call.inputs[data];
  COBRA_ASSIGN_OR_RETURN(const int64_t given, im.Int(call, sizes_given ? 2 : 0, "the axis"));
  COBRA_ASSIGN_OR_RETURN(int axis, Axis(im, call, given, im.Rank(tensor)));
  const int64_t size = im.ShapeOf(tensor)[axis];
  const auto parts = static_cast<int64_t>(call.outputs.size());
  graph::AttributeValue split = size / parts;
  if (sizes_given) {
    COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, im.Ints(call, 1, "the sizes"));
    int64_t rest = size;
    for (int64_t s : sizes) rest -= std::max<int64_t>(0, s);
    for (int64_t& s : sizes) {
      if (s == -1) s = std::max<int64_t>(0, rest);
    }
    if (static_cast<int64_t>(sizes.size()) != parts)
      return im.Wrong(call, absl::StrCat(sizes.size(), " sizes for ", parts, " outputs"));
    split = std::move(sizes);
  } else if (size % parts != 0 || size == 0) {
    return im.Wrong(call, absl::StrCat("a dimension of ", size, " is not split into ", parts));
  }
  const bool image = im.State(tensor).is_image;
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, image ? im.Image(tensor) : im.File(tensor));
  if (image) axis = ImageDim(axis);
  COBRA_ASSIGN_OR_RETURN(
      x, im.Move(call, graph::Op::split, {{"split_size", std::move(split)}, {"dim", int64_t{axis}}}, {x}));
  for (int32_t k = 0; k < parts; ++k) {
    const graph::ValueRef part = graph::ValueRef::Node(x.index, k);
    COBRA_RETURN_IF_ERROR(image ? im.SetImage(call, k, part) : im.SetFile(call, k, part));
  }
  return absl::OkStatus();
}

absl::Status Tile(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, im.Ints(call, 1, "the repeats"));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Move(call, graph::Op::repeat, {{"repeats", repeats}}, {x}));
}

absl::Status BroadcastTo(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, im.Ints(call, 1, "the shape"));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Move(call, graph::Op::expand, {{"size", size}}, {x}));
}

absl::Status Reverse(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> dims, im.Ints(call, 1, "the axes"));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  return im.SetFile(call, 0, im.Move(call, graph::Op::flip, {{"dims", std::move(dims)}}, {x}));
}

// PAD, PADV2 (with a value), MIRROR_PAD: the padding at the beginning and the end of each
// dimension.
absl::Status Pad(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, im.Ints(call, 1, "the padding"));
  const int rank = im.Rank(call.inputs[0]);
  if (static_cast<int>(pads.size()) != 2 * rank)
    return im.Wrong(call, absl::StrCat(pads.size(), " numbers for ", rank, " dimensions"));
  for (int64_t p : pads) {
    if (p < 0 || p > (int64_t{1} << 40)) return im.Wrong(call, absl::StrCat("a padding of ", p));
  }
  const bool mirror = call.code == schema::BuiltinOperator_MIRROR_PAD;
  const bool image = rank == 4;
  std::vector<int64_t> pad;  // PyTorch starts with the last dimension
  if (mirror) {
    const auto* options = call.op->builtin_options_as_MirrorPadOptions();
    if (options != nullptr && options->mode() == schema::MirrorPadMode_SYMMETRIC)
      return im.Unsupported(call, "symmetric mode");
    // PyTorch reflects the trailing one or two of three or four dimensions.
    const int first = image ? 1 : rank - 1, last = image ? 2 : rank - 1;
    if (rank < 2 || rank > 4) return im.Unsupported(call, absl::StrCat("reflection in ", rank, " dimensions"));
    for (int d = 0; d < rank; ++d) {
      if ((d < first || d > last) && (pads[2 * d] != 0 || pads[2 * d + 1] != 0)) {
        return im.Unsupported(call, "reflection in this dimension");
      }
    }
    for (int d = last; d >= first; --d) pad.insert(pad.end(), {pads[2 * d], pads[2 * d + 1]});
  } else if (image) {
    for (int d : {2, 1, 3, 0}) pad.insert(pad.end(), {pads[2 * d], pads[2 * d + 1]});
  } else {
    for (int d = rank - 1; d >= 0; --d) pad.insert(pad.end(), {pads[2 * d], pads[2 * d + 1]});
  }
  while (pad.size() > 2 && pad.back() == 0 && pad[pad.size() - 2] == 0) pad.resize(pad.size() - 2);
  graph::Attributes attributes{{"pad", pad}, {"mode", std::string(mirror ? "reflect" : "constant")}};
  if (!mirror) {
    const std::optional<double> value = call.has(2) ? im.Number(call.inputs[2]) : std::nullopt;
    attributes.Set("value", value.value_or(0.0));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, image ? im.Image(call.inputs[0]) : im.File(call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::pad, std::move(attributes), {x}));
  return image ? im.SetImage(call, 0, x) : im.SetFile(call, 0, x);
}

absl::Status Gather(Importer& im, const OpCall& call) {
  const auto* options = call.op->builtin_options_as_GatherOptions();
  if (options != nullptr && options->batch_dims() != 0) return im.Unsupported(call, "batch_dims");
  if (!call.has(1)) return im.Wrong(call, "its indices are missing");
  COBRA_ASSIGN_OR_RETURN(const int axis,
                         Axis(im, call, options == nullptr ? 0 : options->axis(), im.Rank(call.inputs[0])));
  const TensorState& in = im.State(call.inputs[0]);
  const TensorState& index = im.State(call.inputs[1]);
  if (in.constant && in.values != nullptr && in.type.rank() == 1 && index.constant && index.values != nullptr) {
    Values picked;
    for (double i : *index.values) {
      if (!(i >= 0 && i < static_cast<double>(in.values->size()))) return im.Wrong(call, "an index is out of range");
      picked.push_back((*in.values)[static_cast<size_t>(i)]);
    }
    return im.SetConstant(call, 0, {index.type.shape, in.type.dtype}, std::move(picked));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  if (index.type.rank() == 0 && index.values != nullptr) {
    COBRA_ASSIGN_OR_RETURN(const int64_t i, im.Int(call, 1, "the index"));
    return im.SetFile(call, 0, im.Move(call, graph::Op::select, {{"dim", int64_t{axis}}, {"index", i}}, {x}));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef indices, im.File(call.inputs[1]));
  const graph::Shape shape = index.type.shape;
  if (shape.size() != 1) {
    COBRA_ASSIGN_OR_RETURN(indices,
                           im.Move(call, graph::Op::reshape, {{"shape", std::vector<int64_t>{-1}}}, {indices}));
  }
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::index_select, {{"dim", int64_t{axis}}}, {x, indices}));
  if (shape.size() != 1) {
    const graph::Shape made = im.TypeOf(x).shape;
    std::vector<int64_t> out(made.begin(), made.begin() + axis);
    out.insert(out.end(), shape.begin(), shape.end());
    out.insert(out.end(), made.begin() + axis + 1, made.end());
    COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::reshape, {{"shape", out}}, {x}));
  }
  return im.SetFile(call, 0, x);
}

absl::Status EmbeddingLookup(Importer& im, const OpCall& call) {
  if (!call.has(1)) return im.Wrong(call, "its table is missing");
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef ids, im.File(call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef table, im.File(call.inputs[1]));
  COBRA_ASSIGN_OR_RETURN(
      const graph::ValueRef x,
      im.Move(call, graph::Op::embedding,
              {{"padding_idx", int64_t{-1}}, {"scale_grad_by_freq", false}, {"sparse", false}}, {ids, table}));
  return im.SetFile(call, 0, x);
}

}  // namespace cobra::tflite::handlers

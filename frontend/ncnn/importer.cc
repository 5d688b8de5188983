#include "frontend/ncnn/importer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/ncnn/expression.h"
#include "frontend/ncnn/handlers.h"
#include "graph/builder/untrusted.h"

namespace cobra::ncnn {
namespace {

constexpr int kHintsKey = 30;  // -23330: dimensions, width, height, channels of each output
constexpr int kMaskKey = 31;   // which of ncnn's features a layer may use; no matter of the network

struct LayerInfo {
  absl::string_view name;
  Handler handler;
  absl::string_view keys;
};

const LayerInfo* InfoOf(absl::string_view type) {
  static constexpr LayerInfo kLayers[] = {
#define COBRA_NCNN(name, handler, keys, calls, note) {#name, handlers::handler, keys},
#include "frontend/ncnn/layers.def"
  };
  const auto* found =
      std::lower_bound(std::begin(kLayers), std::end(kLayers), type,
                       [](const LayerInfo& layer, absl::string_view wanted) { return layer.name < wanted; });
  return found == std::end(kLayers) || found->name != type ? nullptr : found;
}

// Why a layer of ncnn's is refused; empty if ncnn has no such layer.
absl::string_view RefusalOf(absl::string_view type) {
  struct Refusal {
    absl::string_view name, why;
  };
  static constexpr Refusal kRefusals[] = {
#define COBRA_NCNN_REFUSED(name, why) {#name, why},
#include "frontend/ncnn/layers.def"
  };
  for (const Refusal& refusal : kRefusals) {
    if (refusal.name == type) return refusal.why;
  }
  return "";
}

// Layers that read int8 blobs as they are. ncnn has no int8 form of any other one.
bool TakesInt8(absl::string_view type) {
  static constexpr absl::string_view kTypes[] = {"Convolution",  "ConvolutionDepthWise",
                                                 "Dequantize",   "Flatten",
                                                 "InnerProduct", "Noop",
                                                 "Padding",      "Permute",
                                                 "ReLU",         "Reshape",
                                                 "Split"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// What the mark behind a key in layers.def asks for.
std::string KindText(absl::string_view mark) {
  if (mark == "r") return "a real number, with a decimal point";
  if (mark == "*") return "a list of whole numbers";
  if (mark == "*r") return "a list of real numbers, each with a decimal point";
  if (mark == "s") return "an expression in quotation marks";
  return "a whole number";
}

// Whether whole numbers are the bits of real ones, rather than a slip: those of 2 are no number
// that a layer has.
bool AreBitsOfReals(const Param& param) {
  const std::vector<double> reals = param.AsReals();
  return std::all_of(reals.begin(), reals.end(),
                     [](double v) { return v == 0 || (std::abs(v) > 1e-30 && std::abs(v) < 1e30); });
}

bool IsOfKind(const Param& param, absl::string_view mark) {
  switch (param.kind) {
    case Param::Kind::kInt: return mark.empty() || (mark == "r" && AreBitsOfReals(param));
    case Param::Kind::kReal: return mark == "r";
    case Param::Kind::kInts: return mark == "*" || (mark == "*r" && AreBitsOfReals(param));
    case Param::Kind::kReals: return mark == "*r";
    case Param::Kind::kText: return mark == "s";
  }
  return false;
}

}  // namespace

Importer::Importer(const ParamFile& file, const NcnnRequest& request, const Limits& limits)
    : file_(file),
      request_(request),
      limits_(limits),
      deadline_(limits.wall_time_ms > 0 ? absl::Now() + absl::Milliseconds(limits.wall_time_ms)
                                        : absl::InfiniteFuture()),
      builder_(limits.graph),
      file_name_(std::make_shared<const std::string>(request.name)),
      blobs_(file.blobs.size()) {}

// The whole sequence: the request's inputs, the layers in order, and as outputs what no layer
// reads.
absl::StatusOr<NcnnModel> Importer::Import() {
  COBRA_RETURN_IF_ERROR(SplitRequest());
  MarkReaders();
  for (const Layer& layer : file_.layers) {
    COBRA_RETURN_IF_ERROR(Step());
    COBRA_RETURN_IF_ERROR(RunLayer(layer));
  }
  NcnnModel model;
  Tensors outputs;
  for (size_t i = 0; i < blobs_.size(); ++i) {
    model.blobs.emplace_back(file_.blobs[i], blobs_[i].ref);
    if (!blobs_[i].is_read && !blobs_[i].ref.is_none()) outputs.push_back(blobs_[i].ref);
  }
  outputs.insert(outputs.end(), outputs_.begin(), outputs_.end());
  model.graph = std::move(builder_).Build({outputs.begin(), outputs.end()});
  model.weights = std::move(weights_);
  return model;
}

absl::Status Importer::SplitRequest() {
  std::vector<std::string> names;
  for (const Layer& layer : file_.layers) {
    if (layer.type == "Input" && layer.tops.size() == 1) names.push_back(file_.blobs[layer.tops[0]]);
  }
  const absl::flat_hash_set<std::string> known(names.begin(), names.end());
  const auto usage = [&](const std::string& text, absl::string_view what) {
    return UsageError(absl::StrCat("--input ", Quotable(text), ": ", what),
                      names.empty() ? absl::StrCat(request_.name, " has no Input layer")
                                    : Quotable(absl::StrCat(request_.name, " has ", absl::StrJoin(names, ", "))));
  };
  size_t position = 0;
  for (const std::string& text : request_.inputs) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos && position >= names.size()) return usage(text, "more inputs than the file has");
    const std::string name = equals == std::string::npos ? names[position++] : text.substr(0, equals);
    if (!known.contains(name)) return usage(text, "the file has no such input");
    if (!requested_.emplace(name, equals == std::string::npos ? text : text.substr(equals + 1)).second)
      return usage(text, "this input is given twice");
  }
  return absl::OkStatus();
}

void Importer::MarkReaders() {
  for (auto layer = file_.layers.rbegin(); layer != file_.layers.rend(); ++layer) {
    bool looks_up = layer->type == "Embed";
    const bool passes = layer->type == "Split" || layer->type == "Noop" || layer->type == "Reshape" ||
                        layer->type == "Flatten" || layer->type == "Squeeze";
    for (const int top : layer->tops) looks_up = looks_up || (passes && blobs_[top].looks_up);
    for (const int bottom : layer->bottoms) {
      blobs_[bottom].is_read = true;
      blobs_[bottom].looks_up = looks_up;
    }
  }
}

absl::Status Importer::Step() {
  if (limits_.cancelled != nullptr && limits_.cancelled->load())
    return LimitError(file_.layers[0], "the request was cancelled");
  if (absl::Now() > deadline_) return LimitError(file_.layers[0], LimitMessage("reading", limits_.wall_time_ms, "ms"));
  return absl::OkStatus();
}

absl::Status Importer::RunLayer(const Layer& layer) {
  const LayerInfo* info = InfoOf(layer.type);
  if (info == nullptr) {
    const SourcePosition position{request_.name, layer.line};
    const absl::string_view why = RefusalOf(layer.type);
    if (why.empty())
      return UserError(Diagnostic::Kind::kUnsupported, absl::StrCat(Label(layer), ": this layer type is not supported"),
                       "docs/ncnn_support.md lists those that are; a custom layer cannot be read", position);
    return UserError(Diagnostic::Kind::kUnsupported, absl::StrCat(Label(layer), ": this layer type is refused: ", why),
                     "docs/ncnn_support.md lists what is supported", position);
  }
  COBRA_RETURN_IF_ERROR(CheckParams(layer, info->keys));
  for (const int bottom : layer.bottoms) {
    const std::string name = Quotable(file_.blobs[bottom]);
    if (blobs_[bottom].open_ended) {
      return UserError(Diagnostic::Kind::kDataDependent,
                       absl::StrCat(Label(layer), ": the size of its input ", name, " depends on the network's input"),
                       "", {request_.name, layer.line});
    }
    if (TypeOf(blobs_[bottom].ref) == graph::DType::int8 && !TakesInt8(layer.type))
      return Unsupported(layer, absl::StrCat("an input of int8 (", name, ")"));
  }
  if (layer.type != "Input" && layer.type != "MemoryData" && layer.bottoms.empty())
    return Wrong(layer, "it has no input");
  if (layer.tops.empty()) return Wrong(layer, "it has no output");
  COBRA_RETURN_IF_ERROR(info->handler(*this, layer));
  for (const int top : layer.tops) {
    if (!blobs_[top].known)
      return Wrong(layer, absl::StrCat("it has no output ", Quotable(file_.blobs[top]), ", only those before it"));
  }
  return CheckHints(layer);
}

absl::Status Importer::CheckParams(const Layer& layer, absl::string_view keys) const {
  const std::vector<absl::string_view> known = absl::StrSplit(keys, ' ', absl::SkipEmpty());
  for (const auto& [key, param] : layer.params) {
    if (key == kMaskKey) continue;
    std::string mark = "none";
    if (key == kHintsKey) mark = "*";
    const std::string number = absl::StrCat(key);
    for (absl::string_view entry : known) {
      if (absl::ConsumePrefix(&entry, number) && (entry.empty() || !absl::ascii_isdigit(entry[0])))
        mark = std::string(entry);
    }
    const std::string word = Quotable(absl::StrCat(key, "=", param.text));
    // What an unknown key changes is unknown.
    if (mark == "none") return Unsupported(layer, absl::StrCat("parameter ", word));
    if (!IsOfKind(param, mark)) {
      if (param.kind == Param::Kind::kText) return Unsupported(layer, absl::StrCat("parameter ", word));
      return Wrong(layer, absl::StrCat("parameter ", word, " must be ", KindText(mark)));
    }
  }
  return absl::OkStatus();
}

// Compares the file's own shapes of the outputs with those that follow from the layer: if they
// differ, one of the two was read wrongly.
absl::Status Importer::CheckHints(const Layer& layer) const {
  const std::vector<int64_t> hints = layer.Ints(kHintsKey);
  if (resized_) return absl::OkStatus();
  for (size_t k = 0; k < layer.tops.size() && 4 * k + 4 <= hints.size(); ++k) {
    const Blob& blob = blobs_[layer.tops[k]];
    const int64_t dims = hints[4 * k];
    if (dims < 1 || dims > 3 || blob.ref.is_none() || blob.open_ended) continue;  // ncnn has hints of 1 to 3 dimensions
    graph::Shape hinted{batch_};
    for (int64_t d = dims; d > 0; --d) hinted.push_back(hints[4 * k + static_cast<size_t>(d)]);
    if (hinted == ShapeOf(blob.ref)) continue;
    return Wrong(layer, absl::StrCat("its output ", Quotable(file_.blobs[layer.tops[k]]), " is ",
                                     graph::ShapeText(ShapeOf(blob.ref)), ", the file's hint (-23330) says ",
                                     graph::ShapeText(hinted)));
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> Importer::AddNode(const Layer& layer, graph::Op op, graph::Attributes attributes,
                                          Tensors inputs, bool inplace) {
  graph::Origin origin;
  origin.file = file_name_;
  origin.line = layer.line;
  origin.module_path = layer.name;
  const absl::StatusOr<int32_t> node =
      builder_.Add(op, std::move(attributes), std::move(inputs), std::move(origin), inplace);
  if (node.ok()) return node;
  if (absl::IsResourceExhausted(node.status())) return LimitError(layer, node.status().message());
  return Wrong(layer, node.status().message());
}

absl::StatusOr<graph::ValueRef> Importer::Call(const Layer& layer, graph::Op op, graph::Attributes attributes,
                                               Tensors inputs, bool inplace) {
  COBRA_ASSIGN_OR_RETURN(const int32_t node, AddNode(layer, op, std::move(attributes), std::move(inputs), inplace));
  return graph::ValueRef::Node(node);
}

absl::StatusOr<Tensors> Importer::CallAll(const Layer& layer, graph::Op op, graph::Attributes attributes,
                                          Tensors inputs) {
  COBRA_ASSIGN_OR_RETURN(const int32_t node, AddNode(layer, op, std::move(attributes), std::move(inputs), false));
  Tensors out;
  for (size_t k = 0; k < builder_.nodes()[node].outputs.size(); ++k)
    out.push_back(graph::ValueRef::Node(node, static_cast<int32_t>(k)));
  return out;
}

absl::StatusOr<graph::ValueRef> Importer::Reshape(const Layer& layer, graph::ValueRef x, std::vector<int64_t> shape) {
  if (graph::Shape(shape.begin(), shape.end()) == ShapeOf(x)) return x;
  return Call(layer, graph::Op::reshape, {{"shape", std::move(shape)}}, {x});
}

absl::StatusOr<graph::ValueRef> Importer::Permute(const Layer& layer, graph::ValueRef x, std::vector<int64_t> dims) {
  return Call(layer, graph::Op::permute, {{"dims", std::move(dims)}}, {x});
}

absl::StatusOr<graph::ValueRef> Importer::Cut(const Layer& layer, graph::ValueRef x, int axis, int64_t start,
                                              int64_t stop) {
  std::string index;
  for (int d = 0; d <= axis; ++d) absl::StrAppend(&index, ":, ");
  return Call(layer, graph::Op::getitem, {{"index", absl::StrCat(index, start, ":", stop)}}, {x});
}

absl::StatusOr<graph::ValueRef> Importer::Pad(const Layer& layer, graph::ValueRef x, std::vector<int64_t> amounts,
                                              double value, absl::string_view mode) {
  graph::Attributes attributes{{"pad", std::move(amounts)}, {"mode", std::string(mode)}};
  if (mode == "constant") attributes.Set("value", value);
  return Call(layer, graph::Op::pad, std::move(attributes), {x});
}

absl::StatusOr<graph::ValueRef> Importer::Weight(const Layer& layer, Array array) {
  if (array.permutation.empty()) {
    array.permutation.resize(array.shape.size());
    std::iota(array.permutation.begin(), array.permutation.end(), 0);
  }
  graph::TensorType type{{}, array.dtype};
  for (const int d : array.permutation) type.shape.push_back(array.shape[d]);
  if (!array.as.empty()) type.shape = array.as;
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef ref, Parameter(layer, array.name, std::move(type)));
  weights_.push_back({ref, std::move(array.shape), std::move(array.permutation), array.has_flag});
  return ref;
}

absl::StatusOr<graph::ValueRef> Importer::Parameter(const Layer& layer, absl::string_view what,
                                                    graph::TensorType type) {
  if (graph::IsTooLarge(type, limits_.graph.max_tensor_bytes))
    return LimitError(layer, LimitMessage(absl::StrCat("its ", what), limits_.graph.max_tensor_bytes, "bytes"));
  std::string name = absl::StrCat(layer.name, ".", what);
  for (int& n = weight_names_[name]; n++ > 0;) {
    // The next number for that name, or a later one if another tensor already has the numbered
    // name.
    std::string numbered = absl::StrCat(name, "#", n);
    if (weight_names_.emplace(numbered, 1).second) {
      name = std::move(numbered);
      break;
    }
  }
  return builder_.AddParameter(name, std::move(type));
}

void Importer::SkipWeight(graph::Shape shape, bool has_flag) {
  NcnnWeight weight;
  weight.shape = std::move(shape);
  weight.has_flag = has_flag;
  weights_.push_back(std::move(weight));
}

absl::StatusOr<graph::ValueRef> Importer::Constant(const Layer& layer, graph::Shape shape) {
  graph::TensorType type{std::move(shape), graph::DType::float32};
  if (graph::IsTooLarge(type, limits_.graph.max_tensor_bytes))
    return LimitError(layer, LimitMessage("its output", limits_.graph.max_tensor_bytes, "bytes"));
  return builder_.AddConstant(layer.name, std::move(type));
}

absl::StatusOr<std::vector<int64_t>> Importer::Sizes(const Layer& layer, int key) const {
  absl::string_view text = layer.Find(key)->text;
  const std::string what = Quotable(absl::StrCat("expression ", key, "=", text));
  if (absl::ConsumePrefix(&text, "\"") && !absl::ConsumeSuffix(&text, "\""))
    return Wrong(layer, absl::StrCat(what, ": its second quotation mark is missing"));
  std::vector<graph::Shape> shapes;
  for (size_t k = 0; k < std::min<size_t>(layer.bottoms.size(), 10); ++k) {  // an expression names them by a digit
    shapes.push_back(InShape(layer, k));
    shapes.back().erase(shapes.back().begin());
  }
  absl::StatusOr<std::vector<int64_t>> sizes = EvaluateSizes(text, shapes);
  if (absl::IsUnimplemented(sizes.status()))
    return Unsupported(layer, absl::StrCat(what, ": ", Quotable(sizes.status().message())));
  if (!sizes.ok()) return Wrong(layer, absl::StrCat(what, ": ", Quotable(sizes.status().message())));
  return sizes;
}

absl::Status Importer::Set(const Layer& layer, size_t k, absl::StatusOr<graph::ValueRef> ref) {
  if (!ref.ok()) return ref.status();
  if (k >= layer.tops.size())
    return Wrong(layer, absl::StrCat("it has ", layer.tops.size(), " outputs, ", k + 1, " or more expected"));
  Blob& blob = blobs_[layer.tops[k]];
  blob.ref = *ref;
  blob.known = true;
  return absl::OkStatus();
}

absl::Status Importer::SetOpenEnded(const Layer& layer, size_t k, graph::ValueRef ref) {
  COBRA_RETURN_IF_ERROR(Set(layer, k, graph::ValueRef::None()));
  blobs_[layer.tops[k]].open_ended = true;
  AddOutput(ref);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Importer::Dim(const Layer& layer, int64_t axis, int dims) const {
  if (axis < -dims || axis >= dims)
    return Wrong(layer, absl::StrCat("axis ", axis, " of a blob of ", dims, " dimensions"));
  return (axis < 0 ? axis + dims : axis) + 1;
}

absl::Status Importer::CheckPositive(const Layer& layer, absl::string_view what,
                                     const std::vector<int64_t>& values) const {
  constexpr int64_t kMost = 1 << 20;
  for (const int64_t value : values) {
    if (value < 1 || value > kMost) return Wrong(layer, absl::StrCat(what, " of ", value));
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckWeightCount(const Layer& layer, int key, const graph::Shape& shape) const {
  const graph::TensorType type{shape, graph::DType::int8};
  if (graph::IsTooLarge(type, limits_.graph.max_tensor_bytes))
    return LimitError(layer, LimitMessage("its weights", limits_.graph.max_tensor_bytes, "bytes"));
  const int64_t said = layer.Int(key, 0);
  if (said == type.num_elements()) return absl::OkStatus();
  return Wrong(layer, absl::StrCat("it says ", said, " weights (", key, "=), its shapes need ", graph::ShapeText(shape),
                                   " = ", type.num_elements()));
}

absl::Status Importer::CheckDims(const Layer& layer, size_t k, int dims) const {
  if (Dims(layer, k) == dims) return absl::OkStatus();
  // The first layer that reads an input is often the first to say how many dimensions it has.
  const graph::ValueRef in = In(layer, k);
  const auto input = in.kind == graph::ValueRef::Kind::kInput ? unchecked_.find(in.index) : unchecked_.end();
  if (input != unchecked_.end()) {
    const size_t size = input->second.find('=') + 1;
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("--input ", input->second, ": ", Label(layer), " takes a batch and ", dims,
                                  " dimensions, this is a batch and ", Dims(layer, k)),
                     absl::StrCat("sizes are ", kOrder,
                                  dims == Dims(layer, k) + 1 ? absl::StrCat(": --input ", input->second.substr(0, size),
                                                                            "1x", input->second.substr(size))
                                                             : ""));
  }
  return Unsupported(layer, absl::StrCat("an input of ", Dims(layer, k), " dimensions (", dims, " expected)"));
}

absl::Status Importer::CheckInputs(const Layer& layer, size_t least, size_t most) const {
  const size_t n = layer.bottoms.size();
  if (n >= least && n <= most) return absl::OkStatus();
  return Wrong(layer, absl::StrCat(n, " inputs; it takes ",
                                   least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most)));
}

std::string Importer::Label(const Layer& layer) {
  return Quotable(absl::StrCat(layer.type.substr(0, 80), " ", layer.name.substr(0, 100)));
}

absl::Status Importer::Unsupported(const Layer& layer, absl::string_view what) const {
  return UserError(Diagnostic::Kind::kUnsupported, absl::StrCat(Label(layer), ": ", what, " is not supported"),
                   "docs/ncnn_support.md lists what is supported", {request_.name, layer.line});
}

absl::Status Importer::Wrong(const Layer& layer, absl::string_view what) const {
  return ParamFileError(request_.name, layer.line, absl::StrCat(Label(layer), ": ", what));
}

absl::Status Importer::LimitError(const Layer& layer, absl::string_view message) const {
  return UserError(Diagnostic::Kind::kLimit, absl::StrCat(Label(layer), ": ", message), "",
                   {request_.name, layer.line});
}

}  // namespace cobra::ncnn

#include "export/ncnn/param_writer.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace cobra::exporting::ncnn {
namespace {

constexpr absl::string_view kMagic = "7767517";
// The layer that gives an output its name until Finish().
constexpr absl::string_view kOutput = "Noop";

std::string ParamText(int key, const Param& param) {
  if (const auto* whole = std::get_if<int64_t>(&param)) return absl::StrCat(key, "=", *whole);
  // A real number has an exponent: without one ncnn takes it for a whole number. ncnn reads 15
  // characters of it.
  if (const auto* real = std::get_if<double>(&param)) return absl::StrFormat("%d=%.8e", key, *real);
  const Ints& list = std::get<Ints>(param);
  return absl::StrCat(-23300 - key, "=", list.size(), ",", absl::StrJoin(list, ","));
}

}  // namespace

Params SizesOf(const Ints& dims) {
  constexpr int kKeys[][4] = {{0}, {1, 0}, {2, 1, 0}, {2, 11, 1, 0}};
  Params params;
  for (size_t i = dims.size(); i-- > 0;) params.emplace_back(kKeys[dims.size() - 1][i], dims[i]);
  return params;
}

Names ParamWriter::Add(absl::string_view type, const std::string& name, const Names& inputs,
                       const std::vector<Ints>& dims, Params params, Arrays arrays) {
  Layer layer{std::string(type), name, inputs, {}, std::move(params), std::move(arrays)};
  if (const int number = names_[name]++; number > 0) absl::StrAppend(&layer.name, "_", number);
  for (size_t i = 0; i < dims.size(); ++i) {
    layer.outputs.push_back(dims.size() == 1 ? layer.name : absl::StrCat(layer.name, ":", i));
    dims_[layer.outputs.back()] = dims[i];
  }
  layers_.push_back(std::move(layer));
  return layers_.back().outputs;
}

std::string ParamWriter::AddInput(size_t number, const Ints& dims) {
  return Add("Input", absl::StrCat("in", number), {}, {dims}, SizesOf(dims), {})[0];
}

void ParamWriter::AddOutput(size_t number, const std::string& blob) {
  Add(kOutput, absl::StrCat("out", number), {blob}, {DimsOf(blob)}, {}, {});
}

// Views that nobody looks at in this form, and numbers that were only needed by such a view.
void ParamWriter::DropUnread() {
  std::set<std::string> read;
  for (size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const bool is_needed = layer.type != "Reshape" && layer.type != "MemoryData";
    if (is_needed || read.count(layer.outputs[0]) > 0) {
      read.insert(layer.inputs.begin(), layer.inputs.end());
    } else {
      layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void ParamWriter::Finish() {
  DropUnread();
  std::map<std::string, int> readers;
  std::set<std::string> inputs;
  for (const Layer& layer : layers_) {
    for (const std::string& input : layer.inputs) ++readers[input];
    if (layer.type == "Input") inputs.insert(layer.outputs[0]);
  }
  // An output that nobody else reads is the blob itself under another name.
  std::map<std::string, std::string> renamed;
  const auto is_renaming = [&](const Layer& layer) {
    return layer.type == kOutput && readers[layer.inputs[0]] == 1 && inputs.count(layer.inputs[0]) == 0;
  };
  for (const Layer& layer : layers_) {
    if (is_renaming(layer)) renamed[layer.inputs[0]] = layer.outputs[0];
  }
  layers_.erase(std::remove_if(layers_.begin(), layers_.end(), is_renaming), layers_.end());
  std::vector<Layer> layers;
  std::map<std::string, int> next;
  for (Layer& layer : layers_) {
    for (std::string& input : layer.inputs) {
      if (readers[input] > 1) input = absl::StrCat(input, "/split", next[input]++);
    }
    for (std::string& output : layer.outputs) {
      if (const auto found = renamed.find(output); found != renamed.end()) output = found->second;
    }
    const Names outputs = layer.outputs;
    layers.push_back(std::move(layer));
    for (const std::string& output : outputs) {
      if (readers[output] < 2) continue;
      Layer split{"Split", absl::StrCat(output, "/split"), {output}, {}, {}, {}};
      for (int i = 0; i < readers[output]; ++i) split.outputs.push_back(absl::StrCat(output, "/split", i));
      layers.push_back(std::move(split));
    }
  }
  layers_ = std::move(layers);
}

std::string ParamWriter::Text() const {
  std::string lines;
  size_t blobs = 0;
  for (const Layer& layer : layers_) {
    blobs += layer.outputs.size();
    absl::StrAppend(&lines, layer.type, " ", layer.name, " ", layer.inputs.size(), " ", layer.outputs.size());
    for (const Names* names : {&layer.inputs, &layer.outputs}) {
      for (const std::string& name : *names) absl::StrAppend(&lines, " ", name);
    }
    for (const auto& [key, param] : layer.params) absl::StrAppend(&lines, " ", ParamText(key, param));
    lines.push_back('\n');
  }
  return absl::StrCat(kMagic, "\n", layers_.size(), " ", blobs, "\n", lines);
}

std::string ParamWriter::Bytes() const {
  std::string bytes;
  for (const Layer& layer : layers_) {
    for (const Array& array : layer.arrays) {
      if (array.has_flag) bytes.append(4, '\0');  // float32, as it is
      bytes += array.bytes;
    }
  }
  return bytes;
}

}  // namespace cobra::exporting::ncnn

#include "store/queue/task_subject.h"

#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/bytes/hash.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "graph/builder/builder.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"

namespace cobra::store {
namespace {

using Json = nlohmann::ordered_json;

Json SampleToJson(const Subject& sample) {
  return {{"sample", {{"space", sample.space}, {"index", sample.index}, {"seed", sample.seed}}}};
}

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("task subject: ", what)); }

// A whole number from 0 to `most`; 0 where it is missing.
absl::StatusOr<uint64_t> Count(const Json& object, const char* name, uint64_t most) {
  const auto found = object.find(name);
  if (found == object.end()) return uint64_t{0};
  if (!found->is_number_unsigned() || found->get<uint64_t>() > most) {
    return Wrong(absl::StrCat("\"", name, "\": is not a whole number from 0 to ", most));
  }
  return found->get<uint64_t>();
}

absl::StatusOr<Subject> SampleFromJson(const Json& json) {
  if (!json.is_object()) return Wrong("\"sample\": is not an object");
  Subject sample;
  const auto space = json.find("space");
  if (space == json.end() || !space->is_string()) return Wrong("\"sample\": has no \"space\"");
  sample.space = space->get<std::string>();
  COBRA_ASSIGN_OR_RETURN(const uint64_t index, Count(json, "index", std::numeric_limits<int64_t>::max()));
  sample.index = static_cast<int64_t>(index);
  COBRA_ASSIGN_OR_RETURN(sample.seed, Count(json, "seed", std::numeric_limits<uint64_t>::max()));
  return sample;
}

constexpr absl::string_view kGraphBegins = "{\"graph\":", kRepeatBegins = ",\"repeat\":";

// The text between the two, if the text is what TaskSubjectToJson() writes of a graph; otherwise
// empty. It is not read as a tree of values first, and written again for the reader of graphs.
absl::string_view GraphText(absl::string_view text, int* repeat) {
  if (!absl::StartsWith(text, kGraphBegins) || !absl::EndsWith(text, "}")) return "";
  const size_t end = text.rfind(kRepeatBegins);
  if (end == absl::string_view::npos || end < kGraphBegins.size()) return "";
  const absl::string_view number =
      text.substr(end + kRepeatBegins.size(), text.size() - end - kRepeatBegins.size() - 1);
  if (!absl::SimpleAtoi(number, repeat) || absl::StrCat(*repeat) != number || *repeat < 0) return "";
  return text.substr(kGraphBegins.size(), end - kGraphBegins.size());
}

// With the comma after it.
int64_t NumberBytes(int64_t number) {
  int64_t bytes = 2 + (number < 0 ? 1 : 0);
  while (number /= 10) ++bytes;
  return bytes;
}

// With quotes and a comma or colon.
int64_t TextBytes(absl::string_view text) {
  int64_t bytes = 3;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bytes += byte < 0x20 ? 6 : byte >= 0x80 ? 3 : byte == '"' || byte == '\\' ? 2 : 1;  // "\u0001", U+FFFD
  }
  return bytes;
}

int64_t ShapeBytes(const graph::TensorType& type) {
  int64_t bytes = 3;
  for (const int64_t dimension : type.shape) bytes += NumberBytes(dimension);
  return bytes;
}

constexpr int64_t kRealBytes = 25, kDTypeBytes = 13;

struct ValueBytes {
  int64_t operator()(graph::NoneValue) const { return 5; }
  int64_t operator()(bool) const { return 6; }
  int64_t operator()(int64_t value) const { return NumberBytes(value); }
  int64_t operator()(double) const { return kRealBytes; }
  int64_t operator()(const std::string& value) const { return TextBytes(value); }
  int64_t operator()(const std::vector<int64_t>& values) const {
    int64_t bytes = 3;
    for (const int64_t value : values) bytes += NumberBytes(value) + 3;  // -1 may become null
    return bytes;
  }
  int64_t operator()(const std::vector<double>& values) const {
    return 3 + kRealBytes * static_cast<int64_t>(values.size());
  }
};

// Of inputs and constants, which are objects, or of parameters and buffers, whose names are keys.
int64_t TensorsBytes(absl::Span<const graph::NamedTensor> tensors, bool objects) {
  int64_t bytes = 0;
  for (const graph::NamedTensor& tensor : tensors) {
    const bool has_dtype = objects || tensor.type.dtype != graph::DType::float32;
    bytes += TextBytes(tensor.name) + ShapeBytes(tensor.type) + (has_dtype ? kDTypeBytes : 0);
    if (objects) {
      bytes += static_cast<int64_t>(absl::string_view("{\"name\":,\"shape\":,\"dtype\":},").size());
    } else if (has_dtype) {
      bytes += TextBytes(tensor.name);
    }
  }
  return bytes;
}

int64_t SourceBytes(const graph::Graph& graph, graph::ValueRef ref) {
  constexpr int64_t kNumbers = 24;  // the reference, its slot
  const bool is_parameter = ref.kind == graph::ValueRef::Kind::kParameter;
  if (!is_parameter && ref.kind != graph::ValueRef::Kind::kBuffer) return kNumbers;
  const auto tensors = is_parameter ? graph.parameters() : graph.buffers();
  return kNumbers + TextBytes(tensors[static_cast<size_t>(ref.index)].name);
}

}  // namespace

std::string TaskId(const Subject& subject, absl::string_view target) {
  return TaskIdOfJson(TaskSubjectToJson(subject), target);
}

std::string TaskIdOfJson(absl::string_view subject_json, absl::string_view target) {
  return Sha256Hex(absl::StrCat(target, "\n", subject_json)).substr(0, 32);
}

absl::StatusOr<graph::Graph> WithoutNames(const graph::Graph& graph) {
  graph::GraphBuilder builder;
  int64_t i = 0;
  for (const graph::NamedTensor& tensor : graph.inputs()) builder.AddInput(absl::StrCat("x", i++), tensor.type);
  i = 0;
  for (const graph::NamedTensor& tensor : graph.parameters()) builder.AddParameter(absl::StrCat("p", i++), tensor.type);
  i = 0;
  for (const graph::NamedTensor& tensor : graph.buffers()) builder.AddBuffer(absl::StrCat("b", i++), tensor.type);
  i = 0;
  for (const graph::NamedTensor& tensor : graph.constants()) builder.AddConstant(absl::StrCat("c", i++), tensor.type);
  for (const graph::Node& node : graph.nodes()) {
    COBRA_RETURN_IF_ERROR(builder.Add(node.op, node.attributes, node.inputs, {}, node.inplace).status());
  }
  return std::move(builder).Build({graph.outputs().begin(), graph.outputs().end()});
}

int64_t MostSubjectBytes(const graph::Graph& graph) {
  constexpr int64_t kFrame = 512, kCallKeys = 112;
  int64_t bytes = kFrame + TensorsBytes(graph.inputs(), true) + TensorsBytes(graph.parameters(), false) +
                  TensorsBytes(graph.buffers(), false) + TensorsBytes(graph.constants(), true);
  for (const auto& [alias, index] : graph.parameter_aliases()) {
    bytes += TextBytes(alias) + TextBytes(graph.parameters()[static_cast<size_t>(index)].name);
  }
  for (const graph::Node& node : graph.nodes()) {
    bytes += kCallKeys + TextBytes(graph::OpName(node.op));
    for (const graph::ValueRef& ref : node.inputs) bytes += SourceBytes(graph, ref);
    for (const auto& [name, value] : node.attributes) bytes += TextBytes(name) + std::visit(ValueBytes(), value);
    for (const graph::TensorType& type : node.outputs) bytes += ShapeBytes(type) + kDTypeBytes;
  }
  for (const graph::ValueRef& ref : graph.outputs()) bytes += SourceBytes(graph, ref);
  return bytes;
}

std::string TaskSubjectToJson(const Subject& subject) {
  if (subject.has_graph()) {
    return absl::StrCat(kGraphBegins, graph::GraphToJson(subject.graph, {/*origins=*/false}), kRepeatBegins,
                        subject.repeat, "}");
  }
  Json json = SampleToJson(subject);
  json["repeat"] = subject.repeat;
  return JsonText(json);
}

namespace {

absl::StatusOr<Subject> OfGraph(absl::string_view graph_json, int repeat, GraphReader* graphs) {
  Subject subject;
  subject.space = "asked";
  subject.repeat = repeat;
  COBRA_RETURN_IF_ERROR(graphs->Read(graph_json, &subject));
  if (!subject.has_graph()) return Wrong("\"graph\": has no calls");  // nobody could measure it
  ClassifyGraph(subject.graph, &subject);
  return subject;
}

}  // namespace

absl::StatusOr<Subject> TaskSubjectFromJson(absl::string_view text) {
  GraphReader graphs;
  return TaskSubjectFromJson(text, &graphs);
}

absl::StatusOr<Subject> TaskSubjectFromJson(absl::string_view text, GraphReader* graphs) {
  int of_graph = 0;
  if (const absl::string_view graph_text = GraphText(text, &of_graph); !graph_text.empty()) {
    if (absl::StatusOr<Subject> subject = OfGraph(graph_text, of_graph, graphs); subject.ok()) return subject;
  }
  const Json json = ParseJson<Json>(text);
  if (!json.is_object()) return Wrong("is not a JSON object");
  if (json.contains("graph") == json.contains("sample")) return Wrong("has not one of \"graph\" and \"sample\"");
  COBRA_ASSIGN_OR_RETURN(const uint64_t count, Count(json, "repeat", std::numeric_limits<int>::max()));
  const int repeat = static_cast<int>(count);
  if (json.contains("graph")) return OfGraph(json["graph"].dump(), repeat, graphs);
  COBRA_ASSIGN_OR_RETURN(Subject sample, SampleFromJson(json["sample"]));
  sample.repeat = repeat;
  return sample;
}

}  // namespace cobra::store

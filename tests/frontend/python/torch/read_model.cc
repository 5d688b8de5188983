// read_model FILE ENTRY INPUT... [--library DIR] [--torch-version V] [--print] [--usage] [--repeat
// N]
// [--steps-times N] [--eager]: the graph of a model as JSON, for graph_equality_test.py. Several
// runs of one process: --batch reads lines "FILE\tENTRY\tINPUT,INPUT", or objects {"file", "entry",
// "inputs": [...],
// "arguments": [[name, EXPR]]}, and prints one JSON line each ({"error": ...} for a refusal).
// --steps-times: of memory, too. --eager: no import is deferred. --repeat: reads it N - 1 times
// more before, and prints what each took, without the text, to standard error.
#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "frontend/python/reader.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "proto/graph_proto.h"

namespace cobra::python {
namespace {

bool print_usage = false;
Limits read_limits;
bool training = false;
int64_t cached_tokens = 0;
std::string torch_version = "1.13.1";  // the goldens'

// The inputs of a line of --batch: "1x3,1:int64"; a list of tensors "[1x3,1x4]" is one input.
std::vector<std::string> Inputs(const std::string& field) {
  if (!field.empty() && field.front() == '[') return {field};
  return absl::StrSplit(field, ',');
}

SourceRequest Request(const std::string& file, const std::string& entry, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& libraries) {
  SourceRequest request;
  request.library_roots = libraries;
  request.entry = entry;
  request.inputs = inputs;
  request.torch_version = torch_version;
  request.training = training;
  request.cached_tokens = cached_tokens;
  bool inside = false;
  for (const std::string& root : libraries) inside = inside || file.rfind(root + "/", 0) == 0;
  request.file = file;
  if (!inside) {
    request.file = file.substr(file.rfind('/') + 1);
    request.bundle[request.file] = ReadFile(file).value();
  }
  return request;
}

SourceRequest RequestOfLine(const std::string& line, const std::vector<std::string>& libraries) {
  if (line.empty() || line.front() != '{') {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    return Request(fields[0], fields[1], Inputs(fields[2]), libraries);
  }
  const nlohmann::json object = nlohmann::json::parse(line);
  SourceRequest request = Request(object.at("file").get<std::string>(), object.at("entry").get<std::string>(),
                                  object.at("inputs").get<std::vector<std::string>>(), libraries);
  for (const auto& argument : object.value("arguments", nlohmann::json::array()))
    request.arguments.emplace_back(argument[0].get<std::string>(), argument[1].get<std::string>());
  request.cached_tokens = object.value("cached_tokens", int64_t{0});
  return request;
}

// The graph is the same after a trip through a file, and after one over the API.
std::string RoundTripFault(const graph::Graph& graph, const std::string& json) {
  const absl::StatusOr<graph::Graph> from_json = graph::GraphFromJson(json);
  if (!from_json.ok()) return absl::StrCat("its JSON is refused: ", from_json.status().message());
  if (graph::GraphToJson(*from_json) != json) return "its JSON reads as another graph";
  v1::Graph proto;
  proto::GraphToProto(graph, &proto);
  const absl::StatusOr<graph::Graph> from_proto = proto::GraphFromProto(proto);
  if (!from_proto.ok()) return absl::StrCat("the API refuses it: ", from_proto.status().message());
  return graph::GraphToJson(*from_proto) == json ? "" : "the API reads it as another graph";
}

std::string Read(const SourceRequest& request, bool print) {
  ReadUsage usage;
  const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request, read_limits, &usage);
  if (print_usage)
    std::cerr << usage.steps << " steps, " << usage.library_steps << " of libraries, " << usage.memory_bytes
              << " bytes, " << request.entry << "\n";
  if (graph.ok() && print) return graph::PrintGraph(*graph);
  if (graph.ok()) {
    const std::string json = graph::GraphToJson(*graph);
    const std::string fault = RoundTripFault(*graph, json);
    return fault.empty() ? json : nlohmann::json{{"error", fault}}.dump();
  }
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  const std::string text = diagnostic ? RenderDiagnostic(*diagnostic) : graph.status().ToString();
  return print ? text : nlohmann::json{{"error", text}}.dump();
}

int Main(int argc, char** argv) {
  std::vector<std::string> libraries, rest;
  bool print = false, batch = false;
  int repeat = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--library" && i + 1 < argc) {
      libraries.push_back(argv[++i]);
    } else if (argument == "--repeat" && i + 1 < argc) {
      repeat = std::stoi(argv[++i]);
    } else if (argument == "--steps-times" && i + 1 < argc) {
      const int times = std::stoi(argv[++i]);
      read_limits.steps *= times;
      read_limits.library_steps *= times;
      read_limits.memory_bytes *= times;
    } else if (argument == "--torch-version" && i + 1 < argc) {
      torch_version = argv[++i];
    } else if (argument == "--cached-tokens" && i + 1 < argc) {
      cached_tokens = std::stoll(argv[++i]);
    } else if (argument == "--train") {
      training = true;
    } else if (argument == "--eager") {
      Importer::set_may_defer(false);
    } else if (argument == "--usage") {
      print_usage = true;
    } else if (argument == "--print") {
      print = true;
    } else if (argument == "--batch") {
      batch = true;
    } else {
      rest.push_back(argument);
    }
  }
  if (batch) {
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << Read(RequestOfLine(line, libraries), print) << std::endl;
    }
    return 0;
  }
  if (rest.size() < 2) return 2;
  const SourceRequest request = Request(rest[0], rest[1], {rest.begin() + 2, rest.end()}, libraries);
  for (int i = 1; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    (void)ReadPythonModel(request, read_limits);
    std::cerr << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() << " ms\n";
  }
  std::cout << Read(request, print) << "\n";
  return 0;
}

}  // namespace
}  // namespace cobra::python

int main(int argc, char** argv) { return cobra::python::Main(argc, argv); }

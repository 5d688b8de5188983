// ONNX's own test data (Debian's libonnx-testdata) through importer and executor:
//   onnx_conformance [--verbose] [--only NAME] DATA_DIR SUITE[=PASSED]...    one line a suite: passed, refused, not
//   claimed, failed onnx_conformance --document                                              docs/onnx_support.md
// A case is claimed when the reader knows all its operators and element types. Inputs whose values shape the network
// (axes, sizes) are given beforehand, as a user does with --arg. Exit 1 if a claimed case fails or fewer than PASSED
// pass, 77 without the data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "frontend/onnx/reader.h"
#include "frontend/onnx/tensor_data.h"
#include "onnx/onnx-data_pb.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/onnx/support_document.h"
#include "worker/executor.h"

namespace cobra::onnx {
namespace {

namespace fs = std::filesystem;

// One input or output of a case: a tensor, or the tensors of a sequence.
struct Datum {
  std::string name;
  bool is_sequence = false, absent = false;
  bool unusable = false;  // the data contradicts the file: the bfloat16 tensors whose dtype alone matters
  std::vector<graph::TensorType> types;
  std::vector<std::vector<double>> values;
};

absl::Status AddTensor(const ::onnx::TensorProto& proto, Datum* datum) {
  COBRA_ASSIGN_OR_RETURN(graph::TensorType type, TypeOf(proto));
  datum->types.push_back(std::move(type));
  datum->values.push_back(Decode(proto));
  return absl::OkStatus();
}

// Whether the tensor is what the file declares it to be.
bool Contradicts(const ::onnx::TypeProto& declared, const graph::TensorType& type) {
  if (!declared.has_tensor_type() || !declared.tensor_type().has_shape()) return false;
  const auto& shape = declared.tensor_type().shape();
  bool fits = shape.dim_size() == type.rank();
  for (int i = 0; fits && i < shape.dim_size(); ++i)
    fits = !shape.dim(i).has_dim_value() || shape.dim(i).dim_value() == type.shape[i];
  return !fits;
}

absl::StatusOr<Datum> ReadDatum(const std::string& path, const ::onnx::ValueInfoProto& info) {
  COBRA_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  Datum datum;
  datum.name = info.name();
  const ::onnx::TypeProto* type = &info.type();
  ::onnx::OptionalProto optional;
  if (type->has_optional_type()) {
    if (!optional.ParseFromString(bytes)) return absl::InvalidArgumentError("no OptionalProto");
    if (optional.has_tensor_value())
      return AddTensor(optional.tensor_value(), &datum).ok() ? absl::StatusOr<Datum>(datum)
                                                             : absl::InvalidArgumentError(path);
    datum.absent = !optional.has_sequence_value();
    if (datum.absent) return datum;
    bytes = optional.sequence_value().SerializeAsString();
    type = &type->optional_type().elem_type();
  }
  if (type->has_sequence_type()) {
    ::onnx::SequenceProto sequence;
    if (!sequence.ParseFromString(bytes)) return absl::InvalidArgumentError("no SequenceProto");
    datum.is_sequence = true;
    for (const auto& tensor : sequence.tensor_values()) COBRA_RETURN_IF_ERROR(AddTensor(tensor, &datum));
    return datum;
  }
  ::onnx::TensorProto tensor;
  if (!tensor.ParseFromString(bytes)) return absl::InvalidArgumentError("no TensorProto");
  // numpy has no bfloat16: the data says uint16 where the file says bfloat16.
  const bool brain = info.type().tensor_type().elem_type() == ::onnx::TensorProto::BFLOAT16;
  if (brain && tensor.data_type() == ::onnx::TensorProto::UINT16) tensor.set_data_type(::onnx::TensorProto::BFLOAT16);
  COBRA_RETURN_IF_ERROR(AddTensor(tensor, &datum));
  datum.unusable = Contradicts(info.type(), datum.types[0]);
  return datum;
}

std::string ShapeArgument(const Datum& datum) {
  std::vector<std::string> shapes;
  for (const graph::TensorType& type : datum.types) shapes.push_back(graph::ShapeText(type.shape));
  return absl::StrCat(datum.name, "=",
                      datum.is_sequence ? absl::StrCat("[", absl::StrJoin(shapes, ","), "]") : shapes[0]);
}

std::string ValueText(const Datum& datum, size_t dim, size_t* at) {
  const graph::Shape& shape = datum.types[0].shape;
  if (dim == shape.size()) {
    const double v = datum.values[0][(*at)++];
    return std::isnan(v) ? "nan" : std::isinf(v) ? (v > 0 ? "inf" : "-inf") : absl::StrFormat("%.17g", v);
  }
  std::vector<std::string> items;
  for (int64_t i = 0; i < shape[dim]; ++i) items.push_back(ValueText(datum, dim + 1, at));
  return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
}

// "--arg a=VALUE --arg b=VALUE": the names that a diagnostic asks for.
std::vector<std::string> NamesAskedFor(const std::string& hint) {
  std::vector<std::string> names;
  for (size_t at = hint.find("--arg "); at != std::string::npos; at = hint.find("--arg ", at + 1)) {
    const size_t end = hint.find("=VALUE", at);
    if (end != std::string::npos) names.push_back(hint.substr(at + 6, end - at - 6));
  }
  return names;
}

absl::StatusOr<OnnxModel> Import(const std::string& bytes, const std::vector<Datum>& inputs,
                                 std::set<std::string>* bound) {
  while (true) {
    OnnxRequest request;
    for (const Datum& input : inputs) {
      if (input.unusable) continue;
      if (input.absent) {
        request.arguments.emplace_back(input.name, "None");
        continue;
      }
      if (bound->count(input.name) == 0) {
        request.inputs.push_back(ShapeArgument(input));
      } else {
        size_t at = 0;
        request.arguments.emplace_back(input.name, ValueText(input, 0, &at));
      }
    }
    absl::StatusOr<OnnxModel> model = ReadOnnxModelWithValues(bytes, request);
    if (model.ok()) return model;
    const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(model.status());
    bool more = false;
    if (diagnostic.has_value()) {
      for (const std::string& name : NamesAskedFor(diagnostic->hint)) more = bound->insert(name).second || more;
    }
    if (!more) return model;
  }
}

// ONNX's own tolerances. Its bfloat16 data is cut off where LibTorch rounds: one bit.
std::string Difference(const std::vector<double>& got, const std::vector<double>& want, graph::DType dtype) {
  const double relative = dtype == graph::DType::bfloat16 ? 1.0 / 128 : 1e-3;
  if (got.size() != want.size()) return absl::StrCat(got.size(), " elements, the reference has ", want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) ? std::isnan(got[i])
                            : got[i] == want[i] || std::abs(got[i] - want[i]) <= 1e-7 + relative * std::abs(want[i]))
      continue;
    return absl::StrCat("element ", i, " is ", got[i], ", the reference has ", want[i]);
  }
  return "";
}

absl::Status RunCase(const std::string& bytes, const std::vector<Datum>& inputs, const std::vector<Datum>& outputs) {
  std::set<std::string> bound;
  COBRA_ASSIGN_OR_RETURN(OnnxModel model, Import(bytes, inputs, &bound));
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<worker::Executor> executor, worker::Executor::Create(model.graph, /*seed=*/1));
  for (const OnnxValue& value : model.values) COBRA_RETURN_IF_ERROR(executor->SetValues(value.ref, *value.values));
  int32_t index = 0;
  for (const Datum& input : inputs) {
    if (bound.count(input.name) > 0 || input.absent) continue;
    if (input.unusable) {
      ++index;
      continue;
    }
    for (const auto& values : input.values) {
      COBRA_RETURN_IF_ERROR(executor->SetValues(graph::ValueRef::Input(index++), values));
    }
  }
  if (!model.graph.nodes().empty()) COBRA_RETURN_IF_ERROR(executor->RunChecked());
  COBRA_ASSIGN_OR_RETURN(const auto values, executor->RunForValues());
  size_t at = 0;
  for (const Datum& output : outputs) {
    for (size_t i = 0; i < output.values.size(); ++i, ++at) {
      if (at >= values.size()) return absl::InternalError(absl::StrCat("output ", output.name, " is missing"));
      const graph::TensorType& type = model.graph.TypeOf(model.graph.outputs()[at]);
      if (type != output.types[i]) {
        return absl::InternalError(absl::StrCat("output ", output.name, " is ", graph::TypeText(type),
                                                ", the reference ", graph::TypeText(output.types[i])));
      }
      if (std::string difference = Difference(values[at], output.values[i], type.dtype); !difference.empty()) {
        return absl::InternalError(absl::StrCat("output ", output.name, ": ", difference));
      }
    }
  }
  if (at != values.size()) return absl::InternalError(absl::StrCat(values.size(), " outputs, the reference has ", at));
  return absl::OkStatus();
}

// Why the case is none of ours; empty if it is.
std::string WhyNotClaimed(const ::onnx::GraphProto& graph, const std::set<std::string>& operators) {
  for (const auto& node : graph.node()) {
    if (!node.domain().empty() && node.domain() != "ai.onnx") return absl::StrCat("domain ", node.domain());
    if (operators.count(node.op_type()) == 0) return node.op_type();
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "to" && attribute.i() == ::onnx::TensorProto::STRING) return "strings";
      if (!attribute.has_g()) continue;
      if (std::string why = WhyNotClaimed(attribute.g(), operators); !why.empty()) return why;
    }
  }
  for (const auto* list : {&graph.input(), &graph.output()}) {
    for (const auto& info : *list) {
      const bool string =
          info.type().tensor_type().elem_type() == ::onnx::TensorProto::STRING ||
          info.type().sequence_type().elem_type().tensor_type().elem_type() == ::onnx::TensorProto::STRING;
      if (string) return "strings";
    }
  }
  return "";
}

// Cases of claimed operators in a form that docs/onnx_support.md excludes: the reader must refuse them, not compute
// something else.
bool MustBeRefused(const std::string& name) {
  static const auto* const kRefused =
      new std::set<std::string>{"test_training_dropout", "test_training_dropout_default",
                                "test_training_dropout_default_mask", "test_training_dropout_mask"};
  return kRefused->count(name) > 0;
}

struct Counts {
  int passed = 0, refused = 0, not_claimed = 0, failed = 0;
};

class Suite {
 public:
  Suite(std::string root, std::string only, bool verbose)
      : root_(std::move(root)), only_(std::move(only)), verbose_(verbose) {
    for (const OnnxOperator& op : OnnxOperators()) operators_.insert(op.name);
  }

  Counts Run(const std::string& suite) {
    Counts counts;
    std::vector<std::string> cases;
    for (const auto& entry : fs::directory_iterator(fs::path(root_) / suite)) cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    std::map<std::string, int> missing;
    for (const std::string& folder : cases) {
      const std::string name = fs::path(folder).filename();
      if (!fs::exists(folder + "/model.onnx") || (!only_.empty() && !absl::StrContains(name, only_))) continue;
      std::string why;
      const absl::Status status = RunFolder(folder, &why);
      if (!why.empty()) {
        ++counts.not_claimed;
        ++missing[why];
      } else if (MustBeRefused(name) && absl::IsUnimplemented(status)) {
        ++counts.refused;
      } else if (status.ok()) {
        ++counts.passed;
      } else {
        ++counts.failed;
        std::printf("FAILED %s/%s: %s\n", suite.c_str(), name.c_str(), std::string(status.message()).c_str());
      }
    }
    std::printf("%s: %d passed, %d refused as documented, %d not claimed, %d failed\n", suite.c_str(), counts.passed,
                counts.refused, counts.not_claimed, counts.failed);
    if (verbose_) {
      for (const auto& [why, count] : missing) std::printf("  not claimed: %s (%d)\n", why.c_str(), count);
    }
    return counts;
  }

 private:
  absl::Status RunFolder(const std::string& folder, std::string* why) {
    COBRA_ASSIGN_OR_RETURN(std::string bytes, ReadFile(folder + "/model.onnx"));
    ::onnx::ModelProto proto;
    if (!proto.ParseFromString(bytes)) return absl::InvalidArgumentError("no model");
    *why = WhyNotClaimed(proto.graph(), operators_);
    if (!why->empty()) return absl::OkStatus();
    std::set<std::string> initializers;
    for (const auto& tensor : proto.graph().initializer()) initializers.insert(tensor.name());
    for (int set = 0; fs::exists(absl::StrCat(folder, "/test_data_set_", set)); ++set) {
      const std::string prefix = absl::StrCat(folder, "/test_data_set_", set, "/");
      std::vector<Datum> inputs, outputs;
      for (const auto& info : proto.graph().input()) {
        const std::string path = absl::StrCat(prefix, "input_", inputs.size(), ".pb");
        if (initializers.count(info.name()) > 0 || !fs::exists(path)) continue;
        COBRA_ASSIGN_OR_RETURN(Datum datum, ReadDatum(path, info));
        inputs.push_back(std::move(datum));
      }
      for (const auto& info : proto.graph().output()) {
        COBRA_ASSIGN_OR_RETURN(Datum datum, ReadDatum(absl::StrCat(prefix, "output_", outputs.size(), ".pb"), info));
        outputs.push_back(std::move(datum));
      }
      COBRA_RETURN_IF_ERROR(RunCase(bytes, inputs, outputs));
    }
    return absl::OkStatus();
  }

  const std::string root_, only_;
  const bool verbose_;
  std::set<std::string> operators_;
};

int Main(int argc, char** argv) {
  bool verbose = false;
  std::string only, root;
  std::vector<std::string> suites;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--verbose") {
      verbose = true;
    } else if (argument == "--document") {
      std::printf("%s", OnnxSupportDocument().c_str());
      return 0;
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else if (root.empty()) {
      root = argument;
    } else {
      suites.push_back(argument);
    }
  }
  if (!fs::is_directory(root)) {
    std::printf("%s: no such directory; the data is Debian's libonnx-testdata\n", root.c_str());
    return 77;
  }
  worker::ConfigureLibTorch(1);
  Suite suite(root, only, verbose);
  bool ok = true;
  for (const std::string& text : suites) {
    const std::vector<std::string> parts = absl::StrSplit(text, '=');
    const Counts counts = suite.Run(parts[0]);
    int least = 0;
    if (parts.size() > 1 && !absl::SimpleAtoi(parts[1], &least)) return 2;
    if (counts.passed < least) std::printf("%s: %d must pass\n", parts[0].c_str(), least);
    ok = ok && counts.failed == 0 && counts.passed >= least;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace cobra::onnx

int main(int argc, char** argv) { return cobra::onnx::Main(argc, argv); }

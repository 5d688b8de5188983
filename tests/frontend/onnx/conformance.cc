// Test data in the form of ONNX's own (Debian's libonnx-testdata) through importer and executor:
//   onnx_conformance [OPTIONS] DATA_DIR SUITE[=PASSED]...    one line a suite: passed, refused, not
//                                                            claimed, failed
//   onnx_conformance --document                              docs/onnx_support.md
//     --verbose           also why cases are not claimed or refused
//     --only NAME         cases with NAME in their names
//     --may-refuse        a case that the reader or LibTorch 1.13 does not support is refused, not
//                         failed
//     --tolerance PART    how far a value may be off, of the largest one of the output (0: ONNX's
//                         own tolerance)
//     --rounding STEPS    how far an integer of 8 bits may be off (0): ONNX Runtime multiplies by
//                         rounded scales
// A case is claimed when the reader knows all its operators and element types. Inputs whose values
// shape the network (axes, sizes) are given beforehand, as a user does with --arg. Exit 1 if a
// claimed case fails or fewer than PASSED pass, 77 without the data.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "frontend/onnx/reader.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/onnx/conformance_case.h"
#include "tests/frontend/onnx/support_document.h"
#include "worker/execute/executor.h"

namespace cobra::onnx {
namespace {

namespace fs = std::filesystem;

// Why the case is none of ours; empty if it is.
std::string WhyNotClaimed(const ::onnx::GraphProto& graph, const std::set<std::string>& operators) {
  for (const auto& node : graph.node()) {
    const std::string domain =
        node.domain().empty() || node.domain() == "ai.onnx" ? "" : absl::StrCat(node.domain(), ".");
    if (operators.count(absl::StrCat(domain, node.op_type())) == 0) return absl::StrCat(domain, node.op_type());
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

// Cases of claimed operators in a form that docs/onnx_support.md excludes: the reader must refuse
// them, not compute something else.
bool MustBeRefused(const std::string& name) {
  static const auto* const kRefused =
      new std::set<std::string>{"test_training_dropout", "test_training_dropout_default",
                                "test_training_dropout_default_mask", "test_training_dropout_mask"};
  return kRefused->count(name) > 0;
}

// What the command line asks for.
struct Options {
  bool verbose = false, may_refuse = false;
  std::string only;
  Tolerance tolerance;
};

struct Counts {
  int passed = 0, refused = 0, not_claimed = 0, failed = 0;
};

class Suite {
 public:
  Suite(std::string root, Options options) : root_(std::move(root)), options_(std::move(options)) {
    for (const OnnxOperator& op : OnnxOperators()) {
      if (op.is_supported) operators_.insert(op.domain.empty() ? op.name : absl::StrCat(op.domain, ".", op.name));
    }
  }

  Counts Run(const std::string& suite) {
    Counts counts;
    std::vector<std::string> cases;
    for (const auto& entry : fs::directory_iterator(fs::path(root_) / suite)) cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    std::map<std::string, int> missing, refused;
    for (const std::string& folder : cases) {
      const std::string name = fs::path(folder).filename();
      if (!fs::exists(folder + "/model.onnx") || !absl::StrContains(name, options_.only)) continue;
      std::string why;
      const absl::Status status = RunFolder(folder, &why);
      if (!why.empty()) {
        ++counts.not_claimed;
        ++missing[why];
      } else if ((options_.may_refuse || MustBeRefused(name)) && IsRefusal(status)) {
        ++counts.refused;
        ++refused[std::string(status.message())];
      } else if (status.ok()) {
        ++counts.passed;
      } else {
        ++counts.failed;
        std::printf("FAILED %s/%s: %s\n", suite.c_str(), name.c_str(), std::string(status.message()).c_str());
      }
    }
    std::printf("%s: %d passed, %d refused as documented, %d not claimed, %d failed\n", suite.c_str(), counts.passed,
                counts.refused, counts.not_claimed, counts.failed);
    if (options_.verbose) {
      for (const auto& [why, count] : missing) std::printf("  not claimed: %s (%d)\n", why.c_str(), count);
      for (const auto& [why, count] : refused) std::printf("  refused: %s (%d)\n", why.c_str(), count);
    }
    return counts;
  }

 private:
  static bool IsRefusal(const absl::Status& status) {
    return absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status);
  }

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
      COBRA_RETURN_IF_ERROR(RunCase(bytes, inputs, outputs, options_.tolerance));
    }
    return absl::OkStatus();
  }

  const std::string root_;
  const Options options_;
  std::set<std::string> operators_;
};

int Main(int argc, char** argv) {
  Options options;
  std::string root;
  std::vector<std::string> suites;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--verbose") {
      options.verbose = true;
    } else if (argument == "--may-refuse") {
      options.may_refuse = true;
    } else if (argument == "--document") {
      std::printf("%s", OnnxSupportDocument().c_str());
      return 0;
    } else if (argument == "--only" && i + 1 < argc) {
      options.only = argv[++i];
    } else if (argument == "--tolerance" && i + 1 < argc) {
      if (!absl::SimpleAtod(argv[++i], &options.tolerance.part)) return 2;
    } else if (argument == "--rounding" && i + 1 < argc) {
      if (!absl::SimpleAtod(argv[++i], &options.tolerance.steps)) return 2;
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
  Suite suite(root, options);
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

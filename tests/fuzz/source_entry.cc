#include <memory>
#include <optional>

#include "base/diagnostic.h"
#include "frontend/python/interpreter_image.h"
#include "frontend/python/reader.h"
#include "frontend/python/syntax/parse/parser.h"
#include "graph/form/fingerprint.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

// An interpreter without an image takes a hundred times as long: one input in so many gets one too.
constexpr size_t kWithoutImage = 256;

// An interpreter that has imported torch, which is rolled back after each program.
class Image {
 public:
  absl::StatusOr<graph::Graph> Read(const python::SourceRequest& request, Limits limits) {
    if (image_ == nullptr) Create(request);
    limits.steps += imported_steps_;
    python::Machine& machine = image_->Start(request, limits);
    absl::StatusOr<graph::Graph> graph = python::ReadPythonModelOn(&machine, request);
    if (!image_->Rollback()) image_.reset();
    return graph;
  }

 private:
  void Create(const python::SourceRequest& request) {
    image_ = python::InterpreterImage::Create({}, request.torch_version, {}, Limits());
    if (image_ == nullptr) Fail("no image of torch", "");
    imported_steps_ = image_->Start(request, Limits()).interpreter->steps_used();
    if (!image_->Rollback()) Fail("an image that nobody has used is not rolled back", "");
  }

  std::unique_ptr<python::InterpreterImage> image_;
  int64_t imported_steps_ = 0;
};

// A program cannot tell an image from a fresh interpreter; but the imports of an image have taken
// other steps.
void CheckWithoutImage(const python::SourceRequest& request, const absl::StatusOr<graph::Graph>& expected) {
  Limits limits = SmallLimits();
  limits.steps = Limits().steps;
  absl::StatusOr<std::unique_ptr<python::Machine>> machine =
      python::NewMachine({}, request.torch_version, request.bundle, limits);
  if (!machine.ok()) Fail("no interpreter", machine.status().ToString());
  const absl::StatusOr<graph::Graph> graph = python::ReadPythonModelOn(machine->get(), request);
  Check(graph, request.bundle.at(request.file));
  const std::optional<Diagnostic> refusal = DiagnosticFromStatus(expected.status());
  if (refusal.has_value() && refusal->kind == Diagnostic::Kind::kLimit) return;
  const bool same = expected.ok() && graph.ok() ? graph::Fingerprint(*expected) == graph::Fingerprint(*graph)
                                                : expected.status().code() == graph.status().code();
  if (!same)
    Fail("another result than without an image", expected.status().ToString() + "; " + graph.status().ToString());
}

}  // namespace

void Source(absl::string_view data) {
  // Most of what a fuzzer makes is not Python: that needs no interpreter.
  if (const auto parsed = python::ast::ParseModule(data, "model.py"); !parsed.ok())
    return CheckRefusal(parsed.status());
  python::SourceRequest request;
  request.bundle["model.py"] = std::string(data);
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = {"1x3x8x8"};
  static auto* const image = new Image();
  const absl::StatusOr<graph::Graph> graph = image->Read(request, SmallLimits());
  Check(graph, data);
  if (IsDue(data, kWithoutImage)) CheckWithoutImage(request, graph);
}

}  // namespace cobra::fuzz

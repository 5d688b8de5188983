#include "frontend/python/reader.h"
#include "frontend/python/syntax/parser.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Source(absl::string_view data) {
  // Most of what a fuzzer makes is no Python: that needs no interpreter.
  if (const auto parsed = python::ast::ParseModule(data, "model.py"); !parsed.ok())
    return CheckRefusal(parsed.status());
  python::SourceRequest request;
  request.bundle["model.py"] = std::string(data);
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = {"1x3x8x8"};
  Check(python::ReadPythonModel(request, SmallLimits()));
}

}  // namespace cobra::fuzz

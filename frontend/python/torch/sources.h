// The Python half of the library (py/*.py), as text in the program.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_SOURCES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_SOURCES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cobra::python {

struct TorchSource {
  absl::string_view name;  // "conv"
  absl::string_view text;
};
absl::Span<const TorchSource> TorchSources();

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_SOURCES_H_

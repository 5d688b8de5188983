// Inputs that a file proposes for its model, for the hint of an error: they are never used unasked.
#ifndef COBRA_FRONTEND_PYTHON_EXAMPLE_INPUTS_H_
#define COBRA_FRONTEND_PYTHON_EXAMPLE_INPUTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

struct ExampleInputs {
  std::vector<std::string> inputs;  // "--input 1x3x224x224", "--arg scale=2.5"; empty: the file proposes none
  std::string origin;               // "get_inputs()"
};

// In this order: what get_inputs() of the module returns; `input_size` of the model's default_cfg
// or pretrained_cfg (timm); the tensors that docstrings or the part below `if __name__ ==
// "__main__"` make with torch.randn(1, 3, 8, 8), rand, zeros, ones, empty or randint, if there are
// at least as many as the method needs. Runs get_inputs() of the program; no exception is pending
// afterwards.
ExampleInputs FindExampleInputs(Interpreter& interp, ModuleObject* module, Value model, absl::string_view method);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_EXAMPLE_INPUTS_H_

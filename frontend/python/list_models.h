// Possible values of --entry for a file: its model classes, and its functions that return models.
// They are found from signatures and text; no code of the program runs.
#ifndef COBRA_FRONTEND_PYTHON_LIST_MODELS_H_
#define COBRA_FRONTEND_PYTHON_LIST_MODELS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/python/reader.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::python {

// Implements ListModels of reader.h.
ModelChoice ModelNames(Interpreter& interp, ModuleObject* module);

// Whether the function returns an nn.Module: by its return annotation, or because it returns a call
// of such a class or function. False if it is not a function of the program.
bool MakesModel(Interpreter& interp, Value function);

// A call with the required arguments: "resnet50()", "GPT(config: GPTConfig)"; "f(...)" if they are
// unknown.
std::string CallText(Interpreter& interp, absl::string_view name, Value callable);

// The definition of a model's method, or of a function; null if it is not the program's own.
const ast::FunctionDef* DefinitionOf(Interpreter& interp, Value model, absl::string_view method);

// The signature of a model's method or of a function: "forward(self, x, mask=...)"; "" if it is not
// the program's own.
std::string SignatureOf(Interpreter& interp, Value model, absl::string_view method);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_LIST_MODELS_H_

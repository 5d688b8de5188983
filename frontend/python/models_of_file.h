// What a file has to offer as --entry: its classes of models, and its functions that make models. All of it is read off
// signatures and text; nothing of the program runs.
#ifndef COBRA_FRONTEND_PYTHON_MODELS_OF_FILE_H_
#define COBRA_FRONTEND_PYTHON_MODELS_OF_FILE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/python/runtime/interpreter.h"

namespace cobra::python {

// ModelsThere of reader.h.
std::vector<std::string> ModelNames(Interpreter& interp, ModuleObject* module);

// Whether calling it makes an nn.Module: by its return annotation, or because it returns a call of such a class or
// function. False for what is no function of a program.
bool MakesModel(Interpreter& interp, Value function);

// How it is called: "resnet50()", "GPT(config: GPTConfig)", with the arguments that it must have; "f(...)" where that
// is not known.
std::string CallText(Interpreter& interp, absl::string_view name, Value callable);

// "forward(self, x, mask=...)" of a model's method, or of a function; "" where it is not the program's own.
std::string SignatureOf(Interpreter& interp, Value model, absl::string_view method);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_MODELS_OF_FILE_H_

// Where a path of a program leads: into a library, to the user's own files, or nowhere.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_PLACE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_PLACE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/runtime/interpreter/native.h"

namespace cobra::python {

// What os.getcwd() gives: the folder of the user's files. Paths above it lead nowhere, so it is not
// "/".
inline constexpr absl::string_view kWorkFolder = "/model";

struct FilePlace {
  bool found = false;                  // false: outside of all that a program may see
  const FileSource* source = nullptr;  // null: the user's own files
  std::string path;                    // below the source's root, or in the bundle
};
FilePlace FilePlaceOf(Interpreter& interp, absl::string_view path);
// The place that a function's only argument names.
Result<FilePlace> FilePlaceArgument(Interpreter& interp, const CallArgs& args, absl::string_view function);

// To _cobra: reading and listing (stdlib_files.cc).
void AddFileFunctions(Interpreter& interp, NativeModuleBuilder& m);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_PLACE_H_

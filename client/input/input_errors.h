// What the command line says about a model, checked before the model is read: options that its form
// does not take, and files and folders that are not what they are given for.
#ifndef COBRA_CLIENT_INPUT_MODEL_OPTIONS_H_
#define COBRA_CLIENT_INPUT_MODEL_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/input/model_arguments.h"

namespace cobra::client {

// A form of a model other than a program.
struct FileForm {
  absl::string_view name;  // "an ONNX file"
  absl::string_view why;   // it takes no option of programs: "which holds one network"
  absl::string_view otherwise = ", or give the program that it was made from";  // after "leave --entry out"
  bool takes_inputs = true;
  bool takes_arguments = false;
};

// A usage Diagnostic for the first option that the form does not take. An option that was ignored
// would give the answer to another question. `model`: as the user wrote it.
absl::Status CheckOptions(const ModelArguments& arguments, const FileForm& form, absl::string_view model);

// The usage Diagnostic for a file whose ending is that of no form.
absl::Status NotAModel(const std::string& path);

// Whether the file's ending is that of a form of a model that stands in one file.
bool IsModelFile(const std::string& path);

// For a model file that is not there: names of the folder that are near, or, for a word without an
// ending, what a model is.
absl::Status NoSuchModel(const std::string& path);

// OK unless the path is a pipe, a socket or a device: reading a pipe without a writer would wait
// for ever, and what was read from one cannot be read again.
absl::Status CheckIsFile(const std::string& path);

// The folders of --library, without slashes at their ends.
absl::StatusOr<std::vector<std::string>> LibraryRoots(const std::vector<std::string>& libraries);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_MODEL_OPTIONS_H_

// The files that commands write: those of `graph --format onnx`, `ncnn`, `python` and `svg`, and others' --out.
#ifndef COBRA_CLIENT_WRITTEN_FILE_H_
#define COBRA_CLIENT_WRITTEN_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace cobra::client {

struct WrittenFile {
  std::string format;  // --format: "onnx", "ncnn", "python", "svg"; empty: nothing is written
  std::string
      path;  // --out: FILE.onnx or FILE.param, its weights beside it; FILE.py; FILE.svg, or empty: standard output
  bool overwrite = false;
};

// Before the model is read: a usage Diagnostic if the file's name does not fit its format, or if something of value
// would be lost: the model that is read (`model`), under whatever name, or, without --overwrite, any file that exists.
absl::Status CheckWrittenFile(const WrittenFile& file, const std::string& model);

// A usage Diagnostic if a file to write is the model that is read, under whatever name.
absl::Status CheckIsNotModel(const std::string& written, const std::string& model);

// Writes what a command has made to the file of its --out; "-": standard output, where a last line is ended.
absl::Status WriteOutput(const std::string& out, const std::string& text);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_WRITTEN_FILE_H_

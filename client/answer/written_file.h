// The files that commands write: those of `graph --format onnx`, `ncnn`, `python` and `svg`, and
// others' --out.
#ifndef COBRA_CLIENT_ANSWER_WRITTEN_FILE_H_
#define COBRA_CLIENT_ANSWER_WRITTEN_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/connection_files.h"

namespace cobra::client {

struct WrittenFile {
  std::string format;  // --format: "onnx", "ncnn", "python", "svg"; empty: nothing is written
  std::string
      path;  // --out: FILE.onnx or FILE.param, its weights beside it; FILE.py; FILE.svg, or empty: standard output
  bool overwrite = false;
};

// Before the model is read: a usage Diagnostic if the file's name does not fit its format, or if
// something of value would be lost: the model that is read (`model`), under whatever name, or,
// without --overwrite, any file that exists.
absl::Status CheckWrittenFile(const WrittenFile& file, const std::string& model);

// A usage Diagnostic, beginning with `flag`, if the file is one of `read` under whatever name.
absl::Status CheckIsNone(absl::string_view flag, const std::string& written, const std::vector<std::string>& read);

// The file, and the files written next to it.
std::vector<std::string> WrittenPaths(const WrittenFile& file);

// Of everything else that commands write, before anything is asked. A usage Diagnostic that begins
// with `flag` if the file is one of those that are read, under whatever name ("" names none). Also
// if there is one that is a program, a model or a configuration by its name, which no report, table
// or picture is meant to replace, or one to which a link leads out of the repository of this
// folder. "-": standard output.
absl::Status CheckReplaces(absl::string_view flag, const std::string& written, const std::vector<std::string>& read);
// The same; what connects to a server is read, too.
absl::Status CheckReplaces(absl::string_view flag, const std::string& written, std::vector<std::string> read,
                           const ConnectionFiles& connection);

// Writes what a command has made to the file of its --out; "-": standard output, where a last line
// is ended.
absl::Status WriteOutput(const std::string& out, const std::string& data);
// The same of text for people, which standard output gets as such (terminal/output.h). `color`: it
// has the colours of a Painter.
absl::Status WriteText(const std::string& out, const std::string& text, bool color = false);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_WRITTEN_FILE_H_

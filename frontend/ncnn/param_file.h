// The text of an ncnn .param file as data: layers in the file's order, blobs by number, parameters
// by key. layers.def says what a parameter means.
//
//   7767517                                             the magic number
//   3 3                                                 layers, blobs
//   Input        data  0 1 data 0=4 1=4 2=1             type, name, inputs, outputs, their blobs, key=value ...
//   InnerProduct ip    1 1 data fc 0=10 1=1 2=80
//   Softmax      prob  1 1 fc prob 0=0
#ifndef COBRA_FRONTEND_NCNN_PARAM_FILE_H_
#define COBRA_FRONTEND_NCNN_PARAM_FILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"

namespace cobra::ncnn {

// The value of one key. A number with a decimal point or an exponent is real, as in ncnn, which
// stores the two kinds differently and never converts them.
struct Param {
  enum class Kind { kInt, kReal, kInts, kReals, kText };
  Kind kind = Kind::kInt;
  std::vector<double> numbers;  // of kInt and kReal: one
  std::string text;             // as the file has it

  // The numbers where real ones are wanted. Whole numbers are then the bits of real ones, as ncnn
  // takes them and as its own tools have written lists: 1077936128 is 3.
  std::vector<double> AsReals() const;
};

struct Layer {
  std::string type, name;
  int line = 0;  // one-based
  std::vector<int> bottoms, tops;
  std::vector<std::pair<int, Param>> params;  // each key once

  const Param* Find(int key) const;
  // The value or the fallback. REQUIRES: the kind was checked (importer.cc compares all keys with
  // layers.def).
  int64_t Int(int key, int64_t fallback) const;
  double Real(int key, double fallback) const;
  std::vector<int64_t> Ints(int key) const;  // empty if absent
  std::vector<double> Reals(int key) const;
};

struct ParamFile {
  std::vector<Layer> layers;
  std::vector<std::string> blobs;  // names; a layer's bottoms and tops are indices
};

// Errors carry a Diagnostic that names `file` and the line: model_error for a text that is not of
// this form, usage for ncnn's binary form and pnnx's own, limit beyond a limit.
absl::StatusOr<ParamFile> ParseParamFile(absl::string_view text, const std::string& file, const NcnnLimits& limits);

// An error at a line of a file; line 0: the file as a whole.
absl::Status ParamFileError(const std::string& file, int line, absl::string_view message, absl::string_view hint = "");

// Text of the file for a message: shortened, without control characters.
std::string Quotable(absl::string_view text);

}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_PARAM_FILE_H_

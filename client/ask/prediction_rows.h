// PRED.csv of `cobra-client predict --list`: an answer a row, in the order asked. Columns: row,
// with several targets target, latency_ms, low_ms, high_ms, confidence, error. Without an answer
// the numbers are empty, and error, otherwise empty, has the reason.
#ifndef COBRA_CLIENT_ASK_PREDICTION_ROWS_H_
#define COBRA_CLIENT_ASK_PREDICTION_ROWS_H_

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// What the first columns of a row have.
struct RowName {
  std::string row;
  std::string target;  // empty: the file has no such column
};

// Lines of the file.
std::string HeaderLine(bool has_targets);
std::string AnswerLine(const RowName& name, const v1::TargetPrediction& prediction);
std::string ErrorLine(const RowName& name, const absl::Status& why);

// Takes lines in any order and writes them in theirs, each as soon as all before it are there: into
// PATH.part, which becomes PATH when it is complete. So PATH is never half a file, and what was
// answered before a crash is not lost. "-", a pipe or a device is written to directly.
class PredictionRows {
 public:
  // A usage Diagnostic, beginning with --out, if the file cannot be written.
  static absl::StatusOr<std::unique_ptr<PredictionRows>> Open(const std::string& path, bool has_targets);
  ~PredictionRows();

  // Line `index`, counted from 0. The Diagnostic of Open(), here and below, if the disk is full.
  absl::Status Add(int64_t index, std::string line);
  bool has(int64_t index) const { return index < written_ || waiting_.count(index) > 0; }
  // Moves the complete file to its name; gzipped if that ends in .gz. REQUIRES: all lines were
  // added.
  absl::Status Finish();
  // Removes what there is: nothing was asked.
  void Discard();

 private:
  PredictionRows(std::string path, std::string part, std::FILE* file)
      : path_(std::move(path)), part_(std::move(part)), file_(file) {}
  absl::Status Write(absl::string_view text);
  absl::Status Error(absl::string_view what) const;

  const std::string path_;
  const std::string part_;  // empty: written directly
  std::FILE* file_;         // null: standard output
  int64_t written_ = 0;     // lines, in order
  std::map<int64_t, std::string> waiting_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_PREDICTION_ROWS_H_

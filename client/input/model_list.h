// LIST.csv of `cobra-client predict --list`: the models that are asked about, one a row.
//
// Columns: row (any text, each once), model (a file, a folder, SPACE:STRING, or a name of
// client/input/named_model.h), and, where a model needs them, entry, inputs, arguments (values of
// --entry, --input, --arg), mode (eval or train). latency_ms, which a list of timings has besides,
// is ignored. Other columns are, too, unless their name is nearly that of a column above.
#ifndef COBRA_CLIENT_INPUT_MODEL_LIST_H_
#define COBRA_CLIENT_INPUT_MODEL_LIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/input/model_arguments.h"

namespace cobra::client {

// Values as on a command line, separated by blanks. Blanks within brackets or quotes belong to a
// value: `n=[1, 2]`, `s="a b"`. Quotes around a whole value are taken off, as a shell does.
// InvalidArgument if a bracket or quote does not end.
absl::StatusOr<std::vector<std::string>> SplitValues(absl::string_view text);

struct ListedModel {
  std::string row;
  ModelArguments model;
  std::string latency_ms;  // the cell of a list of timings, as it is
  // OK, or why there is no model: the cell has an unknown or ambiguous built-in name, or no
  // library has its file.
  absl::Status found;
};

// Rows with the same text are one model.
std::string ModelKey(const ModelArguments& model);

class ModelList {
 public:
  // Reads the file, plain or compressed, the folder or the list that we ship
  // (client/input/list_source.h), and checks all rows, so that nothing is asked for a list that is
  // damaged: a usage Diagnostic that begins with the file and the line. A model that is not there
  // is the row's own error. `of_all`: what holds for every model: libraries, method and so on.
  // `flag` was given it.
  static absl::StatusOr<ModelList> Load(const std::string& given, ModelArguments of_all,
                                        absl::string_view flag = "--list");
  ModelList(ModelList&&);
  ~ModelList();

  int64_t size() const { return size_; }
  bool has_latencies() const;  // whether there is a column latency_ms
  // Names of columns that are ignored.
  const std::vector<std::string>& ignored() const { return ignored_; }
  // The rows in their order; nothing after the last one.
  std::optional<ListedModel> Next();

 private:
  class Rows;
  explicit ModelList(std::unique_ptr<Rows> rows);

  std::unique_ptr<Rows> rows_;
  int64_t size_ = 0;
  std::vector<std::string> ignored_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_MODEL_LIST_H_

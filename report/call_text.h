// What explanations, pages and pictures show of a call.
#ifndef COBRA_REPORT_CALL_TEXT_H_
#define COBRA_REPORT_CALL_TEXT_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/types.h"

namespace cobra::report {

// The shape, and the type unless it is float32.
std::string ShortType(const graph::TensorType& type);
// Of the first tensor that the call takes; "" if it takes none.
std::string FirstInput(const graph::Graph& graph, const graph::Node& node);
// Of the first output, with the number of the others: "1x8 +2".
std::string OutputText(const graph::Node& node);

// "encoder_layer_11" -> "encoder_layer_"; nothing if it does not end in a number.
std::optional<absl::string_view> NumberedStem(absl::string_view name);

// The lines that calls come from, each file split once.
class SourceLines {
 public:
  // The text of a file, if it is known.
  using TextOf = std::function<std::optional<std::string>(const std::string& file)>;
  // `text` may be empty.
  explicit SourceLines(TextOf text) : text_(std::move(text)) {}

  // Without space at its ends; "" if unknown.
  std::string Line(const std::string& file, int line);

 private:
  const TextOf text_;
  absl::flat_hash_map<std::string, std::vector<std::string>> files_;
};

}  // namespace cobra::report

#endif  // COBRA_REPORT_CALL_TEXT_H_

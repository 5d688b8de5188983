#include "lab/published/cobra/published_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace cobra::lab {
namespace {

std::string TensorText(const graph::TensorType& type) {
  std::string text = absl::StrCat("(", absl::StrJoin(type.shape, ","), ")");
  if (type.dtype != graph::DType::float32) absl::StrAppend(&text, ":", graph::DTypeName(type.dtype));
  return text;
}

// Appends the pieces of `text`. A piece belongs to a parameter if it is part of a number and not in
// the function's name.
void AppendPieces(const WordPieceVocabulary& vocabulary, absl::string_view text, size_t parameters_begin,
                  PublishedTokens* out) {
  for (const WordPiece& piece : vocabulary.Split(text)) {
    const absl::string_view word = text.substr(piece.begin, piece.size);
    const bool digits = std::all_of(word.begin(), word.end(), [](unsigned char c) { return absl::ascii_isdigit(c); });
    out->ids.push_back(piece.id);
    out->is_parameter.push_back(digits && piece.begin >= parameters_begin ? 1 : 0);
  }
}

}  // namespace

std::string PublishedText(const graph::Graph& graph, int32_t index) {
  const graph::Node& node = graph.nodes()[static_cast<size_t>(index)];
  const graph::OpInfo& info = graph::GetOpInfo(node.op);
  std::string text = absl::StrCat(graph::OpName(node.op), "(");
  const int named = static_cast<int>(info.inputs.size());
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const graph::ValueRef& input = node.inputs[static_cast<size_t>(i)];
    absl::StrAppend(&text, info.inputs[static_cast<size_t>(std::min(i, named - 1))].name, "=",
                    input.is_none() ? "None" : TensorText(graph.TypeOf(input)), ",");
  }
  for (const auto& [name, value] : node.attributes)
    absl::StrAppend(&text, name, "=", graph::IsForTraining(node.op, name) ? "0.0" : graph::AttributeText(value), ",");
  if (node.inplace) absl::StrAppend(&text, "inplace=True,");
  if (text.back() == ',') text.pop_back();
  return absl::StrCat(text, ")");
}

std::string PublishedText(const graph::Graph& layer) {
  std::string text;
  for (int32_t i = 0; i < static_cast<int32_t>(layer.nodes().size()); ++i) {
    if (graph::GetOpInfo(layer.nodes()[static_cast<size_t>(i)].op).cost_class != graph::CostClass::kView)
      absl::StrAppend(&text, PublishedText(layer, i));
  }
  return text.empty() && !layer.nodes().empty() ? PublishedText(layer, 0) : text;
}

PublishedTokens TokenizePublished(const WordPieceVocabulary& vocabulary, const std::string& text,
                                  const std::string& appended, int64_t max_tokens) {
  PublishedTokens behind;
  AppendPieces(vocabulary, appended, appended.size(), &behind);  // the latency is not a parameter
  behind.ids.push_back(vocabulary.sep());
  behind.is_parameter.push_back(0);
  PublishedTokens tokens{{vocabulary.cls()}, {0}};
  AppendPieces(vocabulary, text, text.find('('), &tokens);
  const size_t room = static_cast<size_t>(std::max<int64_t>(max_tokens, 2)) -
                      std::min<size_t>(behind.ids.size(), static_cast<size_t>(max_tokens));
  if (tokens.ids.size() > room) {
    tokens.ids.resize(room);
    tokens.is_parameter.resize(room);
  }
  tokens.ids.insert(tokens.ids.end(), behind.ids.begin(), behind.ids.end());
  tokens.is_parameter.insert(tokens.is_parameter.end(), behind.is_parameter.begin(), behind.is_parameter.end());
  return tokens;
}

std::string AppendedLatency(double latency_us) { return absl::StrFormat(",latency=%.4g", latency_us); }

}  // namespace cobra::lab

#include "graph/getitem.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace cobra::graph {
namespace {

absl::Status BadIndex(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an index"));
}

// Splits at the commas that are outside brackets.
std::vector<absl::string_view> SplitItems(absl::string_view text) {
  std::vector<absl::string_view> items;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      items.push_back(absl::StripAsciiWhitespace(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']') {
      --depth;
    }
  }
  return items;
}

absl::StatusOr<std::optional<int64_t>> OptionalInt(absl::string_view text) {
  if (text.empty()) return std::optional<int64_t>();
  int64_t value;
  if (!absl::SimpleAtoi(text, &value)) return BadIndex(text);
  return std::optional<int64_t>(value);
}

// The shape of "[[0, 1], [2, 3]]": element counts along the first path.
absl::StatusOr<Shape> ListShape(absl::string_view text) {
  Shape shape;
  while (!text.empty() && text.front() == '[') {
    if (text.back() != ']' || shape.size() > 8) return BadIndex(text);
    const std::vector<absl::string_view> items = SplitItems(text.substr(1, text.size() - 2));
    const bool empty = items.size() == 1 && items[0].empty();
    shape.push_back(empty ? 0 : static_cast<int64_t>(items.size()));
    text = items[0];
  }
  return shape;
}

}  // namespace

absl::StatusOr<IndexList> ParseIndex(absl::string_view text) {
  // A tensor has 64 dimensions, and so has what None adds to it.
  constexpr size_t kMostItems = 1024;
  IndexList list;
  if (text.empty()) return list;
  const auto items = SplitItems(text);
  if (items.size() > kMostItems) return absl::OutOfRangeError("too many indices for tensor");
  for (absl::string_view item : items) {
    IndexItem parsed;
    if (item == "...") {
      parsed.kind = IndexItem::Kind::kEllipsis;
    } else if (item == "None") {
      parsed.kind = IndexItem::Kind::kNone;
    } else if (item == "True" || item == "False") {
      parsed.kind = IndexItem::Kind::kBool;
      parsed.value = item == "True";
    } else if (!item.empty() && item[0] == '[') {
      parsed.kind = IndexItem::Kind::kList;
      COBRA_ASSIGN_OR_RETURN(parsed.list_shape, ListShape(item));
      for (absl::string_view number : absl::StrSplit(item, absl::ByAnyChar("[], "), absl::SkipEmpty())) {
        int64_t i;
        if (!absl::SimpleAtoi(number, &i)) return BadIndex(item);
        parsed.least = std::min(parsed.least.value_or(i), i);
        parsed.most = std::max(parsed.most.value_or(i), i);
      }
    } else if (!item.empty() && item[0] == 'T' && absl::SimpleAtoi(item.substr(1), &parsed.value)) {
      parsed.kind = IndexItem::Kind::kTensor;
    } else if (item.find(':') != absl::string_view::npos) {
      parsed.kind = IndexItem::Kind::kSlice;
      const std::vector<absl::string_view> parts = absl::StrSplit(item, ':');
      if (parts.size() > 3) return BadIndex(item);
      COBRA_ASSIGN_OR_RETURN(parsed.start, OptionalInt(parts[0]));
      COBRA_ASSIGN_OR_RETURN(parsed.stop, OptionalInt(parts[1]));
      if (parts.size() == 3) {
        COBRA_ASSIGN_OR_RETURN(parsed.step, OptionalInt(parts[2]));
      }
    } else if (!absl::SimpleAtoi(item, &parsed.value)) {
      return BadIndex(item);
    }
    list.push_back(parsed);
  }
  return list;
}

}  // namespace cobra::graph

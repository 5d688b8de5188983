#include "base/text/json.h"

#include <utility>
#include <vector>

#include "base/text/limit_message.h"

namespace cobra {

JsonOutline OutlineOfJson(absl::string_view text, const JsonLimits& limits) {
  JsonOutline outline;
  int64_t values = 0;
  double comparisons = 0;
  struct Open {
    int64_t keys = 0, commas = 0;
  };
  std::vector<Open> open;
  const auto too_much = [&outline](std::string fault, bool limit = true) {
    outline.fault = std::move(fault);
    outline.limit = limit;
    return outline;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    } else if (c == '{' || c == '[') {
      ++values;
      open.emplace_back();
      if (open.size() > static_cast<size_t>(limits.max_depth))
        return too_much(LimitMessage("its nesting", limits.max_depth, "levels"), /*limit=*/false);
    } else if (c == '}' || c == ']') {
      if (!open.empty()) open.pop_back();
    } else if (c == ',') {
      ++values;
      if (!open.empty() && ++open.back().commas >= limits.max_entries)
        return too_much(LimitMessage("a list of it", limits.max_entries, "entries"));
    } else if (c == ':' && !open.empty()) {
      ++outline.keys;
      comparisons += static_cast<double>(open.back().keys++);
    }
    if (values > limits.max_values) return too_much(LimitMessage("", limits.max_values, "values"));
    if (comparisons > static_cast<double>(limits.max_key_comparisons))
      return too_much(LimitMessage("the keys of its objects", limits.max_key_comparisons, "comparisons"));
  }
  return outline;
}

}  // namespace cobra

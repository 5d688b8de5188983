#include "store/json_cut.h"

#include <cstddef>

namespace cobra::store {
namespace {

constexpr size_t kEnd = absl::string_view::npos;
constexpr absl::string_view kSpace = " \t\n\r";

size_t SkipSpace(absl::string_view text, size_t at) { return text.find_first_not_of(kSpace, at); }

char At(absl::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

// Behind the text that begins at `at`, with a quote; kEnd if it does not end.
size_t SkipText(absl::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return kEnd;
}

// Behind the value that begins at `at`; kEnd if it does not end.
size_t SkipValue(absl::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = SkipText(text, at);
      if (at == kEnd) return kEnd;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return kEnd;
      --depth;
      ++at;
    } else {
      const size_t next = text.find_first_of(depth == 0 ? ",]} \t\n\r" : "\"{}[]", at);
      if (next == kEnd) return kEnd;
      at = next;
    }
    if (depth == 0) return at;
  }
  return kEnd;
}

}  // namespace

absl::string_view MemberText(absl::string_view object, absl::string_view name) {
  absl::string_view found;
  bool is_found = false;
  size_t at = SkipSpace(object, 0);
  if (At(object, at) != '{') return "";
  at = SkipSpace(object, at + 1);
  while (At(object, at) == '"') {
    const size_t key_end = SkipText(object, at);
    if (key_end == kEnd) return "";
    const absl::string_view key = object.substr(at + 1, key_end - at - 2);
    at = SkipSpace(object, key_end);
    if (At(object, at) != ':') return "";
    const size_t begin = SkipSpace(object, at + 1);
    if (begin == kEnd) return "";
    const size_t end = SkipValue(object, begin);
    if (end == kEnd) return "";
    if (key == name) {
      if (is_found) return "";
      is_found = true;
      found = object.substr(begin, end - begin);
    }
    at = SkipSpace(object, end);
    if (At(object, at) == '}') return found;
    if (At(object, at) != ',') return "";
    at = SkipSpace(object, at + 1);
  }
  return "";
}

}  // namespace cobra::store

// Parsing JSON. nlohmann's parser recurses when a deeply nested value is destroyed or written, and
// each byte of the text takes some 50 bytes of memory, so a text is checked before it is parsed.
// This is the only place in the project that calls the parser on a text from outside
// (tests/json_parse_test.py).
#ifndef COBRA_BASE_TEXT_JSON_H_
#define COBRA_BASE_TEXT_JSON_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

struct JsonLimits {
  int max_depth = 32;  // nested objects and arrays; a graph has 5
  int64_t max_values = 2'000'000;
  int64_t max_entries = 200'000;  // of one array or object
  // An object that keeps the order of its keys compares each new key with all earlier ones. 20,000
  // keys need this many.
  int64_t max_key_comparisons = 200'000'000;
};

struct JsonOutline {
  std::string fault;   // why the text must not be parsed; empty: it may be parsed
  bool limit = false;  // whether the fault is an exceeded limit on size, not an error of form
  int64_t keys = 0;    // of all objects together
};

// Scans brackets and commas in one pass. It does not check the syntax: the parser does.
JsonOutline OutlineOfJson(absl::string_view text, const JsonLimits& limits = {});

// Json is nlohmann::json or nlohmann::ordered_json. Like Json::parse without exceptions: the result
// is_discarded() if the text is not JSON or exceeds a limit.
template <typename Json>
Json ParseJson(absl::string_view text, const JsonLimits& limits = {}) {
  if (!OutlineOfJson(text, limits).fault.empty()) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_JSON_H_

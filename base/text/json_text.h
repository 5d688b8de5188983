// Writing JSON.
#ifndef COBRA_BASE_TEXT_JSON_TEXT_H_
#define COBRA_BASE_TEXT_JSON_TEXT_H_

#include <string>

namespace cobra {

// Json::dump() without exceptions: bytes that are not UTF-8 become U+FFFD. Json is nlohmann::json
// or nlohmann::ordered_json.
template <typename Json>
std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_JSON_TEXT_H_

#include "base/text/limit_message.h"

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

// 60000 -> "60,000".
std::string Grouped(int64_t number) {
  std::string digits = absl::StrCat(number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

// 16777216 bytes -> "16 MiB".
std::string WithUnit(int64_t number, absl::string_view unit) {
  if (unit != "bytes") return absl::StrCat(Grouped(number), " ", unit);
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  const char* larger = nullptr;
  for (const char* next : kUnits) {
    if (number == 0 || number % 1024 != 0) break;
    number /= 1024;
    larger = next;
  }
  return absl::StrCat(Grouped(number), " ", larger == nullptr ? "bytes" : larger);
}

std::string Before(absl::string_view what) { return what.empty() ? "" : absl::StrCat(what, ": "); }

}  // namespace

std::string LimitMessage(absl::string_view what, int64_t limit, absl::string_view unit) {
  return absl::StrCat(Before(what), "more than the limit of ", WithUnit(limit, unit));
}

std::string LimitMessage(absl::string_view what, int64_t count, int64_t limit, absl::string_view unit) {
  return absl::StrCat(Before(what), Grouped(count), " ", unit, ", more than the limit of ", Grouped(limit));
}

}  // namespace cobra

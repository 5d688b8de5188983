// A cursor over an architecture string. All readers of architecture strings use it, so that every
// error quotes the string and points at the character.
#ifndef COBRA_FRONTEND_NAS_ARCH_TEXT_H_
#define COBRA_FRONTEND_NAS_ARCH_TEXT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::nas {

class ArchText {
 public:
  // `whole` is the complete string of the user, including options; reading starts at `position`.
  ArchText(absl::string_view whole, size_t position) : whole_(whole), position_(position) {}

  void SkipSpace();
  // Only white space is left.
  bool AtEnd();
  // Skips white space before it.
  bool Consume(absl::string_view text);
  bool Peek(absl::string_view text);
  absl::Status Expect(absl::string_view text);
  absl::Status ExpectEnd();
  // An integer of at most 9 digits, with or without a sign.
  absl::StatusOr<int64_t> Int();
  // Letters, digits, '_' and the characters of `extra`; may be empty.
  absl::string_view Word(absl::string_view extra);
  // "[1, 2]", "(1, 2)" or, as `range(2, 6)`, Python's; at most `max_items`.
  absl::StatusOr<std::vector<int64_t>> IntList(size_t max_items);

  size_t position() const { return position_; }
  // A usage Diagnostic that points at `position` (default: the cursor).
  absl::Status Error(absl::string_view message) const { return ErrorAt(position_, message); }
  absl::Status ErrorAt(size_t position, absl::string_view message, absl::string_view hint = "") const;

 private:
  absl::string_view whole_;
  size_t position_;
};

// The options between the space's name and the colon: "classes=100,dataset=cifar100".
class Options {
 public:
  Options() = default;
  explicit Options(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  // `fallback` if the option is absent; a usage error if it is not an integer in [min, max].
  absl::StatusOr<int64_t> Int(absl::string_view name, int64_t fallback, int64_t min, int64_t max) const;
  // The index in `choices` of the option's value; `fallback` if it is absent.
  absl::StatusOr<int> Choice(absl::string_view name, int fallback, const std::vector<std::string>& choices) const;
  bool Has(absl::string_view name) const { return values_.count(std::string(name)) > 0; }

 private:
  std::map<std::string, std::string> values_;
};

// ", but 1 is given", ", but 3 are given".
std::string ButGiven(size_t count);

// The string is well-formed, but the published code of the space rejects it.
absl::Status UnbuildableError(absl::string_view message);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_ARCH_TEXT_H_

#include "frontend/nas/reader.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Architecture(const absl::string_view input) {
  constexpr absl::string_view kInput = "\n--input ";
  nas::ArchitectureRequest request;
  absl::string_view data = input;
  size_t end = data.find(kInput);
  request.architecture = std::string(data.substr(0, end));
  while (end != absl::string_view::npos) {
    data.remove_prefix(end + kInput.size());
    end = data.find(kInput);
    request.inputs.emplace_back(data.substr(0, end));
  }
  Check(nas::ReadArchitecture(request, SmallLimits()), input);
}

}  // namespace cobra::fuzz

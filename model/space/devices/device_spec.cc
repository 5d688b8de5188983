#include "model/space/devices/device_spec.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "nlohmann/json.hpp"

namespace cobra::space {
namespace {

constexpr absl::string_view kKinds[] = {"gpu", "cpu", "phone", "accelerator"};

struct Number {
  absl::string_view name;
  double DeviceSpec::*member;
};
constexpr Number kNumbers[] = {{"batch", &DeviceSpec::batch},
                               {"cores", &DeviceSpec::cores},
                               {"clock_mhz", &DeviceSpec::clock_mhz},
                               {"power_w", &DeviceSpec::power_w}};

absl::Status CheckKind(const DeviceSpec& spec) {
  if (!spec.known()) return absl::OkStatus();
  for (absl::string_view kind : kKinds) {
    if (spec.kind == kind) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(spec.kind, ": no kind of device; there are gpu, cpu, phone, accelerator"));
}

}  // namespace

absl::StatusOr<DeviceSpec> DeviceSpecFromJson(absl::string_view text) {
  const nlohmann::json j = ParseJson<nlohmann::json>(text);
  if (!j.is_object())
    return absl::InvalidArgumentError("no JSON object; it looks like {\"kind\": \"gpu\", \"batch\": 32}");
  DeviceSpec spec;
  for (const auto& [key, value] : j.items()) {
    bool understood = (key == "name" || key == "family" || key == "kind") && value.is_string();
    if (understood) (key == "name" ? spec.name : key == "family" ? spec.family : spec.kind) = value.get<std::string>();
    for (const Number& number : kNumbers) {
      if (key != number.name || !value.is_number() || value.get<double>() < 0) continue;
      spec.*number.member = value.get<double>();
      understood = true;
    }
    if (!understood) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": ", value.dump(),
                                                     ": not understood; there are name, family, kind (text) and batch, "
                                                     "cores, clock_mhz, power_w (numbers from 0)"));
    }
  }
  COBRA_RETURN_IF_ERROR(CheckKind(spec));
  return spec;
}

absl::StatusOr<std::vector<DeviceSpec>> LoadDeviceSpecs(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  const absl::StatusOr<CsvTable> csv = ParseCsv(text);
  if (!csv.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", csv.status().message()));
  const int device = csv->Column("device"), family = csv->Column("family"), kind = csv->Column("kind");
  if (device < 0 || kind < 0)
    return absl::InvalidArgumentError(absl::StrCat(path, ": line 1: the header needs device and kind"));
  std::vector<DeviceSpec> specs;
  for (const CsvTable::Row& line : csv->rows) {
    const auto fail = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": line ", line.line, ": ", what));
    };
    DeviceSpec spec;
    spec.name = line.fields[static_cast<size_t>(device)];
    spec.kind = line.fields[static_cast<size_t>(kind)];
    if (family >= 0) spec.family = line.fields[static_cast<size_t>(family)];
    for (const Number& number : kNumbers) {
      const int column = csv->Column(number.name);
      if (column < 0 || line.fields[static_cast<size_t>(column)].empty()) continue;
      double value = 0;
      if (!absl::SimpleAtod(line.fields[static_cast<size_t>(column)], &value) || value < 0) {
        return fail(absl::StrCat(line.fields[static_cast<size_t>(column)], ": no number for ", number.name));
      }
      spec.*number.member = value;
    }
    const absl::Status checked = CheckKind(spec);
    if (!checked.ok()) return fail(checked.message());
    specs.push_back(std::move(spec));
  }
  return specs;
}

DeviceSpec SpecOf(const std::vector<DeviceSpec>& specs, absl::string_view name) {
  for (const DeviceSpec& spec : specs) {
    if (spec.name == name) return spec;
  }
  DeviceSpec unknown;
  unknown.name = std::string(name);
  return unknown;
}

}  // namespace cobra::space

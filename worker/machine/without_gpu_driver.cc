// gpu.h of a program that cannot load the driver's libraries, because it is linked statically
// (portable/): they would need this machine's C library.
#include "absl/strings/str_cat.h"
#include "worker/machine/gpu.h"

namespace cobra::worker {
namespace {

absl::Status NoDriver(const std::string& library) {
  return absl::NotFoundError(absl::StrCat(library, ": this cobra-worker is linked statically and loads no libraries"));
}

}  // namespace

class Nvml::Impl {};

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::Open(int device, const std::string& library) { return NoDriver(library); }
Nvml::~Nvml() = default;
std::string Nvml::name() const { return ""; }
std::string Nvml::uuid() const { return ""; }
std::string Nvml::driver_version() const { return ""; }
Nvml::Reading Nvml::Read() const { return {}; }

absl::StatusOr<GpuFacts> ReadGpuFacts(int device, const std::string& library) { return NoDriver(library); }

}  // namespace cobra::worker

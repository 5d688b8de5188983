#include "train/fit_space.h"

#include <cmath>
#include <exception>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "model/net/threads.h"
#include "model/space/models/hat_space.h"
#include "model/space/space_model.h"

namespace cobra::train {
namespace {

// Data sheets for the columns of published tables; a user's own devices have none.
constexpr const char kSpecs[] = "data/devices/spaces.csv";

constexpr char kHat[] = "hat";  // its architectures are ten numbers, not strings

}  // namespace

absl::Status FitSpace(const std::string& name, const std::string& rows, const std::string& out) {
  if (name == kHat) {
    COBRA_ASSIGN_OR_RETURN(const space::HatModels models, space::HatModels::Fit(rows));
    for (size_t d = 0; d < models.devices.size(); ++d) {
      LogInfo(absl::StrFormat("%s: nine in ten training rows within a factor of %.3f", models.devices[d],
                              std::exp(models.models[d].half_width())));
    }
    return models.Save(out);
  }
  COBRA_ASSIGN_OR_RETURN(const space::Space* space, space::FindSpace(name));
  std::vector<space::DeviceSpec> specs;
  if (const std::string path = DataPath(kSpecs); FileExists(path)) {
    COBRA_ASSIGN_OR_RETURN(specs, space::LoadDeviceSpecs(path));
  } else {
    LogInfo(absl::StrCat(kSpecs, ": is not installed with this program, so that no device has a data sheet"));
  }
  net::UseOneThread();
  try {
    COBRA_ASSIGN_OR_RETURN(const space::SpaceModel model, space::SpaceModel::Fit(*space, rows, specs));
    for (const space::KnownDevices::Device& d : model.known().devices()) {
      LogInfo(absl::StrFormat("%s: mean %.4g ms; nine in ten held-out rows within a factor of %.3f", d.spec.name,
                              d.mean_ms, std::exp(d.off_by)));
    }
    return model.Save(out);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat(rows, ": ", e.what()));
  }
}

}  // namespace cobra::train

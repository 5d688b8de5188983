#include "train/without_lab.h"

#include "base/diagnostic.h"
#include "base/user_error.h"

namespace cobra::train {

Command AddUnavailableTable(CLI::App* app) {
  CLI::App* command = app->add_subcommand("table", "Reruns one comparison (lab/tables.md); not part of this build");
  command->allow_extras();
  return {command, [] {
            return UserError(
                Diagnostic::Kind::kUsage, "table: this cobra-train was built without the comparisons (COBRA_LAB=OFF)",
                "build it with them: scripts/build.sh, or cmake -DCOBRA_LAB=ON BUILD_DIRECTORY and the target "
                "cobra-train again; they need XGBoost (Debian: libxgboost-dev)");
          }};
}

}  // namespace cobra::train

#include "client/adapt/usual_targets.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/names.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "client/adapt/calibrate_command.h"
#include "client/adapt/calibration_render.h"
#include "client/answer/exit_code.h"
#include "client/local_server.h"
#include "client/terminal/progress.h"
#include "client/terminal/terminal.h"

namespace cobra::client {
namespace {

bool MayAsk(const CommonFlags& common) {
  const bool is_named = common.client.address == kOwnServer;
  return !is_named && common.client.own_server == OwnServer::kStart && !common.quiet && !common.json &&
         SomebodyCanAnswer() && SiblingProgram("cobra-worker").find('/') != std::string::npos;
}

// The minute of calibration, offered once to a user whose machine has none. Whether this-machine is
// there now. The question is asked only where standard input and standard
// error are a terminal, the server is this user's own or the default one, and neither --quiet nor
// --format json is given. The answer is kept in the user's state folder; where it cannot be kept,
// nothing is asked. After a yes the machine is measured as by `cobra-client calibrate`; what went
// wrong is printed, and the answer is false.
bool OfferCalibration(const CommonFlags& common) {
  if (!MayAsk(common)) return false;
  const std::string folder = UserStateFolder(), file = absl::StrCat(folder, "/asked-to-calibrate");
  if (FileExists(file) || !MakeUserStateFolder().ok()) return false;
  const auto remember = [&file](const char* answer) {
    return WriteFileAtomic(file, absl::StrCat(answer, " ", absl::FormatTime(absl::Now()), "\n"));
  };
  if (!remember("no answer").ok()) return false;
  const bool yes = AskYesOrNo("Calibrate this machine now? It takes about a minute.");
  (void)remember(yes ? "yes" : "no");
  if (!yes) {
    Say("You will not be asked again; `cobra-client calibrate` does it at any time.\n");
    return false;
  }
  std::string warning;
  const absl::StatusOr<v1::CalibrateResponse> response = Calibrate(common, CalibrateFlags(), &warning);
  const bool color = StandardErrorStyle(common.color).color;
  const std::string text = response.ok() ? CalibrationTable(*response, warning)
                                         : absl::StrCat(ErrorText(response.status()),
                                                        "\nThe question goes to the trained targets instead.\n");
  Say(PaintedMessage(WithoutEscapes(text), color), color);
  return response.ok();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> UsualTargets(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, Client::Connect(common.client)->ListTargets({}));
  std::vector<std::string> trained;
  for (const v1::Target& target : known.targets()) {
    if (target.spec().name() == kThisMachine) return std::vector<std::string>{kThisMachine};
    if (!target.calibrated()) trained.push_back(target.spec().name());
  }
  if (OfferCalibration(common)) return std::vector<std::string>{kThisMachine};
  return trained;
}

}  // namespace cobra::client

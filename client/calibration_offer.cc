#include "client/calibration_offer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/without_escapes.h"
#include "client/exit_code.h"
#include "client/local_server.h"
#include "client/progress.h"
#include "client/render.h"
#include "client/terminal.h"

namespace cobra::client {
namespace {

bool MayAsk(const CommonFlags& common) {
  const bool is_named = common.client.address == kOwnServer;
  return !is_named && common.client.own_server == OwnServer::kStart && !common.quiet && !common.json &&
         SomebodyCanAnswer() && SiblingProgram("cobra-worker").find('/') != std::string::npos;
}

}  // namespace

bool OfferCalibration(const CommonFlags& common) {
  if (!MayAsk(common)) return false;
  const std::string folder = UserStateFolder(), file = absl::StrCat(folder, "/asked-to-calibrate");
  if (FileExists(file) || !MakeDirectories(folder).ok()) return false;
  const auto remember = [&file](const char* answer) {
    return WriteFileAtomic(file, absl::StrCat(answer, " ", absl::FormatTime(absl::Now()), "\n"));
  };
  if (!remember("no answer").ok()) return false;
  const bool yes = AskYesOrNo("Calibrate this machine now? It takes about a minute.");
  (void)remember(yes ? "yes" : "no");
  if (!yes) {
    Say("Not asked again; `cobra-client calibrate` does it at any time.\n");
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

}  // namespace cobra::client

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/process/command_line.h"
#include "client/doctor/doctor.h"
#include "client/doctor/model_command.h"
#include "client/program/command_line_flags.h"

namespace cobra::client {
namespace {

void AddTargets(CLI::App* app, Flags* flags) {
  TargetsFlags& targets = flags->targets;
  CLI::App* command = AddCommand(app, flags, "targets", "Lists the targets with their measured errors", kServerCodes,
                                 [flags] { return RunTargets(flags->common, flags->targets); },
                                 {{"markdown", "names"},
                                  "table, json, markdown (a card of each trained target), names (one per line)",
                                  &targets.format});
  command->add_option("--name", targets.name, "Only those with this in their names");
  command->add_option("--device", targets.device, "Only those with this in their devices' names: EPYC");
  command->add_option("--runtime", targets.runtime, "Only those with this in their runtimes' names: onnxruntime");
  command->add_option("--kind", targets.kind, "Only those of this kind: cpu, gpu");
  command->add_option("--precision", targets.precision, "Only those of this precision: float32");
  CLI::Option* calibrated = command->add_flag("--calibrated", targets.calibrated, "Only calibrated ones");
  command->add_flag("--trained", targets.trained, "Only trained ones")->excludes(calibrated);
  AddAskingFlags(command, flags);
}

void AddAdmin(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(app, flags, "admin", "Operates a server: reload, versions, caches, flush, drain",
                                 kServerCodes, [flags] { return RunAdmin(flags->common, flags->admin); });
  static const std::map<std::string, AdminAction> kActions = {{"reload", AdminAction::kReload},
                                                              {"versions", AdminAction::kVersions},
                                                              {"caches", AdminAction::kCaches},
                                                              {"flush", AdminAction::kFlush},
                                                              {"drain", AdminAction::kDrain}};
  command
      ->add_option_function<std::string>(
          "action", [flags](const std::string& name) { flags->admin.action = kActions.at(name); },
          "reload: load the model directory again; versions: those that were loaded; caches: what they hold; flush: "
          "empty them; drain: stop the server as SIGTERM does")
      ->check(CLI::IsMember(kActions))
      ->type_name("ACTION")
      ->required();
  command->add_option("--cache", flags->admin.caches, "For flush: reply, network, prediction, embedding; default: all")
      ->delimiter(',')
      ->type_name("NAME[,NAME]");
  AddAskingFlags(command, flags);
}

void AddCalibrate(CLI::App* app, Flags* flags) {
  CLI::App* command =
      AddCommand(app, flags, "calibrate", "Measures this machine (for a minute) and creates the target this-machine",
                 kServerCodes, [flags] { return RunCalibrate(flags->common, flags->calibrate); });
  CalibrateFlags& calibrate = flags->calibrate;
  command
      ->add_option("--probe", calibrate.probe_file, "Output of `cobra-worker probe --json` to use instead of measuring")
      ->type_name("FILE.json");
  command->add_option("--worker", calibrate.worker, "cobra-worker program; default: the one next to this program");
  command->add_option("--runner", calibrate.runner,
                      "Measure in this runtime, not in LibTorch: torch, onnxruntime, openvino, ncnn, or a "
                      "command (docs/runners.md)");
  command->add_option("--threads", calibrate.threads, "Threads of one operator")->capture_default_str();
  command
      ->add_option(
          "--core", calibrate.core,
          "Processor to measure on; with several threads, the first one; default: the first that this process may use")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--budget", calibrate.budget,
                   "Time for measuring: the more, the better; 1m, 5m, 30m. The first half minute's part is always "
                   "measured, which takes longer on a slow or busy machine")
      ->capture_default_str();
  command->add_option("--name", calibrate.name, "Name of the target")->capture_default_str();
  command->add_flag("--undo", calibrate.undo,
                    "Withdraw the version of the target that serves; the one before it serves again");
  AddServerFlags(command, &flags->common);
  AddDeadline(command, &flags->common, "Time limit of the server's answer; measuring does not count");
}

void AddAdapt(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "adapt", "Makes a target for a device, from its data sheet and networks that were timed on it",
      absl::StrCat(
          "For most GPUs the sheet may be a name and the software, for example\n"
          R"(  {"device": "NVIDIA L4", "kind": "gpu", "runtime": "torch-2.5", "precision": "tf32-convolutions"})"
          "\ncobra-client calibrate --undo --name NAME withdraws the target's last version.\n",
          "Exit codes: 0 success, 2 usage error (also rows or a data sheet that are refused), 3 server ",
          "unavailable,\n", kModelCodes),
      [flags] { return RunAdapt(flags->common, flags->adapt); });
  AdaptFlags& adapt = flags->adapt;
  command->add_option("--name", adapt.name, "Name of the target");
  command
      ->add_option("--spec", adapt.spec,
                   "Its data sheet, a file or the JSON itself: device, kind, runtime, precision, threads, and whatever "
                   "numbers are known (docs/adding-a-device.md)")
      ->type_name("SPEC.json");
  command
      ->add_option("--samples", adapt.samples,
                   "Up to 50 timings of networks: row,model,entry,inputs,arguments,mode,latency_ms")
      ->type_name("SAMPLES.csv");
  command->add_flag("--skip-refused", adapt.skip_refused, "Leave out refused rows instead of refusing all");
  command->add_option("--suggest", adapt.suggest, "Print this many networks of --list to time first")
      ->check(CLI::Range(1, 100));
  command->add_option("--list", adapt.list, "Networks to choose from: row,model,entry,inputs,arguments,mode")
      ->type_name("LIST.csv");
  command->add_option("--export", adapt.export_file, "Write the target --name and its timings into this file")
      ->type_name("FILE.json.gz");
  command->add_option("--import", adapt.import_file, "Make the target from a file written by --export")
      ->type_name("FILE.json.gz");
  AddReadingFlags(command, &adapt.of_all);
  AddAskingFlags(command, flags);
}

void AddObserve(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "observe", "Adds timings of networks to a target that adapt or calibrate has made",
      absl::StrCat("Exit codes: 0 success, 2 usage error (also rows that are refused), 3 server unavailable,\n",
                   kModelCodes),
      [flags] { return RunObserve(flags->common, flags->observe); });
  ObserveFlags& observe = flags->observe;
  AddModelFlags(command, &observe.model);
  command->add_option("--target", observe.target, "Name of the target")->required();
  command->add_option("--latency-ms", observe.latency_ms, "Time of one forward pass of the model: the median")
      ->check(NotEmpty())
      ->type_name("MS");
  command
      ->add_option("--samples", observe.samples,
                   "Many timings instead: row,model,entry,inputs,arguments,mode,latency_ms. For rows with the same "
                   "model the median counts")
      ->type_name("LOG.csv");
  command->add_flag("--skip-refused", observe.skip_refused, "Leave out refused rows instead of refusing all");
  AddAskingFlags(command, flags);
}

void AddModel(CLI::App* app, Flags* flags) {
  AddAskingFlags(AddCommand(app, flags, "model", "Describes the model version of the server", kServerCodes,
                            [flags] { return RunModel(flags->common); }),
                 flags);
}

void AddDoctor(CLI::App* app, Flags* flags) {
  CLI::App* command = AddCommand(
      app, flags, "doctor",
      "Checks server, weights, calibration and machine for problems, and says how to fix them; starts nothing",
      "Exit codes: 0 nothing fails, 1 something does, 2 usage error.", [flags] { return RunDoctor(flags->common); });
  AddServerFlags(command, &flags->common);
}

}  // namespace

void AddServerCommands(CLI::App* app, Flags* flags) {
  for (const auto add : {AddTargets, AddCalibrate, AddAdapt, AddObserve, AddModel, AddDoctor, AddAdmin})
    add(app, flags);
}

}  // namespace cobra::client

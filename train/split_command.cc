#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "model/training/rows/dataset.h"
#include "train/commands.h"

namespace cobra::train {
namespace {

struct SplitArguments {
  std::string rows = "data/measurements/cpu-epyc-genoa-1t", out;
};

// Writes the test layers of a table to a file, so that they stay the same when rows are added.
absl::Status WriteSplit(const std::string& rows, const std::string& out) {
  COBRA_ASSIGN_OR_RETURN(const training::Dataset data, training::LoadMeasurements(rows));
  std::set<std::string> test;
  for (const training::Sample& s : data.samples) {
    if (!s.is_network() && s.split == training::Split::kTest) test.insert(s.fingerprint());
  }
  std::string text = absl::StrCat("# Fingerprints of the test layers of ", rows,
                                  " (cobra-train split): a tenth, by hash. Never chosen from, never trained on.\n");
  for (const std::string& fingerprint : test) absl::StrAppend(&text, fingerprint, "\n");
  return WriteFileAtomic(out, text);
}

}  // namespace

Command AddSplit(CLI::App* app) {
  const auto a = std::make_shared<SplitArguments>();
  CLI::App* command = app->add_subcommand("split", "Writes the test layers of measurements to a file");
  command->add_option("--rows", a->rows, "Directory of the measurements")->capture_default_str();
  command->add_option("--out", a->out, "Fingerprints, one per line")->required();
  return {command, [a] { return WriteSplit(a->rows, a->out); }};
}

}  // namespace cobra::train

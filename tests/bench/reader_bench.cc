// The reader beside PyTorch: `cobra-bench reader`.
//
// parser_mb_per_s  all Python of the installed torch, torchvision and standard library, from memory, one thread, best
//                  of three passes
// warm_ratio       one process each, libraries imported. Ours: source to graph with every shape, nothing remembered but
//                  the imported library (interpreter_pool.h). PyTorch: build the model, torch.fx.symbolic_trace,
//                  ShapeProp. Medians.
// cold_ratio       a new process each, from start to exit: ours parses everything, PyTorch imports torch and
//                  torchvision
// The ratios are of wall clock; *_cpu_ratio of processor time, which other programs on the machine disturb less.
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "frontend/python/reader.h"
#include "frontend/python/syntax/parser.h"
#include "tests/bench/bench.h"

namespace cobra::bench {
namespace {

constexpr char kPackages[] = "/usr/lib/python3/dist-packages";
constexpr char kPython[] = "/usr/bin/python3";

struct Model {
  const char* name;
  const char* file;
};
constexpr Model kModels[] = {{"resnet50", "resnet.py"},
                             {"efficientnet_b0", "efficientnet.py"},
                             {"vit_b_16", "vision_transformer.py"},
                             {"densenet201", "densenet.py"}};

python::SourceRequest RequestOf(const Model& model) {
  python::SourceRequest request;
  request.library_roots = {kPackages};
  request.file = absl::StrCat(kPackages, "/torchvision/models/", model.file);
  request.entry = absl::StrCat(model.name, "()");
  request.inputs = {"1x3x224x224"};
  return request;
}

absl::StatusOr<Json> Parser() {
  std::vector<std::string> texts;
  double bytes = 0;
  for (const char* root :
       {"/usr/lib/python3/dist-packages/torch", "/usr/lib/python3/dist-packages/torchvision", "/usr/lib/python3.11"}) {
    COBRA_ASSIGN_OR_RETURN(std::vector<std::string> files, ListFiles(root, ".py"));
    for (const std::string& file : files) {
      const std::string path = absl::StartsWith(file, "/") ? file : absl::StrCat(root, "/", file);
      if (absl::StrContains(path, "/lib2to3/tests/")) continue;  // not Python 3 on purpose
      COBRA_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
      bytes += static_cast<double>(text.size());
      texts.push_back(std::move(text));
    }
  }
  std::vector<double> seconds;
  int rejected = 0;
  for (int pass = 0; pass < 3; ++pass) {
    const Stopwatch watch;
    rejected = 0;
    for (const std::string& text : texts) rejected += !python::ast::ParseModule(text, "file.py").ok();
    seconds.push_back(watch.Elapsed().cpu);
  }
  return Json{{"parser_mb_per_s", bytes / 1e6 / *std::min_element(seconds.begin(), seconds.end())},
              {"parser_files", texts.size()},
              {"parser_mb", bytes / 1e6},
              {"parser_rejected_files", rejected}};
}

absl::StatusOr<Seconds> Warm(const Model& model) {
  const python::SourceRequest request = RequestOf(model);
  for (int i = 0; i < 5; ++i) COBRA_RETURN_IF_ERROR(python::ReadPythonModel(request).status());
  std::vector<Seconds> runs;
  const Stopwatch all;
  while (runs.size() < 20 || (all.Elapsed().wall < 1.0 && runs.size() < 1000)) {
    const Stopwatch watch;
    COBRA_RETURN_IF_ERROR(python::ReadPythonModel(request).status());
    runs.push_back(watch.Elapsed());
  }
  return MiddleRun(std::move(runs));
}

absl::StatusOr<Seconds> MedianProcess(const std::vector<std::string>& command, int times) {
  std::vector<Seconds> runs;
  for (int i = 0; i < times; ++i) {
    COBRA_ASSIGN_OR_RETURN(Seconds seconds, TimeProcess(command, nullptr));
    runs.push_back(seconds);
  }
  return MiddleRun(std::move(runs));
}

}  // namespace

absl::StatusOr<Json> RunReader(const std::vector<std::string>& extra) {
  if (extra.size() >= 2 &&
      extra[0] == "--once") {  // the cold child; with a count behind the name, something to profile
    const int times = extra.size() > 2 ? std::stoi(extra[2]) : 1;
    for (const Model& model : kModels) {
      if (extra[1] != model.name) continue;
      for (int i = 0; i < times; ++i) COBRA_RETURN_IF_ERROR(python::ReadPythonModel(RequestOf(model)).status());
    }
    return Json();
  }
  const bool ours_only = extra.size() == 1 && extra[0] == "--ours";
  if (!extra.empty() && !ours_only)
    return absl::InvalidArgumentError("reader takes no arguments but --ours (without PyTorch)");
  const std::string script = absl::StrCat(COBRA_BENCH_SOURCE, "/reader_reference.py");
  COBRA_ASSIGN_OR_RETURN(Json result, Parser());
  Json reference;
  if (!ours_only) {
    std::string output;
    COBRA_RETURN_IF_ERROR(TimeProcess({kPython, script, "--warm", "5"}, &output).status());
    reference = Json::parse(output);
  }
  for (const Model& model : kModels) {
    COBRA_ASSIGN_OR_RETURN(const Seconds warm, Warm(model));
    COBRA_ASSIGN_OR_RETURN(const Seconds cold, MedianProcess({"/proc/self/exe", "reader", "--once", model.name}, 11));
    Json row{{"warm_ms", warm.wall * 1e3},
             {"warm_cpu_ms", warm.cpu * 1e3},
             {"cold_ms", cold.wall * 1e3},
             {"cold_cpu_ms", cold.cpu * 1e3}};
    if (!ours_only) {
      const double wall = reference[model.name]["wall_ms"], cpu = reference[model.name]["cpu_ms"];
      COBRA_ASSIGN_OR_RETURN(const Seconds theirs, MedianProcess({kPython, script, "--cold", model.name}, 3));
      row["pytorch_warm_ms"] = wall;
      row["pytorch_cold_ms"] = theirs.wall * 1e3;
      row["warm_ratio"] = wall / (warm.wall * 1e3);
      row["cold_ratio"] = theirs.wall / cold.wall;
      row["warm_cpu_ratio"] = cpu / (warm.cpu * 1e3);
      row["cold_cpu_ratio"] = theirs.cpu / cold.cpu;
    }
    result[model.name] = std::move(row);
  }
  return result;
}

}  // namespace cobra::bench

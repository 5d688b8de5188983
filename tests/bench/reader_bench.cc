// The reader beside PyTorch: `cobra-bench reader`.
//
// parser_mb_per_s  all Python of the installed torch, torchvision and standard library, from
//                  memory, one thread, best of three passes
// warm_ratio       one process each, libraries imported. Ours: source to graph with every shape,
//                  nothing remembered but the imported library (interpreter_pool.h). PyTorch: build
//                  the model, torch.fx.symbolic_trace, ShapeProp; for timm and transformers, with
//                  PyTorch 2.13, torch.export instead. Medians.
// cold_ratio       a new process each, from start to exit: ours parses everything, PyTorch imports
//                  torch and torchvision
// process_us       what reading in a separate process (server/reader/reader_processes.h,
//                  own_process_us) costs more than reading in this one (in_process_us): libraries
//                  imported, in turns, a pause before each, medians. Checking the graph that comes
//                  back (check_us) is not part of it.
// The ratios are of wall clock; *_cpu_ratio of processor time, which other programs on the machine
// disturb less.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "frontend/python/reader.h"
#include "frontend/python/syntax/parse/parser.h"
#include "proto/graph_proto.h"
#include "server/reader/reader_processes.h"
#include "tests/bench/bench.h"
#include "tests/bench/python_side.h"

namespace cobra::bench {
namespace {

constexpr char kPackages[] = "/usr/lib/python3/dist-packages";

// What `scripts/setup.sh --pypi` installs.
constexpr char kPypiPython[] = COBRA_BENCH_SOURCE "/../../build/pypi/bin/python3";
constexpr char kPypiPackages[] = COBRA_BENCH_SOURCE "/../../build/pypi/lib/python3.11/site-packages";

struct Model {
  const char* name;
  const char* packages;
  const char* file;
  const char* entry;
  const char* input;
  const char* torch_version;
};
constexpr Model kModels[] = {
    {"resnet50", kPackages, "torchvision/models/resnet.py", "resnet50()", "1x3x224x224", "1.13.1"},
    {"efficientnet_b0", kPackages, "torchvision/models/efficientnet.py", "efficientnet_b0()", "1x3x224x224", "1.13.1"},
    {"vit_b_16", kPackages, "torchvision/models/vision_transformer.py", "vit_b_16()", "1x3x224x224", "1.13.1"},
    {"densenet201", kPackages, "torchvision/models/densenet.py", "densenet201()", "1x3x224x224", "1.13.1"},
    {"timm", kPypiPackages, "timm/models/__init__.py", "create_model('resnet50')", "1x3x224x224", "2.13.0"},
    {"transformers", kPypiPackages, "transformers/__init__.py", "BertModel(BertConfig())", "input_ids=1x128:int64",
     "2.13.0"}};

bool IsOfPypi(const Model& model) { return model.packages == kPypiPackages; }

python::SourceRequest RequestOf(const Model& model) {
  python::SourceRequest request;
  const std::string packages = std::filesystem::path(model.packages).lexically_normal().string();
  request.library_roots = {packages};
  request.file = absl::StrCat(packages, "/", model.file);
  request.entry = model.entry;
  request.inputs = {model.input};
  request.torch_version = model.torch_version;
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

double MedianMicroseconds(std::vector<double> seconds) {
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2] * 1e6;
}

// What the server does with a graph that a reader sends.
absl::StatusOr<double> CheckSeconds(const graph::Graph& graph) {
  const std::string bytes = proto::GraphToWire(graph);
  const Stopwatch watch;
  COBRA_RETURN_IF_ERROR(proto::GraphFromWire(bytes).status());
  return watch.Elapsed().wall;
}

absl::StatusOr<Json> Process(const Model& model, server::ReaderProcesses* readers) {
  const python::SourceRequest here = RequestOf(model);
  v1::PredictRequest there;
  there.mutable_source()->set_file(model.file);
  there.mutable_source()->set_torch_version(model.torch_version);
  there.mutable_source()->set_entry(here.entry);
  there.mutable_source()->add_inputs(here.inputs[0]);
  std::vector<double> in_process, in_own, check;
  // Both sides learn in the first rounds what to import, and an image is made beside them.
  constexpr size_t kWarmUp = 100, kRounds = 300;
  // A reader ends and the next one is forked after the reply: without a pause, both sides would
  // share the processor with that.
  constexpr absl::Duration kPause = absl::Milliseconds(5);
  for (size_t i = 0; i < kWarmUp + kRounds; ++i) {
    absl::SleepFor(kPause);
    const Stopwatch watch;
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, python::ReadPythonModel(here));
    const double here_seconds = watch.Elapsed().wall;
    v1::PredictRequest request = there;
    absl::SleepFor(kPause);
    const Stopwatch own_watch;
    COBRA_RETURN_IF_ERROR(readers->Read(&request, GraphLimits(), server::CallContext()).status());
    const double there_seconds = own_watch.Elapsed().wall;
    COBRA_ASSIGN_OR_RETURN(const double check_seconds, CheckSeconds(graph));
    if (i < kWarmUp) continue;
    in_process.push_back(here_seconds);
    in_own.push_back(there_seconds);
    check.push_back(check_seconds);
  }
  const double check_us = MedianMicroseconds(check);
  return Json{{"process_us", MedianMicroseconds(in_own) - MedianMicroseconds(in_process) - check_us},
              {"in_process_us", MedianMicroseconds(in_process)},
              {"own_process_us", MedianMicroseconds(in_own)},
              {"check_us", check_us}};
}

absl::StatusOr<Seconds> MedianProcess(const std::vector<std::string>& command, int times) {
  std::vector<Seconds> runs;
  for (int i = 0; i < times; ++i) {
    COBRA_ASSIGN_OR_RETURN(Seconds seconds, TimeProcess(command, nullptr));
    runs.push_back(seconds);
  }
  return MiddleRun(std::move(runs));
}

struct ReaderFlags {
  bool ours = false;
  std::vector<std::string> once;  // the name of a model, and how often
};

// What the new process does; with a count, something to profile.
absl::StatusOr<Json> ReadOften(const std::vector<std::string>& once) {
  const int times = once.size() > 1 ? std::stoi(once[1]) : 1;
  for (const Model& model : kModels) {
    if (once[0] != model.name) continue;
    for (int i = 0; i < times; ++i) COBRA_RETURN_IF_ERROR(python::ReadPythonModel(RequestOf(model)).status());
  }
  return Json();
}

absl::StatusOr<Json> RunReader(bool ours_only) {
  const std::string script = absl::StrCat(COBRA_BENCH_SOURCE, "/reader_reference.py");
  if (!ours_only) COBRA_RETURN_IF_ERROR(CheckPython({"torch", "torchvision"}));
  COBRA_ASSIGN_OR_RETURN(Json result, Parser());
  const bool has_pypi = FileExists(kPypiPython);
  if (!has_pypi) result["left_out"] = "timm, transformers: `scripts/setup.sh --pypi` installs them";
  Json reference = Json::object();
  for (const char* python : {kPython, kPypiPython}) {
    if (ours_only || (python == kPypiPython && !has_pypi)) continue;
    std::string output;
    COBRA_RETURN_IF_ERROR(TimeProcess({python, script, "--warm", "5"}, &output).status());
    reference.update(Json::parse(output));
  }
  server::ReaderOptions reader_options;
  reader_options.library_roots = {kPackages};
  reader_options.torch_version = kModels[0].torch_version;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<server::ReaderProcesses> readers,
                         server::ReaderProcesses::Start(reader_options, nullptr));
  for (const Model& model : kModels) {
    if (IsOfPypi(model) && !has_pypi) continue;
    COBRA_ASSIGN_OR_RETURN(const Seconds warm, Warm(model));
    COBRA_ASSIGN_OR_RETURN(const Seconds cold, MedianProcess({"/proc/self/exe", "reader", "--once", model.name}, 11));
    Json row{{"warm_ms", warm.wall * 1e3},
             {"warm_cpu_ms", warm.cpu * 1e3},
             {"cold_ms", cold.wall * 1e3},
             {"cold_cpu_ms", cold.cpu * 1e3}};
    if (!ours_only) {
      const double wall = reference[model.name]["wall_ms"], cpu = reference[model.name]["cpu_ms"];
      COBRA_ASSIGN_OR_RETURN(const Seconds theirs,
                             MedianProcess({IsOfPypi(model) ? kPypiPython : kPython, script, "--cold", model.name}, 3));
      row["pytorch_warm_ms"] = wall;
      row["pytorch_cold_ms"] = theirs.wall * 1e3;
      row["warm_ratio"] = wall / (warm.wall * 1e3);
      row["cold_ratio"] = theirs.wall / cold.wall;
      row["warm_cpu_ratio"] = cpu / (warm.cpu * 1e3);
      row["cold_cpu_ratio"] = theirs.cpu / cold.cpu;
    }
    if (!IsOfPypi(model)) {  // a server's limits are not those of such libraries
      COBRA_ASSIGN_OR_RETURN(const Json process, Process(model, readers.get()));
      row.update(process);
    }
    result[model.name] = std::move(row);
  }
  return result;
}

}  // namespace

RunBenchmark AddReader(CLI::App* app) {
  auto flags = std::make_shared<ReaderFlags>();
  app->add_flag("--ours", flags->ours, "Leave PyTorch out");
  // For the benchmark itself, which starts it.
  app->add_option("--once", flags->once, "The new process: NAME [TIMES]")->expected(1, 2)->group("");
  return [flags] { return flags->once.empty() ? RunReader(flags->ours) : ReadOften(flags->once); };
}

}  // namespace cobra::bench

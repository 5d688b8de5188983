#include "worker/run/runner_session.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/file/tensor_file.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "export/ncnn/writer.h"
#include "export/python/program.h"
#include "export/weights.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "model/predict/target/plausibility.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"
#include "worker/execute/executor.h"
#include "worker/machine/machine.h"
#include "worker/meter/child.h"
#include "worker/run/runner_command.h"
#include "worker/run/same_results.h"
#ifdef COBRA_ONNX_WRITER
#include "export/onnx/writer.h"
#endif

namespace cobra::worker {
namespace {

#ifdef COBRA_ONNX_WRITER
constexpr absl::string_view kFormats[] = {"json", "ncnn", "onnx", "python"};
#else  // a worker without gRPC has no Protobuf, in which ONNX is written
constexpr absl::string_view kFormats[] = {"json", "ncnn", "python"};
#endif

constexpr absl::string_view kFolderName = "cobra-runner-";  // then the worker's process

// A worker that was killed leaves its folder, in memory.
void RemoveFoldersOfDead(const std::string& parent) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    const std::vector<absl::string_view> parts = absl::StrSplit(name, '-');
    int pid = 0;
    if (!absl::StartsWith(name, kFolderName) || parts.size() != 4 || !absl::SimpleAtoi(parts[2], &pid) || pid <= 0)
      continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove_all(entry.path(), error);
  }
}

absl::StatusOr<std::string> MakeFolder() {
  for (const char* parent : {"/dev/shm", static_cast<const char*>(::getenv("TMPDIR")), "/tmp"}) {
    if (parent == nullptr) continue;
    RemoveFoldersOfDead(parent);
    std::string path = absl::StrCat(parent, "/", kFolderName, ::getpid(), "-XXXXXX");
    if (::mkdtemp(path.data()) != nullptr) return path;
  }
  return absl::UnavailableError("no folder for the runner's files: set TMPDIR");
}

std::vector<std::string> RandomInputs(const graph::Graph& graph, uint64_t seed) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    inputs.push_back(exporting::RandomInput(graph, static_cast<int32_t>(i), seed));
  return inputs;
}

std::string FileOfInputs(const graph::Graph& graph, const std::vector<std::string>& inputs) {
  std::vector<std::pair<std::string, StoredTensor>> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::TensorType& type = graph.inputs()[i].type;
    tensors.push_back(
        {absl::StrCat(i),
         {{type.shape.begin(), type.shape.end()}, inputs[i], std::string(exporting::SafetensorsType(type.dtype))}});
  }
  return WriteTensorFile(tensors);
}

std::string ModelFile(absl::string_view format) {
  return absl::StrCat("network.", format == "python" ? "py" : format == "ncnn" ? "param" : format);
}

// What cannot be written begins with the operator, as what a runtime refuses.
absl::Status WithoutKind(const absl::Status& status) {
  const std::optional<Diagnostic> d = DiagnosticFromStatus(status);
  return d.has_value() && absl::IsUnimplemented(status) ? absl::UnimplementedError(d->message) : status;
}

std::string ProfileJson(const std::vector<ProfileEntry>& entries) {
  nlohmann::json out = nlohmann::json::array();
  for (const ProfileEntry& entry : entries)
    out.push_back({entry.name, std::round(entry.us * 1000) / 1000, entry.calls});
  return out.dump();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunnerSession>> RunnerSession::Create(std::vector<std::string> argv,
                                                                     const Execution& execution) {
  std::unique_ptr<RunnerSession> session(new RunnerSession(std::move(argv), execution));
  COBRA_RETURN_IF_ERROR(session->Start());
  session->description_ = session->runner_->description();
  const RunnerDescription& is = session->description_;
  if (std::find(std::begin(kFormats), std::end(kFormats), is.format) == std::end(kFormats)) {
    return absl::InvalidArgumentError(absl::StrCat(session->argv_[0], ": takes networks as \"", is.format,
                                                   "\"; there are ", absl::StrJoin(kFormats, ", ")));
  }
  for (const auto& [flag, asked, has] : {std::tuple("--precision ", PrecisionName(execution.precision), is.precisions),
                                         std::tuple("--isa ", IsaName(execution.isa), is.isas)}) {
    if (std::find(has.begin(), has.end(), asked) == has.end()) {
      return absl::InvalidArgumentError(absl::StrCat(flag, asked, ": the runner of ", is.runtime, " has ",
                                                     absl::StrJoin(has, ", "), " (docs/runners.md)"));
    }
  }
  return session;
}

RunnerSession::~RunnerSession() {
  runner_.reset();
  RemoveFolder();
}

void RunnerSession::RemoveFolder() {
  if (folder_.empty()) return;
  ::chmod(folder_.c_str(), S_IRWXU);  // a runner may have taken away the right
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  folder_.clear();
}

absl::Status RunnerSession::Start() {
  runner_.reset();
  RemoveFolder();
  COBRA_ASSIGN_OR_RETURN(folder_, MakeFolder());
  COBRA_ASSIGN_OR_RETURN(runner_, ProcessRunner::Start(argv_));
  return absl::OkStatus();
}

absl::Status RunnerSession::MakeReady() {
  if (alive()) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(Start());
  if (runner_->description() == description_) return absl::OkStatus();
  const RunnerDescription& is = runner_->description();
  runner_.reset();
  return absl::FailedPreconditionError(absl::StrCat(ProgramName(argv_), ": was ", description_.runtime, " ",
                                                    description_.version, ", describes itself as ", is.runtime, " ",
                                                    is.version, " or otherwise since it was started again"));
}

// A file that cannot be written says nothing of the graph.
absl::Status RunnerSession::Write(const std::string& file, absl::string_view contents) {
  if (absl::Status written = WriteFileAtomic(Path(file), contents); !written.ok()) broken_ = std::move(written);
  return broken_;
}

// Bounded, and not whatever the runner put there: reading a pipe or a device might not end.
absl::StatusOr<std::string> RunnerSession::ReadOutputs(const graph::Graph& graph) const {
  constexpr int64_t kMostBytesOfNumber = 8, kMostBytesOfHeader = int64_t{1} << 20;
  int64_t most = kMostBytesOfHeader;
  for (const graph::ValueRef& ref : graph.outputs()) most += 2 * kMostBytesOfNumber * graph.TypeOf(ref).num_elements();
  const std::string path = Path("outputs.safetensors");
  struct stat is;
  if (::lstat(path.c_str(), &is) != 0) return absl::InternalError("it wrote no file of outputs");
  if (!S_ISREG(is.st_mode)) return absl::InternalError("its outputs are not in a plain file");
  if (is.st_size > most) return absl::InternalError(LimitMessage("its outputs", is.st_size, most, "bytes"));
  absl::StatusOr<std::string> contents = ReadFile(path, most);
  if (!contents.ok()) return absl::InternalError("its file of outputs cannot be read");
  return contents;
}

absl::Status RunnerSession::WriteNetwork(const graph::Graph& graph, const exporting::Weights& weights) {
  const exporting::WeightsFile file(graph);
  if (absl::Status written = file.Write(weights, Path("weights.safetensors")); !written.ok()) {
    broken_ = written;
    return written;
  }
  std::string text;
  if (description_.format == "python") {
    COBRA_ASSIGN_OR_RETURN(text, exporting::WriteProgram(graph, ""));
  } else if (description_.format == "ncnn") {
    const absl::Status written = exporting::WriteNcnnFiles(graph, weights, Path(ModelFile("ncnn")));
    if (!written.ok() && !absl::IsUnimplemented(written)) broken_ = written;
    return written;
#ifdef COBRA_ONNX_WRITER
  } else if (description_.format == "onnx") {
    exporting::OnnxOptions options;
    options.weights_file = "weights.safetensors";
    COBRA_ASSIGN_OR_RETURN(text, exporting::WriteOnnx(graph, weights, options));
#endif
  } else {
    text = graph::GraphToJson(graph, {/*origins=*/false});
  }
  return Write(ModelFile(description_.format), text);
}

bool RunnerSession::IsEagerTorch() const {
  return description_.runtime == "torch" && description_.compile == "eager" && description_.format == "python";
}

RunnerSession* RunnerSession::Reference() {
  if (HasLibTorch() || IsEagerTorch() || std::exchange(looked_for_reference_, true)) return reference_.get();
  absl::StatusOr<std::vector<std::string>> command = RunnerCommand("torch");
  absl::StatusOr<std::unique_ptr<RunnerSession>> session =
      command.ok() ? Create(*std::move(command), execution_) : command.status();
  if (session.ok() && !(*session)->IsEagerTorch()) session = absl::UnavailableError("it is no PyTorch");
  if (session.ok()) {
    reference_ = *std::move(session);
  } else {
    why_not_compared_ = std::string(session.status().message());
  }
  return reference_.get();
}

std::string RunnerSession::compared_with() {
  if (HasLibTorch()) return absl::StrCat("libtorch-", LibTorchVersion());
  const RunnerSession* const reference = Reference();
  return reference == nullptr ? "nothing" : absl::StrCat("torch-", reference->description_.version);
}

RunnerSession* RunnerSession::PyTorch() { return IsEagerTorch() ? this : Reference(); }

absl::StatusOr<std::string> RunnerSession::Compute(const graph::Graph& graph, const std::string& weights,
                                                   const std::string& inputs) {
  COBRA_RETURN_IF_ERROR(MakeReady());
  COBRA_ASSIGN_OR_RETURN(const std::string program, exporting::WriteProgram(graph, ""));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(Path(ModelFile("python")), program));
  RunnerModel model;
  model.model = Path(ModelFile("python"));
  model.weights = weights;
  COBRA_RETURN_IF_ERROR(runner_->Load(model));
  const std::string outputs = Path("outputs.safetensors");
  std::error_code error;
  std::filesystem::remove_all(outputs, error);
  COBRA_RETURN_IF_ERROR(runner_->Verify(inputs, outputs));
  COBRA_ASSIGN_OR_RETURN(std::string contents, ReadOutputs(graph));
  std::filesystem::remove_all(outputs, error);  // it takes memory
  COBRA_RETURN_IF_ERROR(runner_->Unload());
  return contents;
}

std::string RunnerSession::DifferenceText(const graph::Graph& graph, const exporting::Weights& weights,
                                          const std::vector<std::string>& inputs,
                                          const absl::StatusOr<std::string>& of_reference) const {
  const double tolerance = execution_.precision == Precision::float32 ? kFloat32Tolerance : kLowPrecisionTolerance;
  const absl::StatusOr<std::string> outputs = ReadOutputs(graph);
  absl::Status status = outputs.status();
  if (outputs.ok() && HasLibTorch()) {
    if (execution_.needs_child_process()) ConfigureLibTorch(1);
    status = CompareWithLibTorch(graph, weights, inputs, *outputs, tolerance);
    if (absl::IsUnimplemented(status)) return absl::StrCat("?not comparable with LibTorch: ", status.message());
  } else if (outputs.ok() && reference_ != nullptr) {
    // What it cannot run, or fails at by itself, says nothing of the runner.
    const bool refuses = absl::IsUnimplemented(of_reference.status()) || absl::IsInternal(of_reference.status());
    if (!of_reference.ok())
      return absl::StrCat(refuses ? "?not comparable with PyTorch: " : "!PyTorch, to compare with: ",
                          of_reference.status().message());
    status = CompareWithPyTorch(graph, *of_reference, *outputs, tolerance);
  } else if (outputs.ok()) {
    status = CheckSizes(graph, *outputs);
  }
  return status.ok() ? "=" : absl::StrCat("!", status.message());
}

absl::Status RunnerSession::CheckResults(const graph::Graph& graph, const exporting::Weights& weights,
                                         const std::vector<std::string>& inputs) {
  absl::StatusOr<std::string> of_reference = std::string();
  if (RunnerSession* const reference = Reference(); reference != nullptr) {
    of_reference = reference->Compute(graph, Path("weights.safetensors"), Path("inputs.safetensors"));
    if (!of_reference.ok() && !absl::IsUnimplemented(of_reference.status())) reference->runner_.reset();
  }
  const absl::StatusOr<std::string> text =
      RunInChild([&] { return DifferenceText(graph, weights, inputs, of_reference); });
  if (absl::IsUnavailable(text.status()))
    return absl::InternalError(
        absl::StrCat(HasLibTorch() ? "LibTorch, to compare with: " : "comparing: ", text.status().message()));
  COBRA_RETURN_IF_ERROR(text.status());
  if (*text == "=") return absl::OkStatus();
  if (absl::StartsWith(*text, "?")) return absl::UnimplementedError(text->substr(1));
  return absl::InternalError(text->substr(1));
}

absl::Status RunnerSession::Load(const graph::Graph& graph, const MeasureOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const exporting::Weights weights, exporting::Weights::Random(graph, options.seed));
  COBRA_RETURN_IF_ERROR(WithoutKind(WriteNetwork(graph, weights)));
  RunnerModel model;
  model.model = Path(ModelFile(description_.format));
  model.weights = Path("weights.safetensors");
  model.precision = std::string(PrecisionName(execution_.precision));
  model.threads = execution_.threads;
  model.seed = options.seed;
  COBRA_RETURN_IF_ERROR(runner_->Load(model));
  const std::vector<std::string> inputs = RandomInputs(graph, options.seed);
  std::error_code error;  // what an earlier runner left behind is not a result
  for (const char* file : {"inputs.safetensors", "outputs.safetensors"}) std::filesystem::remove_all(Path(file), error);
  COBRA_RETURN_IF_ERROR(Write("inputs.safetensors", FileOfInputs(graph, inputs)));
  COBRA_RETURN_IF_ERROR(runner_->Verify(Path("inputs.safetensors"), Path("outputs.safetensors")));
  return CheckResults(graph, weights, inputs);
}

absl::Status RunnerSession::Time(const MeterOptions& options, store::Measurement* measurement) {
  absl::Status failure;
  const auto time = [&](int regions, int calls) {
    std::vector<RegionTimes> times;
    const absl::StatusOr<std::vector<double>> ns = runner_->Run(regions, calls);
    if (!ns.ok()) {
      failure = ns.status();
      return times;
    }
    for (double each : *ns) times.push_back({each / 1000 / calls, 0});
    return times;
  };
  measurement->latency = MeasureElsewhere({time}, options);
  return failure;
}

absl::Status RunnerSession::MeasureInto(const graph::Graph& graph, const MeasureOptions& options,
                                        store::Measurement* measurement) {
  COBRA_RETURN_IF_ERROR(Load(graph, options));
  COBRA_RETURN_IF_ERROR(Time(options.meter, measurement));
  if (const absl::Status plausible = predict::CheckPlausible(graph, measurement->latency.median_us, nullptr);
      !plausible.ok()) {
    return absl::InternalError(absl::StrCat(ProgramName(argv_), ": run: ", plausible.message()));
  }
  COBRA_RETURN_IF_ERROR(runner_->CheckClock());
  COBRA_ASSIGN_OR_RETURN(measurement->peak_memory_bytes, runner_->PeakMemoryBytes());
  if (const int64_t has = PhysicalMemoryBytes(); !execution_.is_cuda() && measurement->peak_memory_bytes > has) {
    return absl::InternalError(absl::StrCat(ProgramName(argv_), ": memory: \"peak_bytes\" is ",
                                            measurement->peak_memory_bytes, ", this machine has ", has));
  }
  if (options.profiled_runs > 0 && description_.profiles) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<ProfileEntry> entries,
                           runner_->Profile(options.profiled_runs, static_cast<int64_t>(graph.nodes().size())));
    measurement->profile_json = ProfileJson(entries);
  }
  return runner_->Unload();
}

absl::Status RunnerSession::MeasureInterleaved(const graph::Graph& graph, const MeasureOptions& options,
                                               std::istream& asks, std::ostream& answers) {
  COBRA_RETURN_IF_ERROR(MakeReady());
  COBRA_RETURN_IF_ERROR(Load(graph, options));
  for (std::string line; std::getline(asks, line);) {
    store::Measurement turn;
    COBRA_RETURN_IF_ERROR(Time(options.meter, &turn));
    answers << store::FieldsToJson(turn, {"latency_us", "runs"}) << std::endl;
  }
  return absl::OkStatus();
}

absl::StatusOr<double> RunnerSession::MedianUs(const graph::Graph& graph, int runs) {
  COBRA_RETURN_IF_ERROR(MakeReady());
  MeasureOptions options;
  COBRA_RETURN_IF_ERROR(Load(graph, options));
  COBRA_RETURN_IF_ERROR(runner_->Run(5, 1).status());
  COBRA_ASSIGN_OR_RETURN(std::vector<double> ns, runner_->Run(runs, 1));
  COBRA_RETURN_IF_ERROR(runner_->Unload());
  return Median(std::move(ns)) / 1000;
}

absl::Status RunnerSession::LoadMissingFile() {
  COBRA_RETURN_IF_ERROR(MakeReady());
  RunnerModel model;
  model.model = Path("missing");
  model.weights = Path("missing.safetensors");
  return runner_->Load(model);
}

absl::StatusOr<store::Measurement> RunnerSession::Measure(const graph::Graph& graph, const MeasureOptions& options) {
  COBRA_RETURN_IF_ERROR(MakeReady());
  store::Measurement measurement = EmptyMeasurement(graph, options);
  const absl::Status status = MeasureInto(graph, options, &measurement);
  COBRA_RETURN_IF_ERROR(broken_);
  if (status.ok()) return measurement;
  measurement = EmptyMeasurement(graph, options);  // no time of a runner that failed later
  measurement.outcome = OutcomeOf(status);
  measurement.message = std::string(status.message());
  // A runner that failed may be in any state.
  if (!absl::IsUnimplemented(status)) runner_.reset();
  return measurement;
}

}  // namespace cobra::worker

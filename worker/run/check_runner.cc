#include "worker/run/check_runner.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/process/address_space.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/without_escapes.h"
#include "worker/run/runner_session.h"

namespace cobra::worker {
namespace {

// Small enough that 200 graphs take some minutes.
constexpr int64_t kLayerMacs = 50'000'000, kNetworkMacs = 500'000'000, kTensorBytes = int64_t{8} << 20;
// A runner that keeps every network would grow by the sum of them.
constexpr double kMostGrowth = 1.3;
constexpr int64_t kMostGrowthBytes = int64_t{300} << 20;

MeasureOptions ShortRules(const Execution& execution) {
  MeasureOptions rules;
  rules.execution = execution;
  rules.meter.warmup_ms = 5;
  rules.meter.warmup_max_ms = 50;
  rules.meter.max_ms = 30;
  rules.meter.min_runs = 3;
  rules.profiled_runs = 0;
  return rules;
}

class Check {
 public:
  Check(const CheckRunnerOptions& options, std::ostream& out) : options_(options), out_(out) {}

  absl::StatusOr<bool> Run() {
    COBRA_ASSIGN_OR_RETURN(session_, RunnerSession::Create(options_.runner, options_.execution));
    const RunnerDescription& is = session_->description();
    out_ << "runtime    "
         << WithoutEscapes(
                absl::StrCat(is.runtime, " ", is.version, ", ", is.compile, ", networks as ", is.format, "\n"));
    COBRA_RETURN_IF_ERROR(CheckGraphs());
    COBRA_RETURN_IF_ERROR(CheckClock());
    CheckMemory();
    CheckFailure();
    out_ << (failures_ == 0 ? "passed\n" : "failed\n");
    return failures_ == 0;
  }

 private:
  void Fail(absl::string_view what, absl::string_view message) {
    ++failures_;
    out_ << "FAILED     " << what << ": " << WithoutEscapes(message) << std::endl;
  }

  absl::StatusOr<std::unique_ptr<Sampler>> SmallSampler(const char* space) const {
    SamplerOptions sampler = options_.sampler;
    sampler.caps.layer_macs = sampler.caps.grouped_macs = kLayerMacs;
    sampler.caps.network_macs = kNetworkMacs;
    sampler.caps.tensor_bytes = kTensorBytes;
    sampler.caps.weight_bytes = 4 * kTensorBytes;
    return MakeSampler(space, sampler);
  }

  absl::Status CheckGraphs() {
    COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Sampler> layers, SmallSampler("real-layers"));
    COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Sampler> networks, SmallSampler("real-networks"));
    for (int i = 0; i < options_.graphs; ++i) COBRA_RETURN_IF_ERROR(CheckGraph(i % 4 == 3 ? *networks : *layers, i));
    out_ << "results    " << equal_ << " of " << equal_ + wrong_ << Compared() << unsupported_ << " not supported\n";
    for (const auto& [message, count] : reasons_)
      out_ << "           " << Counted(count, "time") << ": " << WithoutEscapes(message) << "\n";
    if (equal_ + wrong_ == 0) Fail("results", "it runs none of these graphs");
    return absl::OkStatus();
  }

  std::string Compared() const {
    const std::string with = session_->compared_with();
    if (with == "nothing") return " have the right size, no number is compared: this program carries no LibTorch; ";
    return absl::StrCat(" as ", absl::StartsWith(with, "libtorch-") ? "LibTorch" : with, " computes them, ");
  }

  absl::Status CheckGraph(const Sampler& sampler, int index) {
    const absl::StatusOr<Sample> sample = sampler.At(index);
    if (!sample.ok()) return absl::OkStatus();
    MeasureOptions rules = ShortRules(options_.execution);
    rules.seed = static_cast<uint64_t>(index) + 1;
    COBRA_ASSIGN_OR_RETURN(const store::Measurement measured, session_->Measure(sample->graph, rules));
    if (measured.outcome == store::Outcome::ok) {
      ++equal_;
    } else if (measured.outcome == store::Outcome::unsupported) {
      ++unsupported_;
      ++reasons_[measured.message.substr(0, measured.message.find('\n'))];
    } else {
      ++wrong_;
      Fail(absl::StrCat(sampler.space(), " ", index, " (", sample->label, ")"), measured.message);
    }
    if (index == kFirstGraphs) early_bytes_ = ResidentBytes(session_->pid());
    return absl::OkStatus();
  }

  // The graphs above run too briefly to tell a wrong clock from the way of a request.
  absl::Status CheckClock() {
    constexpr int kMostTries = 20;
    MeasureOptions rules = ShortRules(options_.execution);
    rules.meter.max_ms = 500;
    rules.meter.interval = 0;  // until then
    rules.profiled_runs = 3;
    for (const char* space : {"real-networks", "real-layers"}) {  // some run no whole network
      COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Sampler> sampler, SmallSampler(space));
      for (int i = 0; i < kMostTries; ++i) {
        const absl::StatusOr<Sample> sample = sampler->At(i);
        if (!sample.ok()) break;
        COBRA_ASSIGN_OR_RETURN(const store::Measurement measured, session_->Measure(sample->graph, rules));
        if (measured.outcome == store::Outcome::unsupported) continue;
        if (measured.outcome == store::Outcome::ok)
          out_ << "clock      as ours in " << measured.latency.runs << " runs of " << sample->label << "\n";
        else
          Fail("clock", measured.message);
        return absl::OkStatus();
      }
    }
    out_ << "clock      not checked: it runs none of " << 2 * kMostTries << " graphs\n";
    return absl::OkStatus();
  }

  void CheckMemory() {
    if (early_bytes_ == 0) {
      out_ << "memory     not checked: it takes more than " << kFirstGraphs << " graphs\n";
      return;
    }
    const int64_t now = ResidentBytes(session_->pid());
    out_ << "memory     " << (early_bytes_ >> 20) << " MB after " << kFirstGraphs << " graphs, " << (now >> 20)
         << " MB at the end\n";
    if (now > static_cast<int64_t>(static_cast<double>(early_bytes_) * kMostGrowth) + kMostGrowthBytes)
      Fail("memory", "unload does not give it back");
  }

  void CheckFailure() {
    const absl::Status status = session_->LoadMissingFile();
    if (status.ok()) return Fail("a file that is not there", "is loaded without an error");
    if (!session_->alive()) return Fail("a file that is not there", status.message());
    out_ << "survives   a file that is not there\n";
  }

  static constexpr int kFirstGraphs = 20;
  const CheckRunnerOptions& options_;
  std::ostream& out_;
  std::unique_ptr<RunnerSession> session_;
  std::map<std::string, int> reasons_;
  int64_t early_bytes_ = 0;
  int failures_ = 0, equal_ = 0, wrong_ = 0, unsupported_ = 0;
};

}  // namespace

absl::StatusOr<bool> CheckRunner(const CheckRunnerOptions& options, std::ostream& out) {
  return Check(options, out).Run();
}

}  // namespace cobra::worker

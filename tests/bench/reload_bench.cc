// New model versions under load: `cobra-bench reload`.
//
// A server with a symbolic link to a model version is asked at a fixed rate, a quarter of what it
// answered with 32 requests in flight. In every second stretch of time the link is pointed to
// another version and the server gets SIGHUP every five seconds; in the others nothing happens. The
// two versions are the shipped weights and the same with a changed bias, so every answer differs.
// What each answers is asked beforehand of a server that has only that version. An answer is right
// if it is, but for the times in it, that of the version that it names.
//
// p99_ratio  99th percentile of latency with reloads over that without; median of the rounds'
//            ratios
// failed     calls that failed, and answers that were not right
// Latencies count from the moment at which a request was due.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/file/tensor_file.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "model/predict/weights/version.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

constexpr size_t kNetworks = 15;  // and ResNet-50
constexpr int kConnections = 2;
constexpr int kInFlight = 32;
constexpr double kOpenLoopShare = 0.25;
constexpr absl::Duration kPeriod = absl::Seconds(5);

struct ReloadFlags {
  int rounds = 5;
  double minutes = 1;
  double rate_per_s = 0;
};

// The shipped version with another bias: every latency is 5 % longer.
absl::Status WriteChangedVersion(const std::string& directory) {
  COBRA_ASSIGN_OR_RETURN(predict::ModelVersion version, predict::ReadVersion(ShippedModel()));
  COBRA_ASSIGN_OR_RETURN(const auto tensors, ReadTensorFile(version.tensors));
  const auto bias = tensors.find("graph_net.out.bias");
  if (bias == tensors.end()) return absl::DataLossError("the weights have no graph_net.out.bias");
  char* const bytes = &version.tensors[static_cast<size_t>(bias->second.bytes.data() - version.tensors.data())];
  float value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  value += 0.05f;
  std::memcpy(bytes, &value, sizeof(value));
  version.manifest.tensors_sha256 = Sha256Hex(version.tensors);
  COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(predict::TensorsPath(directory), version.tensors));
  return WriteFileAtomic(predict::ManifestPath(directory), predict::ManifestToJson(version.manifest));
}

absl::Status PointLink(const std::string& link, const std::string& directory) {
  const std::string next = link + ".next";
  std::error_code error;
  std::filesystem::remove(next, error);
  std::filesystem::create_symlink(directory, next, error);
  if (!error) std::filesystem::rename(next, link, error);
  return error ? absl::InternalError(absl::StrCat(link, ": ", error.message())) : absl::OkStatus();
}

// What does not depend on how fast it came.
std::string WithoutTimes(v1::PredictResponse reply) {
  reply.clear_read_us();
  reply.clear_predict_us();
  return reply.SerializeAsString();
}

std::vector<v1::PredictRequest> Questions() {
  std::vector<v1::PredictRequest> questions = Nasbench201Requests(kNetworks, "");
  v1::SourceModel* const source = questions.emplace_back().mutable_source();
  source->set_file("torchvision/models/resnet.py");
  source->set_entry("resnet50()");
  source->add_inputs("1x3x224x224");
  return questions;
}

// By model version, what is right for each question.
using RightAnswers = std::map<std::string, std::vector<std::string>>;

absl::Status AskVersion(const std::string& directory, std::vector<v1::PredictRequest>* questions, RightAnswers* right) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server, CobraServer::Start({.model = directory}));
  for (v1::PredictRequest& question : *questions) {
    COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse reply, server->Predict(&question));
    (*right)[reply.model_version()].push_back(WithoutTimes(reply));
  }
  return absl::OkStatus();
}

// Points the link to the other version and signals, every kPeriod from half of it on, until it is
// stopped.
class Reloader {
 public:
  Reloader(pid_t server, std::string link, std::vector<std::string> versions)
      : server_(server), link_(std::move(link)), versions_(std::move(versions)) {}

  void During(const std::function<void()>& work) {
    absl::Notification stop;
    std::thread thread([&] {
      absl::Duration pause = kPeriod / 2;
      while (!stop.WaitForNotificationWithTimeout(pause)) {
        status_.Update(PointLink(link_, versions_[static_cast<size_t>(++reloads_) % versions_.size()]));
        ::kill(server_, SIGHUP);
        pause = kPeriod;
      }
    });
    work();
    stop.Notify();
    thread.join();
  }

  const absl::Status& status() const { return status_; }
  int reloads() const { return reloads_; }

 private:
  const pid_t server_;
  const std::string link_;
  const std::vector<std::string> versions_;
  absl::Status status_;
  int reloads_ = 0;
};

class ReloadBench {
 public:
  explicit ReloadBench(const ReloadFlags& flags) : flags_(flags) {}

  absl::StatusOr<Json> Run() {
    COBRA_RETURN_IF_ERROR(Start());
    COBRA_RETURN_IF_ERROR(ChooseRate());
    Reloader reloader(server_->pid(), link_, {ShippedModel(), changed_});
    std::vector<double> ratios, with_us, without_us;
    int64_t failed = 0, answers = 0;
    for (int round = 0; round < flags_.rounds; ++round) {
      LoadResult without = Load(), with;
      reloader.During([&] { with = Load(); });
      without_us.push_back(without.latencies.PercentileUs(99));
      with_us.push_back(with.latencies.PercentileUs(99));
      ratios.push_back(with_us.back() / without_us.back());
      for (const LoadResult* result : {&without, &with}) {
        failed += Failed(*result);
        answers += result->latencies.count();
      }
    }
    COBRA_RETURN_IF_ERROR(reloader.status());
    const int64_t of_first = answers_of_[0], of_second = answers_of_[1];
    return Json{{"p99_ratio", Median(ratios)},
                {"failed", failed},
                {"answers", answers},
                {"answers_by_version", Json::array({of_first, of_second})},
                {"reloads", reloader.reloads()},
                {"p99_us_with", Median(with_us)},
                {"p99_us_without", Median(without_us)},
                {"p99_ratios", ratios},
                {"errors", errors_},
                {"rate_per_s", rate_per_s_},
                {"questions", questions_.size()},
                {"rounds", flags_.rounds},
                {"minutes", flags_.minutes}};
  }

 private:
  absl::Status Start() {
    changed_ = directory_.File("changed");
    link_ = directory_.File("model");
    COBRA_RETURN_IF_ERROR(WriteChangedVersion(changed_));
    COBRA_RETURN_IF_ERROR(PointLink(link_, ShippedModel()));
    questions_ = Questions();
    for (const std::string& version : {ShippedModel(), changed_})
      COBRA_RETURN_IF_ERROR(AskVersion(version, &questions_, &right_));
    if (right_.size() != 2) return absl::InternalError("the two versions have one name");
    COBRA_ASSIGN_OR_RETURN(server_, CobraServer::Start({.model = link_, .connections = kConnections}));
    for (v1::PredictRequest& question : questions_) {
      COBRA_RETURN_IF_ERROR(server_->Predict(&question).status());
      requests_.push_back(ToByteBuffer(question.SerializeAsString()));
    }
    return absl::OkStatus();
  }

  absl::Status ChooseRate() {
    ClosedLoop loop;
    loop.in_flight = kInFlight;
    loop.warm_up = absl::Seconds(1);
    loop.duration = absl::Seconds(2);
    const LoadResult result = server_->load()->Run(loop, requests_);
    if (const std::string errors = result.ErrorText(); !errors.empty()) return absl::InternalError(errors);
    rate_per_s_ = flags_.rate_per_s > 0 ? flags_.rate_per_s : kOpenLoopShare * result.requests_per_s();
    return absl::OkStatus();
  }

  LoadResult Load() {
    OpenLoop loop;
    loop.rate_per_s = rate_per_s_;
    loop.duration = absl::Minutes(flags_.minutes) / flags_.rounds;
    loop.seed = ++loads_;
    loop.is_right = [this](size_t request, const grpc::ByteBuffer& reply) { return IsRight(request, reply); };
    LoadResult result = server_->load()->Run(loop, requests_);
    if (const std::string errors = result.ErrorText(); !errors.empty()) errors_.push_back(errors);
    return result;
  }

  static int64_t Failed(const LoadResult& result) {
    int64_t failed = result.wrong;
    for (const int64_t errors : result.errors) failed += errors;
    return failed;
  }

  bool IsRight(size_t request, const grpc::ByteBuffer& bytes) {
    grpc::Slice slice;
    v1::PredictResponse reply;
    if (!bytes.DumpToSingleSlice(&slice).ok() || !reply.ParseFromArray(slice.begin(), static_cast<int>(slice.size())))
      return false;
    const auto version = right_.find(reply.model_version());
    if (version == right_.end()) return false;
    ++answers_of_[version == right_.begin() ? 0 : 1];
    return WithoutTimes(std::move(reply)) == version->second[request];
  }

  const ReloadFlags flags_;
  const tests::TemporaryDirectory directory_;
  std::string changed_, link_;
  std::vector<v1::PredictRequest> questions_;
  RightAnswers right_;
  std::unique_ptr<CobraServer> server_;
  std::vector<grpc::ByteBuffer> requests_;
  double rate_per_s_ = 0;
  uint64_t loads_ = 0;
  std::vector<std::string> errors_;
  std::atomic<int64_t> answers_of_[2] = {};
};

}  // namespace

RunBenchmark AddReload(CLI::App* app) {
  auto flags = std::make_shared<ReloadFlags>();
  AddRounds(app, &flags->rounds, "How often stretches with and without reloads follow each other");
  app->add_option("--minutes", flags->minutes, "All stretches with reloads together; as long again without")
      ->check(AboveZero())
      ->capture_default_str();
  app->add_option("--rate", flags->rate_per_s, "Requests a second; default: a quarter of what the server can answer")
      ->check(AboveZero());
  return [flags] { return ReloadBench(*flags).Run(); };
}

}  // namespace cobra::bench

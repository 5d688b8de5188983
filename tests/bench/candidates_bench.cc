// How many networks a search may ask about: `cobra-bench candidates`.
//
// The replies have latencies only. For each space a server that has answered nothing before, with
// its default caches but for that of replies, which is as small as it can be. Random networks, none
// twice, are sent over one stream in parts, which are drawn while the clock stands. The first part
// warms the caches and does not count.
//
// networks_per_core_s  networks answered in a second of the server's processor time
// networks_per_s       by wall clock; the client has its share of the same cores
// resident_mb          of the server after the first part, and after the last
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/candidates.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/stream_load.h"

namespace cobra::bench {
namespace {

struct CandidatesFlags {
  std::vector<std::string> spaces = CandidateSpaces();
  int64_t networks = 1000000, part = 20000;
};

// Of all of its threads, so far.
absl::StatusOr<double> ProcessorSeconds(pid_t pid) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(absl::StrCat("/proc/", pid, "/stat")));
  const std::vector<std::string> fields = absl::StrSplit(text.substr(text.rfind(')') + 1), ' ', absl::SkipEmpty());
  int64_t user = 0, system = 0;
  if (fields.size() < 13 || !absl::SimpleAtoi(fields[11], &user) || !absl::SimpleAtoi(fields[12], &system))
    return absl::InternalError(absl::StrCat("/proc/", pid, "/stat: ", text));
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

absl::Status CheckAnswer(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  v1::PredictStreamResponse answer;
  if (!bytes.DumpToSingleSlice(&slice).ok() || !answer.ParseFromArray(slice.begin(), static_cast<int>(slice.size())) ||
      !answer.has_response())
    return absl::InternalError(absl::StrCat("an answer that is none: ", answer.error().message()));
  return absl::OkStatus();
}

absl::StatusOr<StreamResult> AskPart(CobraServer* server, Candidates* candidates, int64_t networks) {
  std::vector<v1::PredictRequest> requests;
  for (int64_t i = 0; i < networks; ++i) {
    requests.push_back(candidates->Next());
    requests.back().add_targets(server->target());
    AskForLatenciesOnly(&requests.back());
  }
  const std::vector<grpc::ByteBuffer> messages = StreamMessages(requests);
  requests.clear();
  StreamLoop loop;
  loop.each_once = true;
  absl::Status checked;
  loop.on_answer = [&checked](const grpc::ByteBuffer& answer) { checked.Update(CheckAnswer(answer)); };
  COBRA_ASSIGN_OR_RETURN(StreamResult result, RunStream(server->channel(), loop, messages));
  COBRA_RETURN_IF_ERROR(checked);
  return result;
}

absl::StatusOr<Json> AskSpace(const std::string& space, const CandidatesFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server,
                         CobraServer::Start({.flags = {"--threads", "2", "--reply-cache-mb", "1"}}));
  Candidates candidates(space);
  const int64_t part = std::min(flags.part, flags.networks);
  COBRA_RETURN_IF_ERROR(AskPart(server.get(), &candidates, part).status());
  COBRA_ASSIGN_OR_RETURN(const int64_t first_bytes, server->ResidentBytes());
  double seconds = 0, processor_seconds = 0;
  int64_t asked = 0;
  for (; asked < flags.networks; asked += part) {
    COBRA_ASSIGN_OR_RETURN(const double before, ProcessorSeconds(server->pid()));
    COBRA_ASSIGN_OR_RETURN(const StreamResult result, AskPart(server.get(), &candidates, part));
    COBRA_ASSIGN_OR_RETURN(const double after, ProcessorSeconds(server->pid()));
    seconds += result.seconds;
    processor_seconds += after - before;
    LogInfo(absl::StrCat(space, ": ", asked + part, " networks, ",
                         static_cast<int64_t>(static_cast<double>(part) / (after - before)), " a second and core"));
  }
  COBRA_ASSIGN_OR_RETURN(const int64_t last_bytes, server->ResidentBytes());
  const auto mb = [](int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  return Json{{"networks_per_core_s", static_cast<double>(asked) / processor_seconds},
              {"networks_per_s", static_cast<double>(asked) / seconds},
              {"resident_mb", Json{mb(first_bytes), mb(last_bytes)}},
              {"networks", asked}};
}

absl::StatusOr<Json> RunCandidates(const CandidatesFlags& flags) {
  Json all;
  for (const std::string& space : flags.spaces) {
    COBRA_ASSIGN_OR_RETURN(all[space], AskSpace(space, flags));
  }
  return all;
}

}  // namespace

RunBenchmark AddCandidates(CLI::App* app) {
  auto flags = std::make_shared<CandidatesFlags>();
  app->add_option("--space", flags->spaces, "One or several of them")
      ->check(CLI::IsMember(CandidateSpaces()))
      ->capture_default_str();
  app->add_option("--networks", flags->networks, "Of each space")->check(CLI::PositiveNumber)->capture_default_str();
  app->add_option("--part", flags->part, "Networks that are drawn and sent at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return [flags] { return RunCandidates(*flags); };
}

}  // namespace cobra::bench

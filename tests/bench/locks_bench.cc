// How long the server's threads hold its locks, and what that means for more cores: `cobra-bench
// locks`. The server runs with lock_profile.cc before Abseil's library.
//
// known, new   a server that is asked what it has answered before (32 in flight), and one that is
//              asked about every network of NAS-Bench-201 once, over one stream. Of each:
//   answers_per_s   with the profile, on the cores of this machine
//   longest_p99_9_us   of the places that take a lock in one answer of a hundred or more: the
//                   longest time that 999 of 1,000 holders need, those aside that the kernel
//                   preempted
//   busiest_at_16_cores   the largest share of time in which a lock is held when 16 cores answer at
//                   the rate of these: what one place holds in a second, times 16 over the cores.
//                   Locks of a place count as one, so it is an upper bound
//   places          the function, locks taken an answer, times held in nanoseconds: the mean,
//                   percentiles; how many of a million the kernel preempted
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/stream_load.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

constexpr char kProfile[] = "COBRA_LOCK_PROFILE", kPreload[] = "LD_PRELOAD";
constexpr size_t kFieldsBeforeHistogram = 6;
constexpr double kStepNs = 100;  // of the histogram (lock_profile.cc)
constexpr double kOftenShare = 0.01, kManyCores = 16;
constexpr size_t kPlacesShown = 12;

struct LocksFlags {
  double seconds = 5;
};

// A place in a program at which locks are taken.
struct Place {
  std::string function;
  double count = 0, preempted = 0, sum_ns = 0, longest_ns = 0;
  std::vector<double> histogram;

  double PercentileNs(double percent) const {
    double left = 0;
    for (const double n : histogram) left += n;
    left *= percent / 100;
    for (size_t i = 0; i < histogram.size(); ++i) {
      if ((left -= histogram[i]) <= 0) return std::min(static_cast<double>(i + 1) * kStepNs, longest_ns);
    }
    return longest_ns;
  }
};

// The function that has this instruction; an inlined one's caller.
std::string FunctionAt(const std::string& program, const std::string& offset) {
  const absl::StatusOr<std::string> output =
      RunProgram({"addr2line", "-f", "-C", "-e", program, absl::StrCat("0x", offset)});
  if (!output.ok()) return absl::StrCat(program, "+", offset);
  const std::string name = output->substr(0, output->find_first_of("(\n"));
  return name == "??" ? absl::StrCat(program, "+", offset) : name;
}

absl::StatusOr<std::vector<Place>> ReadProfile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return absl::FailedPreconditionError("the server wrote no profile: is its Abseil a shared library?");
  std::vector<Place> places;
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    if (fields.size() <= kFieldsBeforeHistogram) return absl::DataLossError(path);
    Place place;
    place.function = FunctionAt(fields[0], fields[1]);
    for (const auto& [field, number] : {std::pair(2, &place.count), std::pair(3, &place.preempted),
                                        std::pair(4, &place.sum_ns), std::pair(5, &place.longest_ns)})
      if (!absl::SimpleAtod(fields[static_cast<size_t>(field)], number)) return absl::DataLossError(path);
    for (size_t i = kFieldsBeforeHistogram; i < fields.size(); ++i) {
      place.histogram.push_back(0);
      if (!absl::SimpleAtod(fields[i], &place.histogram.back())) return absl::DataLossError(path);
    }
    places.push_back(std::move(place));
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.sum_ns > b.sum_ns; });
  return places;
}

Json Summary(const std::vector<Place>& places, int64_t answers, double seconds) {
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  const auto all = static_cast<double>(answers);
  double longest_us = 0, busiest = 0;
  Json shown = Json::array();
  for (const Place& place : places) {
    if (place.count < kOftenShare * all) continue;
    const double measured = place.count - place.preempted, mean_ns = measured > 0 ? place.sum_ns / measured : 0;
    longest_us = std::max(longest_us, place.PercentileNs(99.9) / 1e3);
    busiest = std::max(busiest, mean_ns * place.count / seconds / 1e9 * kManyCores / cores);
    if (shown.size() >= kPlacesShown) continue;
    shown.push_back(Json{{"function", place.function},
                         {"locks_an_answer", place.count / all},
                         {"mean_ns", mean_ns},
                         {"p99_ns", place.PercentileNs(99)},
                         {"p99_9_ns", place.PercentileNs(99.9)},
                         {"preempted_of_a_million", 1e6 * place.preempted / place.count}});
  }
  return Json{{"answers_per_s", all / seconds},
              {"longest_p99_9_us", longest_us},
              {"busiest_at_16_cores", busiest},
              {"places", shown}};
}

// `ask` sends requests to a server with the profile, and returns how many were answered in how many
// seconds.
template <typename Ask>
absl::StatusOr<Json> Profiled(const Ask& ask) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory.File("locks");
  ::setenv(kPreload, COBRA_LOCK_PROFILE_LIBRARY, 1);
  ::setenv(kProfile, path.c_str(), 1);
  absl::StatusOr<std::unique_ptr<CobraServer>> server = CobraServer::Start();
  ::unsetenv(kPreload);
  ::unsetenv(kProfile);
  COBRA_RETURN_IF_ERROR(server.status());
  COBRA_ASSIGN_OR_RETURN(const auto answered, ask(server->get()));
  server->reset();  // it writes the profile when it ends
  COBRA_ASSIGN_OR_RETURN(const std::vector<Place> places, ReadProfile(path));
  return Summary(places, answered.first, answered.second);
}

absl::StatusOr<Json> RunLocks(const LocksFlags& flags) {
  using Answered = absl::StatusOr<std::pair<int64_t, double>>;
  COBRA_ASSIGN_OR_RETURN(Json known, Profiled([&](CobraServer* server) -> Answered {
                           std::vector<grpc::ByteBuffer> requests;
                           for (const v1::PredictRequest& request : Nasbench201Requests(1000, server->target()))
                             requests.push_back(ToByteBuffer(request.SerializeAsString()));
                           ClosedLoop loop;
                           loop.in_flight = 32;
                           loop.duration = absl::Seconds(flags.seconds);
                           const LoadResult result = server->load()->Run(loop, requests);
                           if (!result.ErrorText().empty()) return absl::InternalError(result.ErrorText());
                           return std::pair(result.latencies.count(), result.seconds);
                         }));
  COBRA_ASSIGN_OR_RETURN(
      Json fresh, Profiled([](CobraServer* server) -> Answered {
        std::vector<v1::PredictRequest> requests = Nasbench201Requests(kNasbench201Cells, server->target());
        for (v1::PredictRequest& request : requests) AskForLatenciesOnly(&request);
        StreamLoop loop;
        loop.each_once = true;
        COBRA_ASSIGN_OR_RETURN(const StreamResult result, RunStream(server->channel(), loop, StreamMessages(requests)));
        return std::pair(result.answers, result.seconds);
      }));
  return Json{{"known", std::move(known)}, {"new", std::move(fresh)}, {"seconds", flags.seconds}};
}

}  // namespace

RunBenchmark AddLocks(CLI::App* app) {
  auto flags = std::make_shared<LocksFlags>();
  AddSeconds(app, &flags->seconds, "How long what is known is asked");
  return [flags] { return RunLocks(*flags); };
}

}  // namespace cobra::bench

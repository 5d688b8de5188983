// Answers over one stream beside a bare stream: `cobra-bench stream`.
//
// One connection, one stream, one architecture string of NAS-Bench-201 a message, in turns of a
// thousand that the server has answered before. The other server (echo.h) answers each of the same
// messages with as many bytes and reads nothing of it. Both get messages as fast as gRPC's flow
// control takes them.
//
// stream_over_echo  answers a second, ours over the echo's; the median of the rounds' ratios
// `cobra` and `echo` have the answers a second of both sides; `spread` is the highest of the rounds
// less the lowest, over the median.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/stream_load.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

constexpr size_t kNetworks = 1000;
constexpr double kWarmUpShare = 0.25;  // of the time that is measured

struct StreamFlags {
  int rounds = 5;
  double seconds = 3;
};

Json ToJson(const std::vector<double>& answers_per_s) {
  const auto [low, high] = std::minmax_element(answers_per_s.begin(), answers_per_s.end());
  const double median = Median(answers_per_s);
  return Json{{"answers_per_s", median}, {"spread", (*high - *low) / median}};
}

absl::StatusOr<Json> RunStreamBench(const StreamFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server, CobraServer::Start());
  const std::vector<grpc::ByteBuffer> messages = StreamMessages(Nasbench201Requests(kNetworks, server->target()));
  // The first time, each is computed; the second time, the replies are those that are measured.
  StreamLoop loop;
  loop.each_once = true;
  COBRA_RETURN_IF_ERROR(RunStream(server->channel(), loop, messages).status());
  COBRA_ASSIGN_OR_RETURN(const StreamResult known, RunStream(server->channel(), loop, messages));
  const int64_t reply_bytes = known.answer_bytes / known.answers;
  const tests::TemporaryDirectory directory;
  COBRA_ASSIGN_OR_RETURN(const Echo echo, StartEcho({.reply_bytes = reply_bytes, .stream = true}, directory));

  loop.each_once = false;
  loop.duration = absl::Seconds(flags.seconds);
  loop.warm_up = kWarmUpShare * loop.duration;
  std::vector<double> ours_per_s, echo_per_s, ratios;
  for (int round = 0; round < flags.rounds; ++round) {
    for (const bool ours : {round % 2 == 0, round % 2 != 0}) {
      COBRA_ASSIGN_OR_RETURN(const StreamResult result,
                             RunStream(ours ? server->channel() : echo.load->channel(), loop, messages));
      (ours ? ours_per_s : echo_per_s).push_back(result.answers_per_s());
    }
    ratios.push_back(ours_per_s.back() / echo_per_s.back());
  }
  return Json{{"stream_over_echo", Median(ratios)},
              {"cobra", ToJson(ours_per_s)},
              {"echo", ToJson(echo_per_s)},
              {"request_bytes", messages[0].Length()},
              {"reply_bytes", reply_bytes},
              {"rounds", flags.rounds},
              {"seconds", flags.seconds}};
}

}  // namespace

RunBenchmark AddStream(CLI::App* app) {
  auto flags = std::make_shared<StreamFlags>();
  AddRounds(app, &flags->rounds);
  AddSeconds(app, &flags->seconds, "How long each side is measured in a round");
  return [flags] { return RunStreamBench(*flags); };
}

}  // namespace cobra::bench

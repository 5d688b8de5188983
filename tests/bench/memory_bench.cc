// What the server's memory is taken by: `cobra-bench memory`.
//
// Graphs of a thousand layers that were not asked for before, without a breakdown, so that what
// grows is the cache of layer embeddings. One server has room for a million layers and gets as
// many; what it takes beside the numbers of an embedding itself, which no implementation can leave
// out, is what is compared. A second server has a small cache, which is filled and evicted over and
// over.
//
// resident_mb           of the first server with all layers cached, in MiB
// bytes_per_layer       resident bytes that each layer has added, less the numbers of its embedding
// vector_bytes          those numbers
// start_mb              of a server that has answered nothing, in MiB
// growth                of the second server: resident size after all rounds over that after the
//                       first, less 1
// rounds_mb             its resident size after each round, in MiB
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "graph/builder/builder.h"
#include "model/predict/weights/version.h"
#include "proto/graph_proto.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"

namespace cobra::bench {
namespace {

constexpr int kLayersTogether = 1000;
constexpr double kMiB = 1 << 20;
constexpr int kInFlight = 2;

struct MemoryFlags {
  int layers = 1000000;
  int rounds = 10;
};

// One call of relu on an input of its own size, all within what the shipped weights were trained
// on. Different for each number below 128 * 128 * 256.
absl::StatusOr<graph::Graph> GraphOfLayers(int64_t first) {
  graph::GraphBuilder builder;
  std::vector<graph::ValueRef> outputs;
  for (int64_t number = first; number < first + kLayersTogether; ++number) {
    const graph::TensorType type = {{1, 1 + number % 128, 1 + number / 128 % 128, 1 + number / (128 * 128)},
                                    graph::DType::float32};
    const graph::ValueRef input = builder.AddInput(absl::StrCat("x", number - first), type);
    COBRA_ASSIGN_OR_RETURN(const int32_t call, builder.Add(graph::Op::relu, {}, {input}));
    outputs.push_back(graph::ValueRef::Node(call));
  }
  return std::move(builder).Build(std::move(outputs));
}

// Asks for layers `first` to `end`.
absl::Status Fill(CobraServer* server, int64_t first, int64_t end) {
  std::vector<grpc::ByteBuffer> requests;
  for (; first < end; first += kLayersTogether) {
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, GraphOfLayers(first));
    v1::PredictRequest request;
    proto::GraphToProto(graph, request.mutable_graph());
    request.add_targets(server->target());
    request.set_keep_private(true);
    requests.push_back(ToByteBuffer(request.SerializeAsString()));
  }
  ClosedLoop loop;
  loop.in_flight = kInFlight;
  loop.duration = absl::Hours(1);
  loop.each_once = true;
  const LoadResult result = server->load()->Run(loop, requests);
  const std::string errors = result.ErrorText();
  return errors.empty() ? absl::OkStatus()
                        : absl::InternalError(absl::StrCat("not every graph was answered: ", errors));
}

// When the server has returned to the system what it does so by itself
// (server/lanes/memory_trim.h).
absl::StatusOr<int64_t> SettledBytes(const CobraServer& server) {
  absl::SleepFor(absl::Seconds(4));
  return server.ResidentBytes();
}

absl::StatusOr<Json> FillOnce(int layers) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server,
                         CobraServer::Start({.flags = {"--embedding-cache-mb", "4096"}}));
  COBRA_ASSIGN_OR_RETURN(const int64_t start_bytes, SettledBytes(*server));
  // The first requests make threads and their arenas, and fill buffers that stay.
  constexpr int kWarmUp = 20 * kLayersTogether;
  COBRA_RETURN_IF_ERROR(Fill(server.get(), 0, kWarmUp));
  COBRA_ASSIGN_OR_RETURN(const int64_t before_bytes, SettledBytes(*server));
  COBRA_RETURN_IF_ERROR(Fill(server.get(), kWarmUp, kWarmUp + layers));
  COBRA_ASSIGN_OR_RETURN(const int64_t after_bytes, SettledBytes(*server));
  COBRA_ASSIGN_OR_RETURN(const predict::ModelVersion version, predict::ReadVersion(ShippedModel()));
  const auto vector_bytes = static_cast<int64_t>(sizeof(float)) * version.manifest.net.width;
  const double added = static_cast<double>(after_bytes - before_bytes) / layers;
  return Json{{"resident_mb", static_cast<double>(after_bytes) / kMiB},
              {"bytes_per_layer", added - static_cast<double>(vector_bytes)},
              {"vector_bytes", vector_bytes},
              {"start_mb", static_cast<double>(start_bytes) / kMiB},
              {"layers", layers}};
}

// Each round is half as many layers again as the cache holds.
absl::StatusOr<Json> FillAndEvict(int rounds) {
  constexpr int kCacheMb = 32, kLayersOfRound = 75 * kLayersTogether;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server,
                         CobraServer::Start({.flags = {"--embedding-cache-mb", absl::StrCat(kCacheMb)}}));
  std::vector<double> rounds_mb;
  for (int round = 0; round <= rounds; ++round) {
    const int64_t first = int64_t{round} * kLayersOfRound;
    COBRA_RETURN_IF_ERROR(Fill(server.get(), first, first + kLayersOfRound));
    COBRA_ASSIGN_OR_RETURN(const int64_t bytes, SettledBytes(*server));
    rounds_mb.push_back(static_cast<double>(bytes) / kMiB);
  }
  return Json{{"growth", rounds_mb.back() / rounds_mb.front() - 1}, {"rounds_mb", rounds_mb}};
}

absl::StatusOr<Json> RunMemory(const MemoryFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(Json result, FillOnce(flags.layers));
  COBRA_ASSIGN_OR_RETURN(const Json evicted, FillAndEvict(flags.rounds));
  result.update(evicted);
  return result;
}

}  // namespace

RunBenchmark AddMemory(CLI::App* app) {
  auto flags = std::make_shared<MemoryFlags>();
  app->add_option("--layers", flags->layers, "Layers that are cached: whole thousands")
      ->check(CLI::Range(1000, 4000000))
      ->capture_default_str();
  app->add_option("--rounds", flags->rounds, "How often the small cache is filled again")
      ->check(CLI::Range(1, 50))
      ->capture_default_str();
  return [flags] { return RunMemory(*flags); };
}

}  // namespace cobra::bench

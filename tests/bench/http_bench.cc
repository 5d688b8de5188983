// The HTTP API beside gRPC: `cobra-bench http`.
//
// One server, asked the same question both ways in turns: an architecture string that it has
// answered before, and ResNet-50 as a graph. gRPC's client is load.h, with its calls on two
// connections; the client of HTTP has a thread and a connection that stays open for each request in
// flight, and parses no JSON.
//
// http_over_grpc      replies a second, 32 in flight, over HTTP, over those of gRPC; the median of
//                     the rounds' ratios
// p50_over_grpc       median latency, one in flight, of HTTP over that of gRPC
//
// Beside them the figures of both.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/python/reader.h"
#include "google/protobuf/util/json_util.h"
#include "proto/graph_proto.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/latency_histogram.h"
#include "tests/bench/load.h"

namespace cobra::bench {
namespace {

constexpr int kInFlight = 32;
constexpr int kConnections = 2;
constexpr double kWarmUpShare = 0.25;  // of the time that is measured

struct HttpFlags {
  int rounds = 5;
  double seconds = 2;
};

// A connection to HTTP on 127.0.0.1 that asks one thing again and again.
class HttpClient {
 public:
  static absl::StatusOr<HttpClient> Connect(absl::string_view address) {
    int port = 0;
    if (!absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) return absl::InternalError("no port");
    HttpClient client;
    client.socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    ::setsockopt(client.socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (::connect(client.socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0)
      return absl::ErrnoToStatus(errno, std::string(address));
    return client;
  }

  // Sends the request and takes the reply; false unless it is 200.
  bool Ask(const std::string& request) {
    for (size_t sent = 0; sent < request.size();) {
      const ssize_t n = ::send(socket_.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    reply_.clear();
    size_t whole = 0;  // bytes of the reply, once its head is there
    while (whole == 0 || reply_.size() < whole) {
      char buffer[64 << 10];
      const ssize_t n = ::recv(socket_.get(), buffer, sizeof(buffer), 0);
      if (n <= 0) return false;
      reply_.append(buffer, static_cast<size_t>(n));
      if (whole == 0) whole = WholeSize();
    }
    return absl::StartsWith(reply_, "HTTP/1.1 200 ");
  }

 private:
  size_t WholeSize() const {
    const size_t end = reply_.find("\r\n\r\n"), at = reply_.find("Content-Length: ");
    size_t length = 0;
    if (end == std::string::npos || at > end) return 0;
    const absl::string_view digits = absl::string_view(reply_).substr(at + 16);
    return absl::SimpleAtoi(digits.substr(0, digits.find('\r')), &length) ? end + 4 + length : 0;
  }

  Descriptor socket_;
  std::string reply_;
};

struct Figures {
  double requests_per_s = 0, p50_us = 0;
};

absl::StatusOr<LatencyHistogram> RunHttp(absl::string_view address, const std::string& request, int in_flight,
                                         double seconds) {
  const absl::Time begin = absl::Now() + absl::Seconds(kWarmUpShare * seconds), end = begin + absl::Seconds(seconds);
  std::vector<HttpClient> clients;
  for (int i = 0; i < in_flight; ++i) {
    COBRA_ASSIGN_OR_RETURN(HttpClient client, HttpClient::Connect(address));
    clients.push_back(std::move(client));
  }
  std::vector<LatencyHistogram> latencies(clients.size());
  std::vector<char> failed(clients.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] {
      for (absl::Time sent = absl::Now(); sent < end && !failed[i];) {
        failed[i] = !clients[i].Ask(request);
        const absl::Time now = absl::Now();
        if (now >= begin && now < end) latencies[i].Add(absl::ToInt64Nanoseconds(now - sent));
        sent = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  LatencyHistogram all;
  for (size_t i = 0; i < clients.size(); ++i) {
    if (failed[i]) return absl::InternalError("a request over HTTP was not answered with 200");
    all.Merge(latencies[i]);
  }
  return all;
}

absl::StatusOr<Figures> MeasureHttp(absl::string_view address, const std::string& request, double seconds) {
  Figures figures;
  COBRA_ASSIGN_OR_RETURN(const LatencyHistogram many, RunHttp(address, request, kInFlight, seconds));
  figures.requests_per_s = static_cast<double>(many.count()) / seconds;
  COBRA_ASSIGN_OR_RETURN(const LatencyHistogram one, RunHttp(address, request, 1, seconds));
  figures.p50_us = one.PercentileUs(50);
  return figures;
}

absl::StatusOr<Figures> MeasureGrpc(LoadGenerator* load, const std::string& request, double seconds) {
  Figures figures;
  for (const int in_flight : {kInFlight, 1}) {
    ClosedLoop loop;
    loop.in_flight = in_flight;
    loop.duration = absl::Seconds(seconds);
    loop.warm_up = kWarmUpShare * loop.duration;
    const LoadResult result = load->Run(loop, {ToByteBuffer(request)});
    if (const std::string errors = result.ErrorText(); !errors.empty()) return absl::InternalError(errors);
    (in_flight == 1 ? figures.p50_us : figures.requests_per_s) =
        in_flight == 1 ? result.latencies.PercentileUs(50) : result.requests_per_s();
  }
  return figures;
}

std::string HttpRequestOf(const v1::PredictRequest& request) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(request, &json, options);
  return absl::StrCat(
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ", json.size(),
      "\r\n\r\n", json);
}

Json ToJson(const std::vector<Figures>& rounds) {
  std::vector<double> per_s, p50_us;
  for (const Figures& figures : rounds) {
    per_s.push_back(figures.requests_per_s);
    p50_us.push_back(figures.p50_us);
  }
  return Json{{"requests_per_s", Median(per_s)}, {"p50_us", Median(p50_us)}};
}

absl::StatusOr<Json> Compare(CobraServer* server, v1::PredictRequest request, const HttpFlags& flags) {
  for (int i = 0; i < 2; ++i) COBRA_RETURN_IF_ERROR(server->Predict(&request).status());  // the first time computes
  const std::string over_grpc = request.SerializeAsString(), over_http = HttpRequestOf(request);
  std::vector<Figures> http, grpc;
  std::vector<double> throughput, latency;
  for (int round = 0; round < flags.rounds; ++round) {
    for (const bool is_http : {round % 2 == 0, round % 2 != 0}) {
      COBRA_ASSIGN_OR_RETURN(const Figures figures, is_http
                                                        ? MeasureHttp(server->http_address(), over_http, flags.seconds)
                                                        : MeasureGrpc(server->load(), over_grpc, flags.seconds));
      (is_http ? http : grpc).push_back(figures);
    }
    throughput.push_back(http.back().requests_per_s / grpc.back().requests_per_s);
    latency.push_back(http.back().p50_us / grpc.back().p50_us);
  }
  return Json{{"http_over_grpc", Median(throughput)},
              {"p50_over_grpc", Median(latency)},
              {"http", ToJson(http)},
              {"grpc", ToJson(grpc)},
              {"http_bytes", over_http.size()},
              {"grpc_bytes", over_grpc.size()}};
}

absl::StatusOr<v1::PredictRequest> ResNetRequest() {
  python::SourceRequest source;
  source.library_roots = {kLibrary};
  source.file = "torchvision/models/resnet.py";
  source.entry = "resnet50()";
  source.inputs = {"1x3x224x224"};
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, python::ReadPythonModel(source));
  v1::PredictRequest request;
  proto::GraphToProto(graph, request.mutable_graph());
  return request;
}

absl::StatusOr<Json> RunHttpBench(const HttpFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server,
                         CobraServer::Start({.flags = {"--http", "127.0.0.1:0"}, .connections = kConnections}));
  COBRA_ASSIGN_OR_RETURN(v1::PredictRequest graph, ResNetRequest());
  COBRA_ASSIGN_OR_RETURN(Json arch, Compare(server.get(), Nasbench201Requests(1, "")[0], flags));
  COBRA_ASSIGN_OR_RETURN(Json resnet, Compare(server.get(), std::move(graph), flags));
  return Json{{"arch", arch}, {"graph", resnet}, {"rounds", flags.rounds}, {"seconds", flags.seconds}};
}

}  // namespace

RunBenchmark AddHttp(CLI::App* app) {
  auto flags = std::make_shared<HttpFlags>();
  AddRounds(app, &flags->rounds);
  AddSeconds(app, &flags->seconds, "How long each figure of one side is measured in a round");
  return [flags] { return RunHttpBench(*flags); };
}

}  // namespace cobra::bench

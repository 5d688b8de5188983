// ask ADDRESS ARCHITECTURE TARGET: how long a network of a search space takes, for example
//   ask 127.0.0.1:50051 'nasbench201:|none~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|' cpu-epyc-genoa-1t
#include <cobra/client.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: ask ADDRESS ARCHITECTURE TARGET\n");
    return 2;
  }
  cobra::client::ClientOptions options;
  options.address = argv[1];
  const auto client = cobra::client::Client::Connect(options);

  cobra::v1::PredictRequest request;
  request.mutable_architecture()->set_text(argv[2]);
  request.add_targets(argv[3]);
  const auto response = client->Predict(request);
  if (!response.ok()) {
    std::fprintf(stderr, "ask: %s\n", std::string(response.status().message()).c_str());
    return 1;
  }
  for (const cobra::v1::TargetPrediction& p : response->predictions())
    std::printf("%s: %.0f us (%.0f to %.0f)\n", p.target().c_str(), p.latency_us(), p.low_us(), p.high_us());
  return 0;
}

// The encoder beside OpenBLAS: `cobra-bench encode`.
//
// Both run in this process on one thread, in turns; time is the processor's. Ours encodes the
// different layers of ResNet-50 as the server does for a network that is new to it: numbers
// embedded, linear maps, attention, norms, GELU. OpenBLAS multiplies matrices of the shapes of the
// encoder's linear maps, for as many rows as are encoded together, and does nothing else.
//
// share_of_gemm   multiply-adds a second of the encoder's linear maps and attention, over the time
//                 of all that it does, over the rate of OpenBLAS; the median of the rounds' ratios
// maps_of_gemm    the same for the linear maps alone (model/infer/linear.h), which are what sgemm
//                 could replace
// us_per_layer    time to encode one layer of all that are encoded together
// alone_over_together   the same for each layer alone, over us_per_layer: what requests that miss
//                       at the same time
//                 would gain from a batch that they share
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "frontend/python/reader.h"
#include "model/infer/encoder.h"
#include "model/predict/weights/version.h"
#include "model/text/canonical_text.h"
#include "tests/bench/bench.h"
#include "tests/bench/blas.h"
#include "tests/bench/cobra_server.h"

namespace cobra::bench {
namespace {

constexpr int64_t kRowsTogether = 256;  // of model/infer/encoder.cc

struct EncodeFlags {
  int rounds = 5;
  double seconds = 0.5;
};

struct MapShape {
  std::string name;
  int64_t in = 0, out = 0;
  int64_t rows = 0;  // that the encoder maps
};

// What the encoder is given.
struct Amounts {
  int64_t layers = 0, tokens = 0, different_tokens = 0;
};

// The encoder's linear maps. What is the same for equal tokens is computed once; the last map
// follows the mean.
std::vector<MapShape> MapsOf(const net::NetConfig& c, const Amounts& n) {
  std::vector<MapShape> maps = {{"encoder.value", c.value_features, c.width, n.different_tokens}};
  for (int64_t i = 0; i < c.encoder_layers; ++i) {
    const std::string block = absl::StrCat("encoder.block", i);
    maps.push_back({block + ".qkv", c.width, 3 * c.width, i == 0 ? n.different_tokens : n.tokens});
    maps.push_back({block + ".out", c.width, c.width, n.tokens});
    maps.push_back({block + ".up", c.width, c.feed_forward, n.tokens});
    maps.push_back({block + ".down", c.feed_forward, c.width, i + 1 == c.encoder_layers ? n.layers : n.tokens});
  }
  return maps;
}

Amounts AmountsOf(const std::vector<std::vector<text::Token>>& layers) {
  Amounts amounts;
  std::set<std::pair<int32_t, float>> different;
  for (const auto& tokens : layers) {
    for (const text::Token& token : tokens) different.emplace(token.id, token.numeric ? token.value : 0.0f);
    amounts.tokens += static_cast<int64_t>(tokens.size());
  }
  amounts.layers = static_cast<int64_t>(layers.size());
  amounts.different_tokens = static_cast<int64_t>(different.size());
  return amounts;
}

double Flop(const MapShape& map, int64_t rows) { return 2.0 * static_cast<double>(rows * map.in * map.out); }

double FlopOfMaps(const std::vector<MapShape>& maps, int64_t rows) {
  double flop = 0;
  for (const MapShape& map : maps) flop += Flop(map, rows);
  return flop;
}

// Scores and mixed values among the tokens of a list.
double FlopOfAttention(const net::NetConfig& c, int64_t tokens) {
  return 4.0 * static_cast<double>(c.encoder_layers * tokens * tokens * c.width);
}

// Each layer of the network once, as token lists.
absl::StatusOr<std::vector<std::vector<text::Token>>> LayersOfResNet(const text::Vocabulary& vocabulary) {
  python::SourceRequest source;
  source.library_roots = {kLibrary};
  source.file = absl::StrCat(kLibrary, "/torchvision/models/resnet.py");
  source.entry = "resnet50()";
  source.inputs = {"1x3x224x224"};
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, python::ReadPythonModel(source));
  std::set<std::string> seen;
  std::vector<std::vector<text::Token>> layers;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const std::string text = text::CanonicalText(graph, static_cast<int32_t>(i));
    if (seen.insert(text).second) layers.push_back(vocabulary.Encode(text::SplitText(text)));
  }
  return layers;
}

// How often `work` is done in a second of the processor's time, which other programs on the machine
// disturb least.
template <typename Work>
double PerSecond(double seconds, const Work& work) {
  work();
  const Stopwatch watch;
  double elapsed = 0;
  int times = 0;
  do {
    work();
    ++times;
    elapsed = watch.Elapsed().cpu;
  } while (elapsed < seconds);
  return times / elapsed;
}

// One map of ours and of OpenBLAS, with inputs of the same size.
class MapPair {
 public:
  MapPair(const MapShape& shape, infer::Linear linear)
      : shape_(shape),
        linear_(std::move(linear)),
        x_(static_cast<size_t>(kRowsTogether * infer::PaddedWidth(shape.in)), 0.5f),
        y_(static_cast<size_t>(kRowsTogether * infer::PaddedWidth(shape.out))),
        w_(static_cast<size_t>(shape.in * shape.out), 0.25f) {}

  void Ours() {
    linear_.Apply(x_.data(), kRowsTogether, infer::PaddedWidth(shape_.in), y_.data(), infer::PaddedWidth(shape_.out));
  }
  void Theirs(const OpenBlas& blas) {
    blas.Multiply(kRowsTogether, shape_.out, shape_.in, x_.data(), w_.data(), y_.data());
  }

 private:
  const MapShape shape_;
  const infer::Linear linear_;
  std::vector<float> x_, y_, w_;
};

// Rates in 10^9 floating-point operations a second.
struct Rates {
  std::vector<double> encoder, maps, gemm;
};

Json ResultOf(const Rates& rates) {
  std::vector<double> shares, map_shares;
  for (size_t i = 0; i < rates.gemm.size(); ++i) {
    shares.push_back(rates.encoder[i] / rates.gemm[i]);
    map_shares.push_back(rates.maps[i] / rates.gemm[i]);
  }
  return Json{{"share_of_gemm", Median(shares)},
              {"maps_of_gemm", Median(map_shares)},
              {"encoder_gflops", Median(rates.encoder)},
              {"maps_gflops", Median(rates.maps)},
              {"gemm_gflops", Median(rates.gemm)}};
}

absl::StatusOr<Json> RunEncode(const EncodeFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const OpenBlas blas, OpenBlas::Load());
  COBRA_ASSIGN_OR_RETURN(const predict::ModelVersion version, predict::ReadVersion(ShippedModel()));
  const net::NetConfig& config = version.manifest.net;
  COBRA_ASSIGN_OR_RETURN(const infer::Tensors tensors, infer::Tensors::Parse(version.tensors));
  COBRA_ASSIGN_OR_RETURN(const infer::Encoder encoder, infer::Encoder::Create(tensors, config));
  COBRA_ASSIGN_OR_RETURN(const auto layers, LayersOfResNet(version.vocabulary));
  const Amounts amounts = AmountsOf(layers);
  const std::vector<MapShape> shapes = MapsOf(config, amounts);
  std::vector<MapPair> maps;
  for (const MapShape& shape : shapes) {
    COBRA_ASSIGN_OR_RETURN(infer::Linear linear, tensors.LinearOf(shape.name, shape.in, shape.out));
    maps.emplace_back(shape, std::move(linear));
  }
  std::vector<const std::vector<text::Token>*> lists;
  double encoder_flop = 0;
  for (const MapShape& map : shapes) encoder_flop += Flop(map, map.rows);
  for (const auto& layer : layers) {
    lists.push_back(&layer);
    encoder_flop += FlopOfAttention(config, static_cast<int64_t>(layer.size()));
  }
  const double maps_flop = FlopOfMaps(shapes, kRowsTogether);
  Rates rates;
  std::vector<double> us, alone;
  for (int round = 0; round < flags.rounds; ++round) {
    const double encodings = PerSecond(flags.seconds, [&] { encoder.Encode(lists); });
    us.push_back(1e6 / encodings / static_cast<double>(layers.size()));
    const double one_by_one = PerSecond(flags.seconds, [&] {
      for (const auto* list : lists) encoder.Encode({list});
    });
    alone.push_back(encodings / one_by_one);
    rates.encoder.push_back(encoder_flop * encodings / 1e9);
    rates.maps.push_back(maps_flop / 1e9 * PerSecond(flags.seconds, [&] {
                           for (MapPair& map : maps) map.Ours();
                         }));
    rates.gemm.push_back(maps_flop / 1e9 * PerSecond(flags.seconds, [&] {
                           for (MapPair& map : maps) map.Theirs(blas);
                         }));
  }
  Json result = ResultOf(rates);
  result.update(Json{{"us_per_layer", Median(us)},
                     {"alone_over_together", Median(alone)},
                     {"layers", layers.size()},
                     {"tokens", amounts.tokens},
                     {"different_tokens", amounts.different_tokens},
                     {"kernels", infer::BestKernels().name},
                     {"openblas", blas.config()},
                     {"rounds", flags.rounds},
                     {"seconds", flags.seconds}});
  return result;
}

}  // namespace

RunBenchmark AddEncode(CLI::App* app) {
  auto flags = std::make_shared<EncodeFlags>();
  AddRounds(app, &flags->rounds);
  AddSeconds(app, &flags->seconds, "How long each figure is measured in a round");
  return [flags] { return RunEncode(*flags); };
}

}  // namespace cobra::bench

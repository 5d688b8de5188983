#include "model/predict/neighbourhoods.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/bytes/heap_bytes.h"
#include "base/bytes/keyed_hash.h"
#include "model/infer/call_classes.h"
#include "model/predict/found_or_made.h"
#include "model/predict/price_keys.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

constexpr int64_t kTargetBytes = int64_t{4} << 20;  // some 700 targets

int64_t HeldBytes(const infer::SharedTargetTerms& terms) {
  int64_t bytes = HeapBytes(terms.features) + HeapBytes(terms.prices.context) + HeapBytes(terms.prices.gains) +
                  HeapBytes(terms.prices.changes) + HeapBytes(terms.context) + HeapBytes(terms.whole) +
                  HeapBytes(terms.norms) + HeapBytes(terms.last_norm.scale) + HeapBytes(terms.last_norm.shift);
  for (const infer::Norm& norm : terms.norms) bytes += HeapBytes(norm.scale) + HeapBytes(norm.shift);
  return bytes;
}

absl::string_view Bytes(const Hash128& key) { return {reinterpret_cast<const char*>(&key), sizeof(key)}; }

// After a round, of the classes before it and their keys.
std::vector<Hash128> KeysAfter(const infer::CallClasses& after, const infer::CallClasses& before,
                               const std::vector<Hash128>& keys, const infer::Neighbors& along,
                               const infer::Neighbors& against) {
  const auto key_of = [&](int32_t call) -> const Hash128& {
    return keys[static_cast<size_t>(before.of_call[static_cast<size_t>(call)])];
  };
  std::vector<Hash128> made;
  made.reserve(after.first.size());
  for (const int32_t call : after.first) {
    SipHasher hasher = KeyedHasher();
    hasher.Add(Bytes(key_of(call)));
    const uint64_t sources = along.Of(call).size();
    hasher.Add(absl::string_view(reinterpret_cast<const char*>(&sources), sizeof(sources)));
    for (const int32_t source : along.Of(call)) hasher.Add(Bytes(key_of(source)));
    for (const int32_t reader : against.Of(call)) hasher.Add(Bytes(key_of(reader)));
    made.push_back(std::move(hasher).Finish());
  }
  return made;
}

}  // namespace

// The classes of a network's calls before each round and after the last one.
struct RoundClasses {
  RoundClasses(const NetworkInputs& inputs, const CallRows& rows, int rounds)
      : along(inputs.edges, rows.of_call.size(), /*along=*/true),
        against(inputs.edges, rows.of_call.size(), /*along=*/false) {
    classes.push_back(infer::ClassesOfLayers(rows.of_call, rows.keys.size()));
    keys.push_back(rows.keys);
    for (int round = 0; round < rounds; ++round) {
      infer::CallClasses after = infer::Refine(classes.back(), along, against);
      keys.push_back(KeysAfter(after, classes.back(), keys.back(), along, against));
      classes.push_back(std::move(after));
    }
  }

  infer::Neighbors along, against;
  std::vector<infer::CallClasses> classes;
  std::vector<std::vector<Hash128>> keys;
};

struct Neighbourhoods::Question {
  const NetworkInputs& inputs;
  const CallRows& rows;
  const RoundClasses& rounds;
  const Target& target;

  std::vector<Hash128> KeysOf(int round, absl::Span<const int32_t> classes) const {
    std::vector<Hash128> keys;
    keys.reserve(classes.size());
    for (const int32_t one : classes)
      keys.push_back(KeyOfBoth(rounds.keys[static_cast<size_t>(round)][static_cast<size_t>(one)], target.key));
    return keys;
  }
};

struct Neighbourhoods::Gathered {
  CallStates states;  // keeps what `calls` refers to
  std::vector<infer::CallAmongNeighbours> calls;
};

Neighbourhoods::Neighbourhoods(infer::SharedContributionNet net, int64_t cache_bytes)
    : net_(std::move(net)), targets_(kTargetBytes), known_(cache_bytes / 2) {
  for (int round = 0; round < net_.rounds(); ++round)
    states_.push_back(std::make_unique<ClockCache<infer::CallState>>(cache_bytes / 2 / net_.rounds()));
}

std::shared_ptr<const Neighbourhoods::Target> Neighbourhoods::TargetOf(int target, const TargetSpec& spec) {
  const auto features = TargetSpecFeatures(spec);
  const Hash128 key = KeyOfTarget(target, features);
  if (std::shared_ptr<const Target> known = targets_.Find(key); known != nullptr) return known;
  Target made{key, net_.TermsOf(features, target)};
  const int64_t held_bytes = HeldBytes(made.terms);
  return targets_.Insert(key, std::move(made), held_bytes);
}

std::vector<infer::CallState> Neighbourhoods::StatesOfLayers(const Question& question,
                                                             absl::Span<const int32_t> layers) const {
  std::vector<const float*> embeddings;
  std::vector<float> work;
  for (const int32_t layer : layers) {
    embeddings.push_back(question.rows.embeddings[static_cast<size_t>(layer)]);
    const auto of_layer = question.inputs.WorkOf(question.rows, static_cast<size_t>(layer));
    work.insert(work.end(), of_layer.begin(), of_layer.end());
  }
  return net_.Before(embeddings, work, question.target.terms);
}

Neighbourhoods::Gathered Neighbourhoods::Gather(int round, const Question& question,
                                                absl::Span<const int32_t> classes) {
  const infer::CallClasses& before = question.rounds.classes[static_cast<size_t>(round)];
  const infer::CallClasses& after = question.rounds.classes[static_cast<size_t>(round) + 1];
  absl::flat_hash_map<int32_t, size_t> place_of;
  std::vector<int32_t> wanted;
  const auto want = [&](int32_t call) {
    const int32_t of_call = before.of_call[static_cast<size_t>(call)];
    if (place_of.try_emplace(of_call, wanted.size()).second) wanted.push_back(of_call);
  };
  for (const int32_t one : classes) {
    const int32_t call = after.first[static_cast<size_t>(one)];
    want(call);
    for (const int32_t source : question.rounds.along.Of(call)) want(source);
    for (const int32_t reader : question.rounds.against.Of(call)) want(reader);
  }
  Gathered gathered{StatesBefore(round, question, wanted), {}};
  const auto state_of = [&](int32_t call) {
    return gathered.states[place_of.at(before.of_call[static_cast<size_t>(call)])].get();
  };
  for (const int32_t one : classes) {
    const int32_t call = after.first[static_cast<size_t>(one)];
    infer::CallAmongNeighbours& among = gathered.calls.emplace_back();
    among.call = state_of(call);
    for (const int32_t source : question.rounds.along.Of(call)) among.sources.push_back(state_of(source));
    for (const int32_t reader : question.rounds.against.Of(call)) among.readers.push_back(state_of(reader));
  }
  return gathered;
}

Neighbourhoods::CallStates Neighbourhoods::StatesBefore(int round, const Question& question,
                                                        absl::Span<const int32_t> classes) {
  ClockCache<infer::CallState>& cache = *states_[static_cast<size_t>(round)];
  const std::vector<Hash128> keys = question.KeysOf(round, classes);
  const auto make = [&](const std::vector<size_t>& missing) {
    std::vector<int32_t> unknown;
    for (const size_t i : missing) unknown.push_back(classes[i]);
    if (round == 0) return StatesOfLayers(question, unknown);
    return net_.After(round - 1, Gather(round - 1, question, unknown).calls, question.target.terms);
  };
  return FoundOrMade(&cache, keys, make, [](const infer::CallState& state) { return HeapBytes(state.values); });
}

infer::NetworkContributions Neighbourhoods::Contribute(const NetworkInputs& inputs, const CallRows& rows, int target,
                                                       const TargetSpec& spec) {
  const int rounds = net_.rounds();
  if (rows.rounds == nullptr) rows.rounds = std::make_shared<const RoundClasses>(inputs, rows, rounds);
  const std::shared_ptr<const Target> on = TargetOf(target, spec);
  const Question question{inputs, rows, *rows.rounds, *on};
  const infer::CallClasses& last = rows.rounds->classes.back();
  std::vector<int32_t> all(last.first.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  const std::vector<Hash128> keys = question.KeysOf(rounds, all);
  const auto make = [&](const std::vector<size_t>& missing) {
    const std::vector<int32_t> unknown(missing.begin(), missing.end());
    return net_.AfterLast(Gather(rounds - 1, question, unknown).calls, on->terms);
  };
  const auto found =
      FoundOrMade(&known_, keys, make, [](const infer::Neighbourhood& one) { return HeapBytes(one.values); });
  std::vector<const infer::Neighbourhood*> neighbourhoods;
  neighbourhoods.reserve(found.size());
  for (const auto& one : found) neighbourhoods.push_back(one.get());
  return net_.Contribute({rows.of_call, rows.embeddings, last.of_call, neighbourhoods, inputs.totals}, on->terms);
}

CacheStats Neighbourhoods::stats() {
  CacheStats all = known_.stats();
  for (const auto& states : states_) {
    const CacheStats before = states->stats();
    all.bytes += before.bytes;
    all.capacity_bytes += before.capacity_bytes;
  }
  return all;
}

void Neighbourhoods::Clear() {
  for (const auto& states : states_) states->Clear();
  known_.Clear();
  targets_.Clear();
}

}  // namespace cobra::predict

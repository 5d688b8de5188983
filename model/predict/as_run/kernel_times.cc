#include "model/predict/as_run/kernel_times.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "base/text/json.h"
#include "graph/cost/cost.h"
#include "nlohmann/json.hpp"

namespace cobra::predict {
namespace {

constexpr double kLeastKnown = 0.8;   // of the time
constexpr double kMostUs = 1e12;      // of a kernel: eleven days
constexpr double kFusedShare = 0.01;  // of a kernel's time: what its other calls have together

struct Kernel {
  double us = 0;
  std::vector<int32_t> calls;
};

// The number at the beginning of `text`, where `end` is behind it; -1 without one.
int32_t NumberAtStart(absl::string_view text, size_t* end) {
  *end = 0;
  while (*end < text.size() && std::isdigit(static_cast<unsigned char>(text[*end]))) ++*end;
  int32_t number = 0;
  return absl::SimpleAtoi(text.substr(0, *end), &number) ? number : -1;
}

// 2 and 5 of "call2/Relu,call5/Add".
std::vector<int32_t> CallsOfName(absl::string_view name) {
  constexpr absl::string_view kWord = "call";
  std::vector<int32_t> calls;
  for (size_t at = name.find(kWord); at != absl::string_view::npos; at = name.find(kWord, at)) {
    at += kWord.size();
    size_t end = 0;
    const int32_t call = NumberAtStart(name.substr(at), &end);
    if (call >= 0 && absl::StartsWith(name.substr(at + end), "/")) calls.push_back(call);
  }
  return calls;
}

// The call that makes output 0 of "Conv output0_nchwc", as a kernel is called that lost its own
// name to an output.
std::vector<int32_t> MakerOfNamedOutput(const graph::Graph& graph, absl::string_view name) {
  constexpr absl::string_view kWord = "output";
  const size_t at = name.rfind(kWord);
  if (at == absl::string_view::npos) return {};
  size_t end = 0;
  const int32_t number = NumberAtStart(name.substr(at + kWord.size()), &end);
  if (number < 0 || static_cast<size_t>(number) >= graph.outputs().size()) return {};
  const graph::ValueRef& output = graph.outputs()[static_cast<size_t>(number)];
  return output.is_node() ? std::vector<int32_t>{output.index} : std::vector<int32_t>();
}

// Several kernels of the same calls are one.
std::vector<Kernel> KernelsOf(const graph::Graph& graph, const std::string& profile_json) {
  std::map<std::vector<int32_t>, double> by_calls;
  const size_t calls = graph.nodes().size();
  for (const nlohmann::json& entry : ParseJson<nlohmann::json>(profile_json)) {
    if (!entry.is_array() || entry.size() < 3 || !entry[0].is_string() || !entry[1].is_number() || !entry[2].is_array())
      return {};
    const double us = entry[1].get<double>();
    if (!(us >= 0 && us <= kMostUs)) return {};
    std::vector<int32_t> of;
    for (const nlohmann::json& call : entry[2]) {
      if (!call.is_number_integer() || call.get<int64_t>() < 0 || call.get<int64_t>() >= static_cast<int64_t>(calls))
        return {};
      of.push_back(call.get<int32_t>());
    }
    if (of.empty()) of = CallsOfName(entry[0].get<std::string>());
    if (of.empty()) of = MakerOfNamedOutput(graph, entry[0].get<std::string>());
    for (const int32_t call : of) {
      if (call < 0 || static_cast<size_t>(call) >= calls) return {};
    }
    by_calls[std::move(of)] += us;
  }
  std::vector<Kernel> kernels;
  for (const auto& [of, us] : by_calls) kernels.push_back({us, of});
  return kernels;
}

// The kernel of each call, -1 for none. A call that no kernel has belongs to the one that all its
// readers are in.
std::vector<int32_t> OwnersOf(const graph::Graph& graph, const std::vector<Kernel>& kernels) {
  constexpr int32_t kNone = -1;
  const size_t calls = graph.nodes().size();
  std::vector<int32_t> owner(calls, kNone);
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const int32_t call : kernels[k].calls) owner[static_cast<size_t>(call)] = static_cast<int32_t>(k);
  }
  std::vector<std::vector<int32_t>> readers(calls);
  for (size_t i = 0; i < calls; ++i) {
    for (const graph::ValueRef& input : graph.nodes()[i].inputs) {
      if (input.is_node()) readers[static_cast<size_t>(input.index)].push_back(static_cast<int32_t>(i));
    }
  }
  for (size_t i = calls; i-- > 0;) {
    if (owner[i] != kNone || readers[i].empty()) continue;
    const int32_t first = owner[static_cast<size_t>(readers[i][0])];
    const bool all = std::all_of(readers[i].begin(), readers[i].end(),
                                 [&](int32_t reader) { return owner[static_cast<size_t>(reader)] == first; });
    if (all) owner[i] = first;
  }
  return owner;
}

}  // namespace

std::vector<double> TimesOfCalls(const graph::Graph& graph, const std::string& profile_json) {
  const std::vector<Kernel> kernels = KernelsOf(graph, profile_json);
  double known = 0, total = 0;
  for (const Kernel& kernel : kernels) {
    total += kernel.us;
    known += kernel.calls.empty() ? 0 : kernel.us;
  }
  if (total <= 0 || known < kLeastKnown * total) return {};
  const std::vector<int32_t> owner = OwnersOf(graph, kernels);
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  std::vector<std::vector<size_t>> members(kernels.size());
  for (size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] >= 0) members[static_cast<size_t>(owner[i])].push_back(i);
  }
  std::vector<double> us(owner.size());
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (members[k].empty()) continue;
    const auto work = [&](size_t call) {
      return std::pair(costs[call].macs, costs[call].input_bytes + costs[call].weight_bytes + costs[call].output_bytes);
    };
    const size_t heaviest =
        *std::max_element(members[k].begin(), members[k].end(), [&](size_t a, size_t b) { return work(a) < work(b); });
    const double others = static_cast<double>(members[k].size() - 1);
    for (const size_t call : members[k])
      us[call] =
          call == heaviest ? kernels[k].us * (others > 0 ? 1 - kFusedShare : 1) : kFusedShare * kernels[k].us / others;
  }
  return us;
}

}  // namespace cobra::predict

#include "client/adapt/timed_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/request/model_question.h"
#include "client/terminal/progress.h"

namespace cobra::client {
namespace {

constexpr double kLongestMs = 600e3, kShortestMs = 1e-5;
constexpr size_t kMaxListed = 8;

void TakeModel(v1::PredictRequest request, v1::TimedNetwork* network) {
  if (request.has_graph()) network->mutable_graph()->Swap(request.mutable_graph());
  if (request.has_architecture()) network->mutable_architecture()->Swap(request.mutable_architecture());
}

// A model with its rows.
struct Timed {
  std::string row;  // the first
  ModelArguments model;
  std::vector<double> latency_ms;
};

}  // namespace

absl::StatusOr<double> ParseLatency(const std::string& text) {
  double ms = 0;
  // Abseil reads 0x10 as 16, which no log of timings means.
  if (!absl::SimpleAtod(text, &ms) || text.find_first_of("xX") != std::string::npos)
    return UsageError(absl::StrCat("latency_ms \"", text, "\": is not a number"));
  if (!std::isfinite(ms) || ms <= 0) return UsageError(absl::StrCat("latency_ms ", text, ": is not a time"));
  if (ms > kLongestMs || ms < kShortestMs) {
    return UsageError(absl::StrCat("latency_ms ", text, ": not plausible for a network: is it in milliseconds?"));
  }
  return ms;
}

absl::StatusOr<v1::TimedNetwork> LoadTimedModel(const ModelArguments& model, const TimedListOptions& options) {
  AskFlags ask;
  if (!model.architecture.empty()) ask.send_source = true;
  const std::map<std::string, std::string> versions{{"", options.torch_version}};
  ModelQuestion question(ask, model, &versions, options.time);
  COBRA_ASSIGN_OR_RETURN(v1::PredictRequest request, question.RequestFor(""));
  v1::TimedNetwork network;
  TakeModel(std::move(request), &network);
  return network;
}

absl::StatusOr<TimedModels> LoadTimedModels(const std::string& path, const TimedListOptions& options) {
  COBRA_ASSIGN_OR_RETURN(ModelList list,
                         ModelList::Load(path, options.of_all, options.needs_latency ? "--samples" : "--list"));
  if (options.needs_latency && !list.has_latencies()) {
    return UsageError(absl::StrCat(path, " line 1: the column latency_ms is missing"),
                      "the first line names the columns: row,model,entry,inputs,arguments,mode,latency_ms");
  }
  TimedModels loaded;
  std::vector<Timed> models;
  std::map<std::string, size_t> known;
  while (std::optional<ListedModel> listed = list.Next()) {
    absl::StatusOr<double> ms = listed->found.ok() ? absl::StatusOr<double>(0) : listed->found;
    if (ms.ok() && options.needs_latency) ms = ParseLatency(listed->latency_ms);
    if (!ms.ok()) {
      loaded.refused.push_back({listed->row, ms.status()});
      continue;
    }
    const auto [place, is_new] = known.emplace(ModelKey(listed->model), models.size());
    if (is_new || !options.join) {
      models.push_back({listed->row, listed->model, {*ms}});
    } else {
      models[place->second].latency_ms.push_back(*ms);
    }
  }
  Progress progress(absl::StrCat("reading ", path));
  for (Timed& timed : models) {
    progress.Count(absl::StrCat("reading ", path), static_cast<int64_t>(loaded.networks.size() + loaded.refused.size()),
                   static_cast<int64_t>(models.size()));
    absl::StatusOr<v1::TimedNetwork> network = LoadTimedModel(timed.model, options);
    if (!network.ok()) {
      loaded.refused.push_back({timed.row, network.status()});
      continue;
    }
    network->set_row(timed.row);
    network->set_timings(static_cast<int64_t>(timed.latency_ms.size()));
    network->set_latency_ms(Median(std::move(timed.latency_ms)));
    loaded.networks.push_back(*std::move(network));
  }
  return loaded;
}

std::vector<std::string> RefusedTexts(const std::vector<RefusedLine>& refused) {
  std::vector<std::string> texts;
  for (const RefusedLine& line : refused) texts.push_back(absl::StrCat("row ", line.row, ": ", WhyText(line.why)));
  return texts;
}

absl::Status RefusedError(const std::string& path, const std::vector<RefusedLine>& refused) {
  std::vector<std::string> texts = RefusedTexts(refused);
  if (texts.size() > kMaxListed) {
    const size_t more = texts.size() - kMaxListed;
    texts.resize(kMaxListed);
    texts.push_back(absl::StrCat("and ", Counted(more, "more row")));
  }
  const std::optional<Diagnostic> first = DiagnosticFromStatus(refused[0].why);
  return UserError(first.has_value() ? first->kind : Diagnostic::Kind::kUsage,
                   absl::StrCat(path, ": ", absl::StrJoin(texts, "; ")),
                   "nothing has changed; correct the rows, or leave them out: --skip-refused");
}

}  // namespace cobra::client

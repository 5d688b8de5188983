#include "lab/tables/papers/table_cobra_layers.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "lab/published/cobra/published_encoder.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/cost_features.h"
#include "lab/tables/run/measured_rows.h"
#include "lab/tables/run/work_folder.h"
#include "lab/variants/kernel_model.h"
#include "model/training/trainer.h"

namespace cobra::lab {
namespace {

constexpr char kPaper[] = "paper-layers", kReal[] = "real-layers";
constexpr size_t kKernelRows = 8000;  // its time grows with the cube of the rows

// Operator, name of the type in the paper, published figures (table 2: MAPE; within 1, 5, 10, 25
// %).
struct LayerType {
  const char* op;
  const char* group;
  const char* published;
};
constexpr LayerType kTypes[] = {{"conv2d", "Conv", "28; 2.4 / 13.2 / 26.7 / 57.6"},
                                {"batch_norm", "BatchNorm", "6; 9.5 / 55.0 / 86.4 / 98.5"},
                                {"relu", "ReLU", "5; 11.5 / 56.4 / 90.6 / 100"},
                                {"add", "Add", "6; 10.0 / 49.0 / 81.0 / 100"},
                                {"linear", "Linear", "2.2; 31.3 / 94.4 / 98.5 / 100"},
                                {"avg_pool2d", "AvgPool", "9; 5.3 / 47.4 / 68.4 / 97.4"},
                                {"max_pool2d", "MaxPool", "9; 10.0 / 35.0 / 60.0 / 100"},
                                {"adaptive_avg_pool2d", "GlobalAvgPool", "6; 11.1 / 51.4 / 84.7 / 99.3"}};
constexpr char kAll[] = "all", kRealGroup[] = "real-layers", kCurve[] = "learning curve, all",
               kFigure5[] = "masked parameters (figure 5)";

// Fits a line for each kind of layer, by the relative error; a kind with few rows uses the line of
// all.
std::vector<double> PredictByLines(const std::vector<const training::Sample*>& train,
                                   const std::vector<const training::Sample*>& asked) {
  std::map<std::string, std::pair<std::vector<const training::Sample*>, std::vector<size_t>>>
      kinds;  // training rows; indices in `asked`
  for (const training::Sample* s : train) kinds[s->label()].first.push_back(s);
  for (size_t i = 0; i < asked.size(); ++i) kinds[asked[i]->label()].second.push_back(i);
  std::vector<double> predicted(asked.size(), 0);
  for (const auto& [kind, rows] : kinds) {
    const std::vector<const training::Sample*>& learned = rows.first.size() >= 20 ? rows.first : train;
    FeatureRows train_rows, asked_rows;
    for (const training::Sample* s : learned) train_rows.push_back(WorkFeatures(s->graph()));
    for (size_t i : rows.second) asked_rows.push_back(WorkFeatures(asked[i]->graph()));
    const std::vector<double> us = FitRelativeLinear(train_rows, LatencyOf(learned), asked_rows);
    for (size_t i = 0; i < us.size(); ++i) predicted[rows.second[i]] = us[i];
  }
  return predicted;
}

class Table {
 public:
  Table(const TableOptions& options, WorkFolder work) : options_(options), work_(std::move(work)), run_(options) {}

  absl::StatusOr<TableRun> Run() {
    COBRA_ASSIGN_OR_RETURN(data_, training::LoadMeasurements(options_.rows));
    CollectRows();
    if (paper_train_.empty() || paper_tests_ == 0)
      return absl::NotFoundError(absl::StrCat(options_.rows, ": has no ", kPaper, " for training and test"));
    run_.columns = LatencyColumns();
    run_.columns.push_back({"perplexity", "perplexity", 1, 2});
    for (const LayerType& t : kTypes) run_.published[absl::StrCat(kPublished, "/", t.group)] = t.published;
    run_.published[absl::StrCat(kPublished, "/", kAll)] =
        "15; 8.6 / 40.3 / 61.1 / 81.4 (289,198 training layers, GTX 1080 Ti)";
    COBRA_RETURN_IF_ERROR(Ours());
    for (int seed = 1; seed <= (options_.quick ? 1 : options_.seeds); ++seed) COBRA_RETURN_IF_ERROR(Trees(seed));
    COBRA_RETURN_IF_ERROR(Add(
        "kernel ridge on the call's numbers", 1, 0, [&] { return PredictByKernel(paper_train_); },
        /*paper_only=*/true));
    COBRA_RETURN_IF_ERROR(Add("linear on FLOPs and bytes, one line per type", 1, 3 * 8,
                              [&]() -> Predicted { return PredictByLines(all_train_, tests_); }));
    COBRA_RETURN_IF_ERROR(Published());
    for (const auto& [group, index] : groups_) {
      const std::vector<training::Repeat> repeats = RepeatsOf(group);
      if (repeats.empty()) continue;
      COBRA_RETURN_IF_ERROR(run_.Add(kFloor, group, 1, [&] { return FloorCell(repeats); }));
    }
    COBRA_RETURN_IF_ERROR(Curve());
    Say();
    return std::move(run_);
  }

 private:
  using Predicted = absl::StatusOr<std::vector<double>>;

  void CollectRows() {
    const size_t most = options_.quick ? 400 : 0;
    paper_train_ = RowsOf(data_, kPaper, training::Split::kTrain, most);
    paper_validation_ = RowsOf(data_, kPaper, training::Split::kValidation, most);
    tests_ = RowsOf(data_, kPaper, training::Split::kTest, most / 2);
    paper_tests_ = tests_.size();
    const std::vector<const training::Sample*> real = RowsOf(data_, kReal, training::Split::kTest, most / 2),
                                               real_train = RowsOf(data_, kReal, training::Split::kTrain, most);
    tests_.insert(tests_.end(), real.begin(), real.end());
    all_train_ = paper_train_;
    all_train_.insert(all_train_.end(), real_train.begin(), real_train.end());
    groups_ = {{kAll, {}}};
    for (const LayerType& t : kTypes) groups_.push_back({t.group, {}});
    groups_.push_back({kRealGroup, {}});
    for (size_t i = 0; i < tests_.size(); ++i) {
      if (i >= paper_tests_) {
        groups_.back().second.push_back(i);
        continue;
      }
      groups_[0].second.push_back(i);
      for (size_t t = 0; t < std::size(kTypes); ++t) {
        if (tests_[i]->label() == kTypes[t].op) groups_[1 + t].second.push_back(i);
      }
    }
  }

  std::vector<training::Repeat> RepeatsOf(absl::string_view group) const {
    std::vector<training::Repeat> repeats;
    for (const training::Repeat& r : data_.layer_repeats) {
      bool wanted = group == kRealGroup ? r.space == kReal : group == kAll && r.space == kPaper;
      for (const LayerType& t : kTypes) wanted = wanted || (group == t.group && r.space == kPaper && r.label == t.op);
      if (wanted) repeats.push_back(r);
    }
    return repeats;
  }

  // Adds a cell for each group. `predict` returns predictions for the tests in their order, or only
  // for those of the paper's types. It is called when the first cell is missing.
  absl::Status Add(const std::string& method, int seed, int64_t parameters, const std::function<Predicted()>& predict,
                   bool paper_only = false) {
    std::vector<double> predicted;
    double seconds = 0;
    for (const auto& [group, index] : groups_) {
      if (index.empty() || (index.back() >= paper_tests_ && paper_only)) continue;
      const auto& places = index;
      COBRA_RETURN_IF_ERROR(run_.Add(method, group, seed, [&]() -> absl::StatusOr<TableCell> {
        if (predicted.empty()) {
          const absl::Time start = absl::Now();
          COBRA_ASSIGN_OR_RETURN(predicted, predict());
          seconds = absl::ToDoubleSeconds(absl::Now() - start);
        }
        TableCell cell = CellOf(predicted, places, parameters);
        cell.seconds = seconds;
        return cell;
      }));
    }
    return absl::OkStatus();
  }

  TableCell CellOf(const std::vector<double>& predicted, const std::vector<size_t>& places, int64_t parameters) const {
    std::vector<double> answered, measured;
    for (size_t i : places) {
      answered.push_back(predicted[i]);
      measured.push_back(tests_[i]->latency_us());
    }
    TableCell cell;
    cell.figures = LatencyMetricValues(answered, measured);
    cell.parameters = parameters;
    return cell;
  }

  absl::Status Ours() {
    const std::vector<std::string> seeds = SeedsOf(options_.model);
    for (size_t s = 0; s < seeds.size() && static_cast<int>(s) < options_.seeds; ++s) {
      COBRA_RETURN_IF_ERROR(Add("COBRA (shipped)", static_cast<int>(s) + 1, 0, [&]() -> Predicted {
        COBRA_ASSIGN_OR_RETURN(const training::Predictions p, PredictedBy(seeds[s], data_, tests_));
        return p.latency_us;
      }));
    }
    if (seeds.size() == 1)
      run_.after.push_back(absl::StrCat("COBRA (shipped) is one seed, the version in `", options_.model,
                                        "`: trained on all training layers and networks."));
    return absl::OkStatus();
  }

  static std::vector<const training::Sample*> First(std::vector<const training::Sample*> rows, size_t most) {
    if (rows.size() > most) rows.resize(most);
    return rows;
  }

  Predicted PredictByTrees(const std::vector<const training::Sample*>& train, size_t asked, int seed) const {
    FeatureRows train_rows, asked_rows;
    for (const training::Sample* s : train) train_rows.push_back(LayerFeatures(s->graph()));
    for (size_t i = 0; i < asked; ++i) asked_rows.push_back(LayerFeatures(tests_[i]->graph()));
    TreeOptions trees;
    trees.method = "hist";
    trees.trees = options_.quick ? 50 : 1200;
    trees.depth = 7;
    trees.learning_rate = options_.quick ? 0.1 : 0.04;
    trees.columns = 0.5;
    trees.seed = static_cast<uint64_t>(seed);
    return FitTrees(train_rows, LatencyOf(train), asked_rows, trees);
  }

  absl::Status Trees(int seed) {
    return Add("boosted trees on shapes and costs", seed, 0,
               [&, seed] { return PredictByTrees(all_train_, tests_.size(), seed); });
  }

  // Predicts layers of the paper's types only.
  Predicted PredictByKernel(const std::vector<const training::Sample*>& train) const {
    std::vector<const training::Sample*> layers = First(train, kKernelRows);
    std::vector<size_t> fitted(layers.size()), asked;
    for (size_t i = 0; i < fitted.size(); ++i) fitted[i] = i;
    for (size_t i = 0; i < paper_tests_; ++i) {
      asked.push_back(layers.size());
      layers.push_back(tests_[i]);
    }
    const std::unique_ptr<KernelModel> model = KernelModel::Create(layers);
    COBRA_RETURN_IF_ERROR(model->Fit(fitted));
    return model->Predict(asked);
  }

  // Our model, trained only on `rows`, layers of the paper's types.
  Predicted PredictByOurs(const std::vector<const training::Sample*>& rows, uint64_t seed) const {
    training::Dataset data;
    data.target = data_.target;
    for (const training::Sample* s : rows) data.samples.push_back(*s);
    for (const training::Sample* s : First(paper_validation_, rows.size() / 10 + 32)) data.samples.push_back(*s);
    training::TrainOptions train;
    train.seed = seed;
    // Few layers get as many steps as many layers: at least 2,000.
    train.epochs =
        options_.quick
            ? 2
            : std::max<int>(36, static_cast<int>(2000 * train.layer_batch / static_cast<int>(rows.size() + 1)));
    const std::string directory = absl::StrCat(work_.path(), "/ours-", rows.size(), "-", seed);
    COBRA_RETURN_IF_ERROR(training::Train(absl::MakeConstSpan(&data, 1), train, directory));
    COBRA_ASSIGN_OR_RETURN(const training::Predictions p,
                           training::PredictSamples(directory, First(tests_, paper_tests_)));
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return p.layer_sum_us;
  }

  absl::Status Published() {
    const std::string config = ConfigFolder(options_) + "/cobra_encoder.json";
    auto created = PublishedEncoder::Create(config, kWordPieceVocabulary, work_.path());
    if (absl::IsNotFound(created.status())) {
      run_.before.push_back(absl::StrCat("COBRA as published is left out: ", created.status().message(), "."));
      return absl::OkStatus();
    }
    COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<PublishedEncoder> encoder, std::move(created));
    const std::vector<const training::Sample*> paper_test = First(tests_, paper_tests_);
    const auto cell_with_notes = [&](TableCell cell) {
      const PublishedEncoder::Notes& n = encoder->notes();
      cell.parameters = n.parameters;
      cell.seconds = n.seconds;
      cell.figures.insert(cell.figures.end(), {{"rows", static_cast<double>(n.rows)},
                                               {"epochs", static_cast<double>(n.epochs)},
                                               {"fine_tune_epochs", static_cast<double>(n.fine_tune_epochs)},
                                               {"training_seconds", n.seconds}});
      return cell;
    };
    std::optional<std::vector<double>> predicted;
    for (const auto& [group, index] : groups_) {
      if (index.empty() || index.back() >= paper_tests_) continue;
      const auto& places = index;
      COBRA_RETURN_IF_ERROR(run_.Add(kPublished, group, 1, [&]() -> absl::StatusOr<TableCell> {
        if (!predicted) {
          COBRA_RETURN_IF_ERROR(encoder->Fit(paper_train_, paper_validation_, paper_test, /*append_latency=*/true,
                                             /*fine_tune=*/true, 1));
          predicted = encoder->Predict(paper_test);
        }
        return cell_with_notes(CellOf(*predicted, places, 0));
      }));
    }
    const std::vector<const training::Sample*> rows = encoder->RowsOf(paper_train_);
    COBRA_RETURN_IF_ERROR(Add(
        "COBRA (ours) on the rows of the encoder as published", 1, 0, [&] { return PredictByOurs(rows, 1); },
        /*paper_only=*/true));
    for (const bool appended : {true, false}) {
      const char* method =
          appended ? "COBRA as published, latency appended in pre-training" : "the same, latency not appended";
      COBRA_RETURN_IF_ERROR(run_.Add(method, kFigure5, 1, [&]() -> absl::StatusOr<TableCell> {
        COBRA_RETURN_IF_ERROR(
            encoder->Fit(paper_train_, paper_validation_, paper_test, appended, /*fine_tune=*/appended, 1));
        TableCell cell;
        cell.figures = {{"perplexity", encoder->notes().perplexity}};
        return cell_with_notes(cell);
      }));
    }
    return absl::OkStatus();
  }

  absl::Status Curve() {
    for (size_t n : {250, 500, 1000, 2000, 4000, 8000, 16000}) {
      if (options_.quick && n > 250) break;
      const bool last = n >= paper_train_.size();
      const std::vector<const training::Sample*> rows = First(paper_train_, n);
      const auto add = [&](const std::string& method, const std::function<Predicted()>& predict) {
        return run_.Add(absl::StrCat(method, ", ", rows.size(), " layers"), kCurve, 1,
                        [&]() -> absl::StatusOr<TableCell> {
                          COBRA_ASSIGN_OR_RETURN(const std::vector<double> predicted, predict());
                          return CellOf(predicted, groups_[0].second, 0);
                        });
      };
      COBRA_RETURN_IF_ERROR(add("boosted trees", [&] { return PredictByTrees(rows, paper_tests_, 1); }));
      COBRA_RETURN_IF_ERROR(add("kernel ridge", [&] { return PredictByKernel(rows); }));
      if (n % 1000 == 0 && n <= 4000)
        COBRA_RETURN_IF_ERROR(add("COBRA (ours, these layers only)", [&] { return PredictByOurs(rows, 1); }));
      if (last) break;
    }
    return run_.Add(kFloor, kCurve, 1, [&] { return FloorCell(RepeatsOf(kAll)); });
  }

  // Adds what the reader of the document must know, taken from the cells.
  void Say() {
    run_.after.push_back(
        absl::StrFormat("Test rows: a tenth by fingerprint (`SplitOf`), %d of the paper's types and %d of layers of "
                        "real networks. The published figures are of other layers on another device "
                        "(MAPE in %%; within 1 / 5 / 10 / 25 %%). Trees and lines are fitted to all %d training "
                        "layers, the kernel and everything in the learning curve to those of the paper's types (%d).",
                        paper_tests_, tests_.size() - paper_tests_, all_train_.size(), paper_train_.size()));
    run_.after.push_back(absl::StrFormat(
        "The floor is of layers of the same type that were measured again at the end of their series, "
        "%d of the paper's and others of %d in all, whose median difference is %.2f %%. Large ones, of "
        "which the paper's draw has more, repeat worst.",
        RepeatsOf(kAll).size(), data_.layer_repeats.size(), 100 * training::RepeatabilityFloor(data_.layer_repeats)));
    for (const TableCell& c : run_.cells) {
      if (c.method != kPublished || c.group != kAll) continue;
      std::map<std::string, double> f(c.figures.begin(), c.figures.end());
      run_.after.push_back(
          absl::StrFormat("COBRA as published (`%s`) learned %.0f layers of the paper's types in %.0f epochs of "
                          "pre-training and %.0f of fine-tuning, %.0f s on one core, where the paper has 289,198 "
                          "layers and up to 200 epochs; the row below it has ours on the same layers.",
                          ConfigFolder(options_) + "/cobra_encoder.json", f["rows"], f["epochs"], f["fine_tune_epochs"],
                          f["training_seconds"]));
    }
  }

  static constexpr char kPublished[] = "COBRA as published: encoder";
  const TableOptions options_;
  const WorkFolder work_;
  training::Dataset data_;
  std::vector<const training::Sample*> paper_train_, paper_validation_, all_train_;
  std::vector<const training::Sample*> tests_;  // the paper's types first
  size_t paper_tests_ = 0;
  std::vector<std::pair<std::string, std::vector<size_t>>> groups_;  // indices in tests_
  TableRun run_;
};

}  // namespace

absl::StatusOr<TableRun> RunCobraLayersTable(const TableOptions& options) { return RunInWorkFolder<Table>(options); }

}  // namespace cobra::lab

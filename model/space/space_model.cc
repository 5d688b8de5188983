#include "model/space/space_model.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bytes/hash.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "model/net/safetensors.h"
#include "model/space/models/tensor_map.h"
#include "model/training/rows/metrics.h"
#include "nlohmann/json.hpp"

namespace cobra::space {
namespace {

using nlohmann::json;

constexpr const char *kFormatStem = "cobra-space-", *kFormat = "cobra-space-2";
constexpr int64_t kMostNumbers = 1 << 20;  // for a size in a manifest: beyond it the file is damaged

std::string ManifestPath(const std::string& directory) { return directory + "/manifest.json"; }
std::string TensorsPath(const std::string& directory) { return directory + "/tensors.safetensors"; }

json SpecToJson(const DeviceSpec& s) {
  return {{"name", s.name},   {"family", s.family},       {"kind", s.kind},      {"batch", s.batch},
          {"cores", s.cores}, {"clock_mhz", s.clock_mhz}, {"power_w", s.power_w}};
}

// Older models have a factor only.
AdaptWidth WidthFromJson(const json& w) {
  if (w.is_number()) return {w.get<double>(), 1, 1};
  return {w.at("factor").get<double>(), w.at("usual").get<double>(), w.at("trust").get<double>(), w.value("power", 0.0),
          w.value("own", 0.0)};
}

json ShapeToJson(const SingleDeviceModel::Shape& s, double off_by) {
  return {{"arch", s.arch},
          {"off_by", off_by},
          {"process",
           {{"mean", s.gaussian_process_mean},
            {"scale", s.gaussian_process_scale},
            {"least", s.gaussian_process_least},
            {"draws", s.draws},
            {"processes", s.processes}}},
          {"networks", {{"count", s.networks}, {"mean_ms", s.networks_mean_ms}}}};
}
SingleDeviceModel::Shape ShapeFromJson(const json& j) {
  constexpr int kMost = 64;
  const json &process = j.at("process"), &networks = j.at("networks");
  return {j.at("arch").get<std::vector<std::string>>(),
          process.at("mean").get<double>(),
          process.at("scale").get<double>(),
          process.at("least").get<double>(),
          std::clamp(process.at("draws").get<int>(), 1, kMost),
          std::clamp(process.value("processes", 2), 1, kMost),  // older models have two and do not store the number
          std::clamp(networks.at("count").get<int>(), 0, kMost),
          networks.at("mean_ms").get<double>()};
}

absl::Status CheckFormat(const json& manifest, const std::string& path) {
  const std::string format = manifest.is_object() ? manifest.value("format", "") : "";
  if (format == kFormat) return absl::OkStatus();
  if (absl::StartsWith(format, kFormatStem)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has format ", format, "; this build reads ", kFormat,
                                                   ": fit it again with cobra-train fit --space NAME"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a model of a search space; cobra-train fit --space NAME writes one"));
}

KnownDevices::Device DeviceFromJson(const json& entry) {
  KnownDevices::Device d;
  d.spec.name = entry.at("name").get<std::string>();
  d.spec.family = entry.at("family").get<std::string>();
  d.spec.kind = entry.at("kind").get<std::string>();
  d.spec.batch = entry.at("batch").get<double>();
  d.spec.cores = entry.at("cores").get<double>();
  d.spec.clock_mhz = entry.at("clock_mhz").get<double>();
  d.spec.power_w = entry.at("power_w").get<double>();
  d.mean_ms = entry.at("mean_ms").get<double>();
  d.least = entry.at("least").get<double>();
  d.off_by = entry.at("off_by").get<double>();
  return d;
}

// Adds KnownDevices::Tensors of the right sizes, to be filled from a file.
void PrepareTensors(const json& sizes, int64_t devices, TensorMap* bag) {
  const auto size = [&sizes](const char* name) -> int64_t {
    return std::clamp<int64_t>(sizes.at(name).get<int64_t>(), 0, kMostNumbers);
  };
  bag->Add("mean_costs", at::zeros({size("costs")}));
  bag->Add("mean_choices", at::zeros({size("choices")}));
  bag->Add("mean_pairs", at::zeros({size("pairs")}));
  bag->Add("mean_rooflines", at::zeros({size("rooflines")}));
  bag->Add("lines", at::zeros({devices, 1 + size("costs") + size("choices") + size("pairs")}));
  bag->Add("reference", at::zeros({size("reference"), devices}));
}

absl::Status CheckRows(const CsvTable& csv, const std::string& path, const std::vector<absl::string_view>& columns) {
  for (absl::string_view column : columns) {
    if (csv.Column(column) < 0) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": line 1: no column ", column, "; it wants ",
                                                     absl::StrJoin(columns, ","), " and has ",
                                                     absl::StrJoin(csv.header, ",")));
    }
  }
  if (csv.rows.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no row below the header"));
  return absl::OkStatus();
}

absl::StatusOr<ArchRows> LoadColumns(const std::string& path, bool latency) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  const absl::StatusOr<CsvTable> csv = ParseCsv(text);
  if (!csv.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", csv.status().message()));
  std::vector<absl::string_view> columns = {"row", "arch"};
  if (latency) columns.push_back("latency_ms");
  COBRA_RETURN_IF_ERROR(CheckRows(*csv, path, columns));
  const auto row = static_cast<size_t>(csv->Column("row")), arch = static_cast<size_t>(csv->Column("arch"));
  ArchRows rows;
  if (latency) {
    rows.devices = {"latency_ms"};
    rows.latency_ms.resize(1);
  }
  for (const CsvTable::Row& line : csv->rows) {
    rows.row.push_back(line.fields[row]);
    rows.arch.push_back(line.fields[arch]);
    rows.line.push_back(line.line);
    if (!latency) continue;
    const std::string& field = line.fields[static_cast<size_t>(csv->Column("latency_ms"))];
    double ms = 0;
    if (!absl::SimpleAtod(field, &ms) || !(ms > 0) || !std::isfinite(ms)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": line ", line.line, ": latency_ms \"", field,
                                                     "\": is not a positive number of milliseconds"));
    }
    rows.latency_ms[0].push_back(ms);
  }
  return rows;
}

}  // namespace

absl::StatusOr<ArchRows> LoadArchitectures(const std::string& path) { return LoadColumns(path, false); }
absl::StatusOr<ArchRows> LoadSamples(const std::string& path) { return LoadColumns(path, true); }

absl::StatusOr<SpaceModel> SpaceModel::Fit(const Space& space, const std::string& file,
                                           const std::vector<DeviceSpec>& specs) {
  COBRA_ASSIGN_OR_RETURN(const ArchRows rows, LoadArchRows(file));
  if (rows.devices.empty())
    return absl::InvalidArgumentError(absl::StrCat(file, ": line 1: no column of a device beside row and arch"));
  if (rows.size() == 0) return absl::InvalidArgumentError(absl::StrCat(file, ": no row below the header"));
  SpaceModel model;
  model.space_ = &space;
  COBRA_ASSIGN_OR_RETURN(const SpaceMatrix all, MakeSpaceMatrix(space, rows, file));
  std::vector<size_t> columns(rows.devices.size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  std::vector<int64_t> fit_rows(rows.size());
  std::iota(fit_rows.begin(), fit_rows.end(), int64_t{0});
  absl::StatusOr<KnownDevices> known = KnownDevices::Fit(all, rows, columns, fit_rows, specs);
  if (!known.ok()) return absl::InvalidArgumentError(absl::StrCat(file, ": ", known.status().message()));
  model.known_ = *std::move(known);
  if (columns.size() == 1) COBRA_RETURN_IF_ERROR(model.FitSingleDevice(rows));
  model.widths_ = CalibrateWidths(model.known_, all, rows, fit_rows, AdaptOptions(), /*draws=*/2);
  return model;
}

// Holds out rows to choose between line and process and to fit the interval; then fits all rows.
absl::Status SpaceModel::FitSingleDevice(const ArchRows& rows) {
  constexpr size_t kHeldOutEvery = 10;
  std::vector<std::string> arch, kept, held_out;
  std::vector<double> ms, kept_ms, held_out_ms;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (std::isnan(rows.latency_ms[0][r])) continue;
    const bool out = arch.size() % kHeldOutEvery == kHeldOutEvery - 1;
    (out ? held_out : kept).push_back(rows.arch[r]);
    (out ? held_out_ms : kept_ms).push_back(rows.latency_ms[0][r]);
    arch.push_back(rows.arch[r]);
    ms.push_back(rows.latency_ms[0][r]);
  }
  if (static_cast<int64_t>(kept.size()) < SingleDeviceModel::kMinRows) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const SingleDeviceModel> tried,
                         SingleDeviceModel::Fit(*space_, kept, kept_ms, /*networks=*/false));
  COBRA_ASSIGN_OR_RETURN(const std::vector<double> predicted_ms, tried->LatencyMs(held_out));
  std::vector<double> off;
  for (size_t i = 0; i < predicted_ms.size(); ++i)
    off.push_back(training::AbsLogError(predicted_ms[i], held_out_ms[i]));
  single_device_abs_log_error_ = training::ConformalQuantile(off, 0.9);
  if (single_device_abs_log_error_ > known_.devices()[0].off_by) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(single_device_, SingleDeviceModel::Fit(*space_, arch, ms, /*networks=*/true));
  return absl::OkStatus();
}

absl::Status SpaceModel::Save(const std::string& directory) const {
  COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
  const KnownDevices::Tensors& t = known_.tensors();
  TensorMap bag;
  bag.Add("mean_costs", t.mean_costs);
  bag.Add("mean_choices", t.mean_choices);
  bag.Add("mean_pairs", t.mean_pairs);
  bag.Add("mean_rooflines", t.mean_rooflines);
  bag.Add("lines", t.lines);
  bag.Add("reference", t.reference);
  if (single_device_ != nullptr) single_device_->AddTensors(&bag);
  const std::string tensors = net::SaveTensors(bag);
  json devices = json::array(), widths = json::object();
  for (const KnownDevices::Device& d : known_.devices()) {
    json entry = SpecToJson(d.spec);
    entry["mean_ms"] = d.mean_ms;
    entry["least"] = d.least;
    entry["off_by"] = d.off_by;
    devices.push_back(std::move(entry));
  }
  for (const auto& [samples, w] : widths_)
    widths[absl::StrCat(samples)] = {
        {"factor", w.factor}, {"usual", w.usual}, {"trust", w.trust}, {"power", w.power}, {"own", w.own}};
  json manifest = {{"format", kFormat},
                   {"space", std::string(space_->name())},
                   {"devices", devices},
                   {"interval_widths", widths},
                   {"sizes",
                    {{"costs", t.mean_costs.size(0)},
                     {"choices", t.mean_choices.size(0)},
                     {"pairs", t.mean_pairs.size(0)},
                     {"rooflines", t.mean_rooflines.size(0)},
                     {"reference", t.reference.size(0)}}},
                   {"tensors_sha256", Sha256Hex(tensors)}};
  if (single_device_ != nullptr)
    manifest["one_device"] = ShapeToJson(single_device_->shape(), single_device_abs_log_error_);
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(TensorsPath(directory), tensors));
  return WriteFileAtomic(ManifestPath(directory), manifest.dump(1));
}

absl::StatusOr<SpaceModel> SpaceModel::Load(const std::string& directory) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(ManifestPath(directory)));
  const json manifest = ParseJson<json>(text);
  COBRA_RETURN_IF_ERROR(CheckFormat(manifest, ManifestPath(directory)));
  COBRA_ASSIGN_OR_RETURN(const std::string tensors, ReadFile(TensorsPath(directory)));
  try {
    SpaceModel model;
    COBRA_ASSIGN_OR_RETURN(model.space_, FindSpace(manifest.at("space").get<std::string>()));
    if (Sha256Hex(tensors) != manifest.at("tensors_sha256").get<std::string>()) {
      return absl::DataLossError(absl::StrCat(
          TensorsPath(directory), ": SHA-256 differs from the manifest's; the file is damaged or of another fit"));
    }
    std::vector<KnownDevices::Device> devices;
    for (const json& entry : manifest.at("devices")) devices.push_back(DeviceFromJson(entry));
    for (const auto& [samples, w] : manifest.at("interval_widths").items())
      model.widths_[std::stoi(samples)] = WidthFromJson(w);
    TensorMap bag;
    SingleDeviceModel::Shape shape;
    if (manifest.contains("one_device")) {
      shape = ShapeFromJson(manifest["one_device"]);
      COBRA_RETURN_IF_ERROR(SingleDeviceModel::PrepareTensors(*model.space_, shape, &bag));
    }
    PrepareTensors(manifest.at("sizes"), static_cast<int64_t>(devices.size()), &bag);
    COBRA_RETURN_IF_ERROR(net::LoadTensors(tensors, &bag));
    model.known_ =
        KnownDevices::From(std::move(devices), {bag.Get("mean_costs"), bag.Get("mean_choices"), bag.Get("mean_pairs"),
                                                bag.Get("mean_rooflines"), bag.Get("lines"), bag.Get("reference")});
    if (!shape.arch.empty()) {
      COBRA_ASSIGN_OR_RETURN(model.single_device_, SingleDeviceModel::From(*model.space_, shape, bag));
      model.single_device_abs_log_error_ = manifest["one_device"].at("off_by").get<double>();
    }
    return model;
  } catch (const std::exception& e) {  // of JSON or LibTorch
    return absl::DataLossError(absl::StrCat(ManifestPath(directory), ": is damaged: ", e.what()));
  }
}

absl::StatusOr<std::vector<AdaptedLatency>> SpaceModel::Predict(const ArchRows& rows, const std::string& file,
                                                                absl::string_view device) const {
  size_t chosen = 0;
  std::vector<std::string> names;
  for (const KnownDevices::Device& d : known_.devices()) names.push_back(d.spec.name);
  if (device.empty() && names.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device: the model knows ", absl::StrJoin(names, ", "), "; choose one"));
  }
  if (!device.empty()) {
    chosen = static_cast<size_t>(std::find(names.begin(), names.end(), device) - names.begin());
    if (chosen == names.size()) {
      return absl::NotFoundError(absl::StrCat(device, ": no such device; the model knows ", absl::StrJoin(names, ", "),
                                              ". A new one: cobra-train adapt"));
    }
  }
  COBRA_ASSIGN_OR_RETURN(const SpaceMatrix asked, MakeSpaceMatrix(*space_, rows, file));
  std::vector<double> latency_ms;
  double factor = std::exp(single_device_abs_log_error_);
  if (single_device_ != nullptr) {
    COBRA_ASSIGN_OR_RETURN(latency_ms, single_device_->LatencyMs(rows.arch));
  } else {
    const KnownDevices one = known_.Select({chosen});
    const at::Tensor latency = (one.Latency(asked) * one.devices()[0].mean_ms).contiguous();
    latency_ms.assign(latency.data_ptr<double>(), latency.data_ptr<double>() + latency.numel());
    factor = std::exp(one.devices()[0].off_by);
  }
  std::vector<AdaptedLatency> predicted;
  for (double ms : latency_ms) predicted.push_back({ms, ms / factor, ms * factor});
  return predicted;
}

absl::StatusOr<std::vector<AdaptedLatency>> SpaceModel::Adapt(const ArchRows& samples, const std::string& samples_file,
                                                              const DeviceSpec& target, const ArchRows& rows,
                                                              const std::string& file) const {
  COBRA_RETURN_IF_ERROR(CheckSeveralDevices());
  COBRA_ASSIGN_OR_RETURN(const SpaceMatrix measured, MakeSpaceMatrix(*space_, samples, samples_file));
  COBRA_ASSIGN_OR_RETURN(const SpaceMatrix asked, MakeSpaceMatrix(*space_, rows, file));
  const Adapter adapter(known_, target);
  const AdaptedDevice device = adapter.Fit(adapter.Prepare(measured), samples.latency_ms[0]);
  return device.Predict(adapter.Prepare(asked), WidthOf(widths_, static_cast<int>(samples.size())));
}

absl::StatusOr<std::vector<int64_t>> SpaceModel::Choose(const ArchRows& rows, const std::string& file,
                                                        int count) const {
  COBRA_RETURN_IF_ERROR(CheckSeveralDevices());
  if (count > static_cast<int>(rows.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("--count: ", count, ", but ", file, " has ", rows.size(), " architectures"));
  }
  COBRA_ASSIGN_OR_RETURN(const SpaceMatrix asked, MakeSpaceMatrix(*space_, rows, file));
  const Adapter adapter(known_, DeviceSpec{});
  return adapter.Choose(adapter.Prepare(asked), count);
}

absl::Status SpaceModel::CheckSeveralDevices() const {
  if (known_.size() > 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--model: was fitted to one device, ", known_.devices()[0].spec.name,
                                                 "; a new device needs a model of several (one column a device)"));
}

}  // namespace cobra::space

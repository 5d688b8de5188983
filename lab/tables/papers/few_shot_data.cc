#include "lab/tables/papers/few_shot_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "model/space/architectures/space.h"

namespace cobra::lab {
namespace {

absl::StatusOr<CsvTable> ReadTable(const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  absl::StatusOr<CsvTable> csv = ParseCsv(text);
  if (!csv.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", csv.status().message()));
  if (csv->header.size() != 3) return absl::InvalidArgumentError(absl::StrCat(path, ": line 1: needs three columns"));
  return csv;
}

std::vector<std::string> Batched(const std::vector<std::string>& gpus, const std::vector<int>& batches) {
  std::vector<std::string> columns;
  for (const std::string& gpu : gpus) {
    for (int batch : batches) columns.push_back(absl::StrCat(gpu, "_", batch));
  }
  return columns;
}

}  // namespace

// Long because it is a list of every protocol, one field per line.
std::vector<FewShotProtocol> FewShotProtocols() {
  const auto trained_by_help = [](int largest) {
    return std::vector<std::string>{"1080ti_1",    "1080ti_32",      absl::StrCat("1080ti_", largest),
                                    "silver_4114", "silver_4210r",   "samsung_a50",
                                    "pixel3",      "essential_ph_1", "samsung_s7"};
  };
  const std::vector<std::string> gpus = {"1080ti", "2080ti", "titan_rtx", "titanx", "titanxp"};
  std::vector<std::string> servers = Batched(gpus, {1, 32, 256});
  servers.insert(servers.end(), {"gold_6240", "silver_4114", "silver_4210r"});
  std::vector<std::string> every = servers;
  every.insert(every.end(), {"samsung_a50", "samsung_s7", "pixel2", "pixel3", "essential_ph_1", "eyeriss", "fpga"});
  std::vector<std::string> ofa = Batched({"2080ti", "titan_xp", "v100"}, {32, 64});
  ofa.push_back("titan_rtx_32");
  return {
      {"help_nasbench201",
       "help",
       "nasbench201",
       "NAS-Bench-201, HELP's split",
       {"titan_rtx_256", "pixel2", "eyeriss", "fpga"},
       trained_by_help(256),
       true,
       {10, 3, 5, 20},
       {10}},
      {"help_nasbench201",
       "random",
       "nasbench201",
       "NAS-Bench-201, families of GPUs and server processors left out",
       servers,
       {},
       false,
       {3, 10, 5, 20},
       {}},  // by device: every device, below
      {"help_nasbench201",
       "help",
       "nasbench201",
       "NAS-Bench-201, families left out, rows in HELP's order",
       servers,
       {},
       false,
       {3, 10},
       {}},
      {"help_nasbench201",
       "random",
       "nasbench201",
       "NAS-Bench-201, every device, its family left out",
       every,
       {},
       true,
       {10},
       {10}},
      {"help_fbnet",
       "help",
       "fbnet",
       "FBNet, HELP's split",
       {"eyeriss", "fpga"},
       trained_by_help(64),
       true,
       {10, 3, 5, 20},
       {10}},
      {"help_fbnet",
       "help",
       "fbnet",
       "FBNet, families of batched GPUs left out",
       Batched(gpus, {32, 64}),
       {},
       true,
       {10, 3},
       {}},
      {"help_ofa",
       "help",
       "ofa",
       "Once-for-all, families of batched GPUs left out",
       ofa,
       {},
       true,
       {10, 3, 5, 20},
       {10}},
  };
}

absl::StatusOr<FewShotData> LoadFewShotData(const std::string& tables, const FewShotProtocol& protocol) {
  const std::string folder = absl::StrCat(tables, "/", protocol.data, "/");
  FewShotData data;
  COBRA_ASSIGN_OR_RETURN(data.rows, space::LoadArchRows(folder + "latency.csv.xz"));
  COBRA_ASSIGN_OR_RETURN(const space::Space* space, space::FindSpace(protocol.space));
  COBRA_ASSIGN_OR_RETURN(data.features, space::MakeSpaceMatrix(*space, data.rows, folder + "latency.csv.xz"));
  const at::Tensor flops = data.features.rooflines.select(1, 0).contiguous();
  data.flops.assign(flops.data_ptr<double>(), flops.data_ptr<double>() + flops.numel());
  absl::flat_hash_map<std::string, int64_t> index;
  for (size_t r = 0; r < data.rows.size(); ++r) index[data.rows.row[r]] = static_cast<int64_t>(r);
  COBRA_ASSIGN_OR_RETURN(const CsvTable uses, ReadTable(folder + "rows.csv"));
  for (const CsvTable::Row& line : uses.rows) {
    if (line.fields[0] != protocol.part) continue;
    (line.fields[1] == "pool" ? data.pool : data.test).push_back(index.at(line.fields[2]));
  }
  COBRA_ASSIGN_OR_RETURN(const CsvTable draws, ReadTable(folder + "draws.csv"));
  for (const CsvTable::Row& line : draws.rows) {
    if (line.fields[0] != protocol.part) continue;
    std::vector<int64_t> order;
    for (absl::string_view row : absl::StrSplit(line.fields[2], ' ')) order.push_back(index.at(std::string(row)));
    data.draws.push_back(std::move(order));
  }
  COBRA_ASSIGN_OR_RETURN(data.specs, space::LoadDeviceSpecs("data/devices/spaces.csv"));
  std::vector<size_t> columns(data.rows.devices.size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  COBRA_ASSIGN_OR_RETURN(data.known,
                         space::KnownDevices::Fit(data.features, data.rows, columns, data.pool, data.specs));
  return data;
}

std::vector<int64_t> Admitted(const FewShotProtocol& protocol, const FewShotData& data, size_t device,
                              const std::vector<int64_t>& indices) {
  const std::vector<double>& latency = data.rows.latency_ms[device];
  std::vector<int64_t> present;
  for (int64_t i : indices) {
    if (!std::isnan(latency[static_cast<size_t>(i)])) present.push_back(i);
  }
  if (!protocol.middle) return present;
  std::vector<int64_t> sorted = present;
  std::stable_sort(sorted.begin(), sorted.end(), [&latency](int64_t a, int64_t b) {
    return latency[static_cast<size_t>(a)] < latency[static_cast<size_t>(b)];
  });
  const auto count = static_cast<double>(sorted.size());
  std::vector<int64_t> middle(sorted.begin() + static_cast<int64_t>(count * 0.1),
                              sorted.begin() + static_cast<int64_t>(count * 0.9));
  std::sort(middle.begin(), middle.end());
  return middle;
}

}  // namespace cobra::lab

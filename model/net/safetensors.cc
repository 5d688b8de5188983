#include "model/net/safetensors.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "nlohmann/json.hpp"

namespace cobra::net {
namespace {

using nlohmann::json;

}  // namespace

std::string SaveTensors(const torch::nn::Module& module) {
  json header = json::object();
  std::string data;
  for (const auto& item : module.named_parameters()) {
    const at::Tensor t = item.value().detach().to(at::kFloat).contiguous();
    const size_t begin = data.size();
    data.append(static_cast<const char*>(t.data_ptr()), t.nbytes());
    header[item.key()] = {{"dtype", "F32"}, {"shape", t.sizes().vec()}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data starts at a multiple of eight bytes
  std::string out(8, '\0');
  const uint64_t length = text.size();
  std::memcpy(&out[0], &length, 8);
  return absl::StrCat(out, text, data);
}

absl::Status LoadTensors(absl::string_view file, torch::nn::Module* module) {
  uint64_t length = 0;
  if (file.size() >= 8) std::memcpy(&length, file.data(), 8);
  if (length == 0 || length > file.size() - 8) return absl::DataLossError("tensors: the header is cut off");
  const json header = ParseJson<json>(absl::string_view(file).substr(8, length));
  if (!header.is_object()) return absl::DataLossError("tensors: the header is not JSON");
  const absl::string_view data = file.substr(8 + length);
  at::NoGradGuard no_grad;
  for (auto& item : module->named_parameters()) {
    auto entry = header.find(item.key());
    if (entry == header.end()) return absl::DataLossError(absl::StrCat("tensors: ", item.key(), " is missing"));
    at::Tensor& t = item.value();
    const json shape = t.sizes().vec();
    if (entry->value("dtype", "") != "F32" || (*entry)["shape"] != shape || !(*entry)["data_offsets"].is_array() ||
        (*entry)["data_offsets"].size() != 2 || !(*entry)["data_offsets"][0].is_number_unsigned() ||
        !(*entry)["data_offsets"][1].is_number_unsigned()) {
      return absl::DataLossError(
          absl::StrCat("tensors: ", item.key(), " must be float32 ", shape.dump(), ", the file has ", entry->dump()));
    }
    const uint64_t begin = (*entry)["data_offsets"][0], end = (*entry)["data_offsets"][1];
    if (begin > end || end > data.size() || end - begin != t.nbytes()) {
      return absl::DataLossError(absl::StrCat("tensors: ", item.key(), " lies outside the file"));
    }
    std::memcpy(t.data_ptr(), data.data() + begin, t.nbytes());
  }
  return absl::OkStatus();
}

}  // namespace cobra::net

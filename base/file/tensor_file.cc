#include "base/file/tensor_file.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

using nlohmann::json;

absl::Status Malformed(absl::string_view name, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("tensors: ", name, ": ", what));
}

// The numbers of an array of whole numbers from 0; false for anything else.
template <typename Number>
bool WholeNumbers(const json& object, const char* key, std::vector<Number>* numbers) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return false;
  for (const json& value : *found) {
    if (!value.is_number_unsigned()) return false;
    numbers->push_back(value.get<Number>());
  }
  return true;
}

absl::StatusOr<StoredTensor> TensorOf(const std::string& name, const json& entry, absl::string_view data) {
  const auto dtype = entry.is_object() ? entry.find("dtype") : entry.end();
  if (!entry.is_object() || dtype == entry.end() || !dtype->is_string()) return Malformed(name, "has no type");
  StoredTensor tensor;
  tensor.dtype = dtype->get<std::string>();
  std::vector<uint64_t> offsets;
  if (!WholeNumbers(entry, "shape", &tensor.shape)) return Malformed(name, "\"shape\" is not a list of sizes");
  if (!WholeNumbers(entry, "data_offsets", &offsets) || offsets.size() != 2 || offsets[0] > offsets[1] ||
      offsets[1] > data.size())
    return Malformed(name, "\"data_offsets\" is not part of the file");
  tensor.bytes = data.substr(offsets[0], offsets[1] - offsets[0]);
  uint64_t bytes = static_cast<uint64_t>(BytesOfStoredType(tensor.dtype));
  if (bytes == 0) return Malformed(name, "\"dtype\" is unknown");
  for (int64_t size : tensor.shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return Malformed(name, "\"shape\" is too large");
  }
  if (bytes != tensor.bytes.size()) return Malformed(name, "\"shape\" and \"data_offsets\" do not agree");
  return tensor;
}

}  // namespace

int64_t BytesOfStoredType(absl::string_view dtype) {
  static constexpr std::pair<absl::string_view, int64_t> kTypes[] = {{"F32", 4}, {"F64", 8},  {"F16", 2}, {"BF16", 2},
                                                                     {"I64", 8}, {"I32", 4},  {"I16", 2}, {"I8", 1},
                                                                     {"U8", 1},  {"BOOL", 1}, {"C64", 8}, {"C128", 16}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == dtype) return bytes;
  }
  return 0;
}

absl::StatusOr<std::map<std::string, StoredTensor>> ReadTensorFile(absl::string_view file, absl::string_view dtype) {
  uint64_t length = 0;
  if (file.size() >= sizeof(length)) std::memcpy(&length, file.data(), sizeof(length));
  if (length == 0 || length > file.size() - sizeof(length))
    return absl::DataLossError("tensors: the header is cut off");
  const json header = ParseJson<json>(file.substr(sizeof(length), length));
  if (!header.is_object()) return absl::DataLossError("tensors: the header is not JSON");
  const absl::string_view data = file.substr(sizeof(length) + length);
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;  // texts, of other writers
    COBRA_ASSIGN_OR_RETURN(StoredTensor tensor, TensorOf(name, entry, data));
    if (!dtype.empty() && tensor.dtype != dtype) return Malformed(name, absl::StrCat("is not a ", dtype, " tensor"));
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

std::string WriteTensorFile(const std::vector<std::pair<std::string, StoredTensor>>& tensors) {
  json header = json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    absl::StrAppend(&data, tensor.bytes);
    header[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data starts at a multiple of eight bytes
  std::string out(8, '\0');
  const uint64_t length = text.size();
  std::memcpy(&out[0], &length, 8);
  return absl::StrCat(out, text, data);
}

}  // namespace cobra

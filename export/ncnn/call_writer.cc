#include "export/ncnn/call_writer.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "export/weights.h"

namespace cobra::exporting::ncnn {

Ints BlobOf(const Shape& shape) {
  if (shape.empty()) return {1};
  const bool has_batch = shape.size() > 1 && shape[0] == 1;
  Ints dims(shape.begin() + (has_batch ? 1 : 0), shape.end());
  if (dims.size() > 4) dims.clear();
  return dims;
}

Axis AxisOf(const Shape& shape, int64_t dim) {
  const Ints rule = BlobOf(shape);
  const int64_t dropped = static_cast<int64_t>(shape.size() - rule.size());
  if (!rule.empty() && (shape.empty() || dim >= dropped)) return {rule, shape.empty() ? 0 : dim - dropped};
  Axis joined{{1, shape[static_cast<size_t>(dim)], 1}, 1};
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d != dim) joined.dims[d < dim ? 0 : 2] *= shape[static_cast<size_t>(d)];
  }
  if (joined.dims[0] == 1) joined = {{joined.dims[1], joined.dims[2]}, 0};
  return joined;
}

int64_t Product(const Ints& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<int64_t>());
}

std::string Floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string Repeated(float value, int64_t count) {
  return Floats(std::vector<float>(static_cast<size_t>(count), value));
}

Ints CallWriter::Dims(absl::string_view name, int rank) const {
  Ints dims = IntList(name);
  for (int64_t& dim : dims) dim += dim < 0 ? rank : 0;
  if (dims.empty()) {
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

std::string CallWriter::Numbers(size_t i) const {
  const Constant& constant = network_->constants.at(inputs_[i]);
  if (constant.type.dtype == DType::float32) return constant.bytes;
  return BytesOf(DType::float32, ValuesOf(constant.type.dtype, constant.bytes));
}

std::string CallWriter::In(size_t i) {
  if (!IsConstant(i)) return inputs_[i];
  Ints dims = BlobOf(ShapeOf(i));
  if (dims.empty()) dims = {Type(i).num_elements()};
  return In(i, dims);
}

std::string CallWriter::In(size_t i, const Ints& dims) {
  if (!IsConstant(i)) return Reshaped(inputs_[i], dims);
  std::string& blob = network_->written[{inputs_[i], dims}];
  if (blob.empty()) blob = Data(dims, Numbers(i));
  return blob;
}

std::string CallWriter::AsRule(size_t i) {
  const Ints dims = BlobOf(ShapeOf(i));
  return dims.empty() ? In(i) : In(i, dims);
}

absl::Status CallWriter::NeedConstant(size_t i, absl::string_view what) const {
  if (!Has(i) || IsConstant(i)) return absl::OkStatus();
  return Refused(what, " that the network computes");
}

std::string CallWriter::Layer(absl::string_view type, const Names& inputs, const Ints& dims, Params params,
                              Arrays arrays) {
  return network_->file.Add(type, LayerName(type), inputs, {dims}, std::move(params), std::move(arrays))[0];
}

Names CallWriter::Layers(absl::string_view type, const Names& inputs, const std::vector<Ints>& dims, Params params) {
  return network_->file.Add(type, LayerName(type), inputs, dims, std::move(params), {});
}

std::string CallWriter::Map(absl::string_view type, const std::string& x, Params params, Arrays arrays) {
  return Layer(type, {x}, DimsOf(x), std::move(params), std::move(arrays));
}

std::string CallWriter::Reshaped(const std::string& x, const Ints& dims) {
  if (DimsOf(x) == dims) return x;
  return Layer("Reshape", {x}, dims, SizesOf(dims));
}

std::string CallWriter::Permuted(const std::string& x, const Ints& order) {
  // The order types of ncnn, each as the result's dimensions in terms of the input's.
  static const std::vector<Ints>* const kOrders[] = {
      new std::vector<Ints>{{0}}, new std::vector<Ints>{{0, 1}, {1, 0}},
      new std::vector<Ints>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
      new std::vector<Ints>{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1},
                            {1, 0, 2, 3}, {1, 0, 3, 2}, {1, 2, 0, 3}, {1, 2, 3, 0}, {1, 3, 0, 2}, {1, 3, 2, 0},
                            {2, 0, 1, 3}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 1, 3, 0}, {2, 3, 0, 1}, {2, 3, 1, 0},
                            {3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 1, 2, 0}, {3, 2, 0, 1}, {3, 2, 1, 0}}};
  const std::vector<Ints>& orders = *kOrders[order.size() - 1];
  const int64_t type = std::find(orders.begin(), orders.end(), order) - orders.begin();
  if (type == 0) return x;
  Ints dims;
  for (const int64_t d : order) dims.push_back(DimsOf(x)[static_cast<size_t>(d)]);
  return Layer("Permute", {x}, dims, {{0, type}});
}

std::string CallWriter::WithNumber(int64_t type, const std::string& x, double number) {
  return Map("BinaryOp", x, {{0, type}, {1, int64_t{1}}, {2, number}});
}

std::string CallWriter::WithBlob(int64_t type, const std::string& a, const std::string& b) {
  Ints dims = DimsOf(a);
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = dims[i] == 1 ? DimsOf(b)[i] : dims[i];
  return Layer("BinaryOp", {a, b}, dims, {{0, type}});
}

std::string CallWriter::Data(const Ints& dims, std::string bytes) {
  Params params = SizesOf(dims);
  return Layer("MemoryData", {}, dims, std::move(params), {{std::move(bytes)}});
}

}  // namespace cobra::exporting::ncnn

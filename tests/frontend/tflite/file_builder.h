// Writes TensorFlow Lite files, as a converter would: tensors, buffers, operator codes, operators
// in order. For tests.
#ifndef COBRA_TESTS_FRONTEND_TFLITE_FILE_BUILDER_H_
#define COBRA_TESTS_FRONTEND_TFLITE_FILE_BUILDER_H_

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tflite/schema_generated.h"

namespace cobra::tflite {

namespace schema = tflite_schema;

class TfliteFileBuilder {
 public:
  // `quantized`: activations and weights are int8 with scales, biases int32.
  explicit TfliteFileBuilder(bool quantized = false, uint64_t seed = 1) : quantized_(quantized), random_(seed) {
    model_.version = 3;
    model_.description = "test";
    model_.buffers.push_back(std::make_unique<schema::BufferT>());  // number 0 is empty
    model_.subgraphs.push_back(std::make_unique<schema::SubGraphT>());
  }

  int Activation(std::vector<int> shape) {
    return Tensor(shape, quantized_ ? schema::TensorType_INT8 : schema::TensorType_FLOAT32, 0.05f);
  }
  int Input(std::vector<int> shape) {
    const int tensor = Activation(std::move(shape));
    net().inputs.push_back(tensor);
    return tensor;
  }
  void Output(int tensor) { net().outputs.push_back(tensor); }
  // Random weights, small enough that a deep network neither grows nor vanishes.
  int Weights(std::vector<int> shape, float bound = 0.3f) {
    size_t n = 1;
    for (int d : shape) n *= static_cast<size_t>(d);
    if (quantized_) {
      std::vector<int8_t> data(n);
      for (int8_t& v : data) v = static_cast<int8_t>(random_() % 255 - 127);
      return Constant(shape, schema::TensorType_INT8, data, 0.01f);
    }
    std::vector<float> data(n);
    std::uniform_real_distribution<float> uniform(-bound, bound);
    for (float& v : data) v = uniform(random_);
    return Constant(shape, schema::TensorType_FLOAT32, data);
  }
  int Bias(int n) {
    if (!quantized_) return Weights({n});
    return Constant({n}, schema::TensorType_INT32, std::vector<int32_t>(static_cast<size_t>(n), 3), 0.0005f);
  }
  int Ints(std::vector<int32_t> values) {
    const int n = static_cast<int>(values.size());
    return Constant({n}, schema::TensorType_INT32, values);
  }
  int Scalar(int32_t value) { return Constant({}, schema::TensorType_INT32, std::vector<int32_t>{value}); }
  template <typename T>
  int Constant(std::vector<int> shape, schema::TensorType type, const std::vector<T>& values, float scale = 0) {
    const int tensor = Tensor(std::move(shape), type, scale);
    auto buffer = std::make_unique<schema::BufferT>();
    buffer->data.resize(values.size() * sizeof(T));
    std::memcpy(buffer->data.data(), values.data(), buffer->data.size());
    net().tensors[tensor]->buffer = static_cast<uint32_t>(model_.buffers.size());
    model_.buffers.push_back(std::move(buffer));
    return tensor;
  }
  int Tensor(std::vector<int> shape, schema::TensorType type, float scale = 0) {
    auto tensor = std::make_unique<schema::TensorT>();
    tensor->shape = std::move(shape);
    tensor->type = type;
    tensor->name = "t" + std::to_string(net().tensors.size());
    if (scale > 0 && type != schema::TensorType_FLOAT32) {
      tensor->quantization = std::make_unique<schema::QuantizationParametersT>();
      tensor->quantization->scale = {scale};
      tensor->quantization->zero_point = {0};
    }
    net().tensors.push_back(std::move(tensor));
    return static_cast<int>(net().tensors.size()) - 1;
  }

  // Options without fields, and custom codes, are left out.
  template <typename Options>
  void Add(schema::BuiltinOperator code, std::vector<int> inputs, std::vector<int> outputs, Options options) {
    AddPlain(code, std::move(inputs), std::move(outputs));
    net().operators.back()->builtin_options.Set(std::move(options));
  }
  void AddPlain(schema::BuiltinOperator code, std::vector<int> inputs, std::vector<int> outputs) {
    auto op = std::make_unique<schema::OperatorT>();
    op->opcode_index = CodeIndex(code);
    op->inputs = std::move(inputs);
    op->outputs = std::move(outputs);
    net().operators.push_back(std::move(op));
  }

  schema::ModelT& model() { return model_; }
  schema::SubGraphT& net() { return *model_.subgraphs[0]; }
  const std::vector<int>& ShapeOf(int tensor) { return net().tensors[tensor]->shape; }

  std::string Finish() const {
    flatbuffers::FlatBufferBuilder builder;
    schema::FinishModelBuffer(builder, schema::Model::Pack(builder, &model_));
    return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  }

 private:
  uint32_t CodeIndex(schema::BuiltinOperator code) {
    for (size_t i = 0; i < model_.operator_codes.size(); ++i) {
      if (model_.operator_codes[i]->builtin_code == code) return static_cast<uint32_t>(i);
    }
    auto entry = std::make_unique<schema::OperatorCodeT>();
    entry->builtin_code = code;
    entry->deprecated_builtin_code = static_cast<int8_t>(code < 127 ? code : 127);
    model_.operator_codes.push_back(std::move(entry));
    return static_cast<uint32_t>(model_.operator_codes.size()) - 1;
  }

  bool quantized_;
  std::mt19937_64 random_;
  schema::ModelT model_;
};

}  // namespace cobra::tflite

#endif  // COBRA_TESTS_FRONTEND_TFLITE_FILE_BUILDER_H_

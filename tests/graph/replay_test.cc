// Every recorded call of real PyTorch (tests/frontend/python/torch/goldens, made by make_goldens.py
// there) through the builder: our shape rules must give the shapes that PyTorch gave, our costs its
// multiply-accumulates, and the JSON form must survive a round trip.
#include <map>

#include "base/file/file.h"
#include "graph/builder/builder.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::graph {
namespace {

using Json = nlohmann::ordered_json;

class Replay {
 public:
  explicit Replay(const Json& golden) : golden_(golden) {}

  Graph Run() {
    for (const Json& input : golden_["inputs"])
      builder_.AddInput("x", Type(input["shape"], input.value("dtype", "float32")));
    for (const Json& record : golden_["ops"]) {
      refs_.push_back(Record(record));
      if (::testing::Test::HasFailure()) break;
    }
    return std::move(builder_).Build(refs_.empty() ? std::vector<ValueRef>() : std::vector<ValueRef>{refs_.back()[0]});
  }

 private:
  static TensorType Type(const Json& shape, const std::string& dtype) {
    TensorType type;
    for (const Json& d : shape) type.shape.push_back(d.get<int64_t>());
    type.dtype = *DTypeFromName(dtype);
    return type;
  }

  TensorType Output(const Json& record, size_t i) const {
    return Type(record["out"][i], record.contains("dtype") ? record["dtype"][i].get<std::string>() : "float32");
  }

  // The running statistics of batch norm have no shape in the recording: as many elements as the
  // weight.
  ValueRef Source(const Json& source, const Json& record) {
    if (source.is_number_integer()) return refs_[source.get<size_t>()][0];
    if (source.is_array()) return refs_[source[0].get<size_t>()][source[1].get<size_t>()];
    const std::string text = source.get<std::string>();
    if (text.rfind("in:", 0) == 0) return ValueRef::Input(std::stoi(text.substr(3)));
    const auto it = leaves_.find(text);
    if (it != leaves_.end()) return it->second;
    const std::string name = text.substr(2);
    if (text[0] == 'p')
      return leaves_[text] = builder_.AddParameter(name, Type(golden_["param_shapes"][name], "float32"));
    if (golden_["buffer_shapes"].contains(name)) {
      const std::string dtype =
          golden_.contains("buffer_dtypes") ? golden_["buffer_dtypes"].value(name, "float32") : "float32";
      return leaves_[text] = builder_.AddBuffer(name, Type(golden_["buffer_shapes"][name], dtype));
    }
    return leaves_[text] = builder_.AddBuffer(name, {{record["out"][0][1].get<int64_t>()}, DType::float32});
  }

  static AttributeValue Attribute(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string() && (value == "inf" || value == "-inf")) return value == "inf" ? INFINITY : -INFINITY;
    if (value.is_string()) return value.get<std::string>();
    bool integers = true;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    for (const Json& e : value) {
      integers = integers && e.is_number_integer();
      doubles.push_back(e.get<double>());
      ints.push_back(static_cast<int64_t>(doubles.back()));
    }
    if (integers) return ints;
    return doubles;
  }

  std::vector<ValueRef> Record(const Json& record) {
    const std::string name = record["op"];
    const std::string kind = record.value("kind", "");
    const std::optional<Op> op = OpFromName(name);
    std::vector<ValueRef> outputs;
    if (kind == "create" || kind == "const") {
      for (size_t i = 0; i < record["out"].size(); ++i)
        outputs.push_back(builder_.AddConstant(name, Output(record, i)));
      return outputs;
    }
    EXPECT_TRUE(op.has_value()) << name;
    if (!op) return {ValueRef::None()};
    const OpInfo& info = GetOpInfo(*op);
    ValueRefs inputs;
    for (const auto& [argument, source] : record["src"].items()) {
      size_t slot = 0;
      while (slot < info.inputs.size() && info.inputs[slot].name != argument) ++slot;
      // Two numbers are one source, except in an argument that is a list of tensors.
      const bool takes_list = argument == "hx" || (slot < info.inputs.size() && info.inputs[slot].variadic);
      const bool pair =
          source.is_array() && source.size() == 2 && source[0].is_number_integer() && source[1].is_number_integer();
      const bool list = source.is_array() && (takes_list || !pair);
      if (slot < info.inputs.size() && !info.inputs[slot].variadic && !list)
        inputs.resize(std::max(inputs.size(), slot));
      if (list) {
        for (const Json& s : source) inputs.push_back(Source(s, record));
      } else {
        inputs.push_back(Source(source, record));
      }
    }
    Attributes attributes;
    for (const auto& [key, value] : record["args"].items()) attributes.Set(key, Attribute(value));
    const auto node = builder_.Add(*op, attributes, inputs, {}, record.value("inplace", false));
    EXPECT_TRUE(node.ok()) << record.dump() << "\n" << node.status();
    if (!node.ok()) return {ValueRef::None()};
    const TensorTypes& types = builder_.nodes()[*node].outputs;
    EXPECT_EQ(types.size(), record["out"].size()) << record.dump();
    for (size_t i = 0; i < types.size() && i < record["out"].size(); ++i) {
      EXPECT_EQ(TypeText(types[i]), TypeText(Output(record, i))) << record.dump();
      outputs.push_back(ValueRef::Node(*node, static_cast<int32_t>(i)));
    }
    return outputs;
  }

  const Json& golden_;
  GraphBuilder builder_;
  std::vector<std::vector<ValueRef>> refs_;
  std::map<std::string, ValueRef> leaves_;
};

void ReplayAll(const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> files = ListFiles(folder, ".json.gz");
  ASSERT_TRUE(files.ok()) << files.status();
  for (const std::string& file : *files) {
    SCOPED_TRACE(file);
    const Json golden = Json::parse(ReadMaybeCompressed(folder + "/" + file).value());
    const Graph graph = Replay(golden).Run();
    ASSERT_FALSE(::testing::Test::HasFailure());
    EXPECT_EQ(CostOf(graph).macs, golden["macs"].get<int64_t>());
    const absl::StatusOr<Graph> back = GraphFromJson(GraphToJson(graph));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(Fingerprint(*back), Fingerprint(graph));
  }
}

TEST(ReplayTest, GoldensOfThisRepository) { ReplayAll(COBRA_SOURCE_DIR "/tests/frontend/python/torch/goldens"); }

TEST(ReplayTest, SharedCorpus) {
  const std::string corpus = COBRA_SOURCE_DIR "/../shared/corpus/torchvision/truth";
  if (!IsDirectory(corpus)) GTEST_SKIP() << "no shared corpus here";
  ReplayAll(corpus);
}

}  // namespace
}  // namespace cobra::graph

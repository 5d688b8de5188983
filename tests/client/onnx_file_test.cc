#include "client/input/onnx_file.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

class OnnxFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_.File("net/parts"));
    const int64_t values[] = {7, 8, 9};
    const std::string bytes(reinterpret_cast<const char*>(values), sizeof(values));
    for (const char* name : {"net/w.data", "net/parts/w.data", "outside.data"})
      EXPECT_TRUE(WriteFileAtomic(directory_.File(name), bytes).ok());
    std::filesystem::create_symlink(directory_.File("outside.data"), directory_.File("net/link.data"));
    std::filesystem::create_symlink("w.data", directory_.File("net/inside.data"));
  }
  // The bytes of a tensor of two numbers that the model says are in `location`; empty: they were
  // not read.
  absl::StatusOr<std::string> BytesFrom(const std::string& location, const std::string& offset = "8") {
    ::onnx::ModelProto model;
    model.mutable_graph()->set_name("g");
    ::onnx::TensorProto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("shape");
    tensor->set_data_type(::onnx::TensorProto::INT64);
    tensor->add_dims(2);
    tensor->set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location}, {"offset", offset}}) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    EXPECT_TRUE(WriteFileAtomic(directory_.File("net/net.onnx"), model.SerializeAsString()).ok());
    absl::StatusOr<std::string> bytes = ReadOnnxFile(directory_.File("net/net.onnx"), limits_);
    if (!bytes.ok()) return bytes.status();
    ::onnx::ModelProto read;
    EXPECT_TRUE(read.ParseFromString(*bytes));
    return read.graph().initializer(0).raw_data();
  }
  std::string Expected() const {
    const int64_t values[] = {8, 9};
    return std::string(reinterpret_cast<const char*>(values), sizeof(values));
  }
  tests::TemporaryDirectory directory_;
  Limits limits_;
};

TEST_F(OnnxFileTest, SmallTensorsOfTheFolderAreRead) {
  for (const char* location : {"w.data", "./w.data", "parts/w.data", "inside.data"})
    EXPECT_EQ(*BytesFrom(location), Expected()) << location;
}

TEST_F(OnnxFileTest, NothingOutsideOfTheFolderIsRead) {
  for (const std::string& location :
       {std::string("../outside.data"), directory_.File("outside.data"), std::string("link.data"),
        std::string("parts/../../outside.data"), std::string("missing.data"), std::string("parts"), std::string()})
    EXPECT_EQ(*BytesFrom(location), "") << location;
}

TEST_F(OnnxFileTest, WhatIsNotInTheFileIsAnError) {
  for (const char* offset : {"9", "25", "9223372036854775807", "-1", "x"}) {
    const absl::StatusOr<std::string> bytes = BytesFrom("w.data", offset);
    ASSERT_FALSE(bytes.ok()) << offset;
    EXPECT_EQ(DiagnosticFromStatus(bytes.status()).value_or(Diagnostic()).kind, Diagnostic::Kind::kModelError);
  }
}

TEST_F(OnnxFileTest, BytesOfOtherFilesAtTheLimitAndOnePast) {
  limits_.onnx.max_const_bytes = 16;
  EXPECT_TRUE(BytesFrom("w.data").ok());
  limits_.onnx.max_const_bytes = 15;
  EXPECT_EQ(DiagnosticFromStatus(BytesFrom("w.data").status()).value_or(Diagnostic()).kind, Diagnostic::Kind::kLimit);
}

}  // namespace
}  // namespace cobra::client

#include "server/rpc/reflection.h"

#include <string>
#include <vector>

#include "base/bytes/wire_format.h"
#include "cobra/v1/cobra.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A ServerReflectionRequest with one text.
std::string Request(int field, absl::string_view text) {
  WireWriter writer(64);
  writer.Text(field, text);
  return std::string(writer.bytes());
}

// The first field of the number; "" if there is none.
std::string FieldOf(absl::string_view message, int number) {
  WireField field;
  while (!message.empty() && NextWireField(&message, &field)) {
    if (field.number == number) return std::string(field.bytes);
  }
  return "";
}

std::vector<std::string> FileNames(absl::string_view response) {
  const std::string files = FieldOf(response, 4);
  std::vector<std::string> names;
  WireField field;
  for (absl::string_view rest = files; !rest.empty() && NextWireField(&rest, &field);) {
    google::protobuf::FileDescriptorProto file;
    EXPECT_TRUE(file.ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size())));
    names.push_back(file.name());
  }
  return names;
}

TEST(ReflectionTest, AFileComesWithWhatItImports) {
  EXPECT_THAT(FileNames(Reflection::Answer(Request(3, "cobra/v1/graph.proto"))), ElementsAre("cobra/v1/graph.proto"));
  const std::vector<std::string> names = FileNames(Reflection::Answer(Request(4, "cobra.v1.Cobra")));
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names[0], v1::PredictRequest::descriptor()->file()->name());
  EXPECT_THAT(names, testing::Contains("cobra/v1/graph.proto"));
}

TEST(ReflectionTest, ServicesAreListed) {
  const std::string services = FieldOf(Reflection::Answer(Request(7, "*")), 6);
  for (const char* name : {"cobra.v1.Admin", "cobra.v1.Cobra", "cobra.v1.Measurements", "grpc.health.v1.Health"})
    EXPECT_THAT(services, HasSubstr(name));
}

TEST(ReflectionTest, WhatIsNotThereIsNotFound) {
  for (const int field : {3, 4, 6}) {
    const std::string answer = Reflection::Answer(Request(field, "nothing"));
    EXPECT_THAT(FieldOf(answer, 7), HasSubstr("nothing: is not part of this API"));
    EXPECT_EQ(FieldOf(answer, 2), Request(field, "nothing"));
  }
  EXPECT_THAT(FieldOf(Reflection::Answer(""), 7), HasSubstr("asks for nothing"));
  EXPECT_THAT(Reflection::Answer("\x22\x7f"), IsEmpty());
}

}  // namespace
}  // namespace cobra::server

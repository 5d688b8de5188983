// The table of RPCs and the .proto files name the same.
#include "server/lanes/rpcs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Row(absl::string_view service, absl::string_view method, bool streams_requests, bool streams_replies) {
  return absl::StrCat(service, ".", method, streams_requests ? " takes a stream" : "",
                      streams_replies ? " streams" : "");
}

std::set<std::string> TableRows() {
  std::set<std::string> rows;
  for (const RpcInfo& rpc : kRpcs) {
    rows.insert(Row(rpc.service, rpc.method, rpc.kind == RpcKind::kBidirectional, rpc.kind != RpcKind::kUnary));
  }
  return rows;
}

// Of all services in the .proto files below `root`.
std::set<std::string> ProtoRows(const std::string& root) {
  tests::TemporaryDirectory out;
  std::vector<std::string> command = {"protoc", "-I", root, "--descriptor_set_out=" + out.File("set")};
  const absl::StatusOr<std::vector<std::string>> files = ListFiles(root, ".proto");
  EXPECT_TRUE(files.ok()) << files.status();
  command.insert(command.end(), files->begin(), files->end());
  const absl::StatusOr<std::string> run = RunProgram(command);
  EXPECT_TRUE(run.ok()) << run.status();
  google::protobuf::FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromString(ReadFile(out.File("set")).value()));
  std::set<std::string> rows;
  for (const auto& file : set.file()) {
    for (const auto& service : file.service()) {
      for (const auto& method : service.method()) {
        EXPECT_TRUE(method.server_streaming() || !method.client_streaming())
            << method.name() << ": RpcKind has no such RPC";
        rows.insert(Row(absl::StrCat(file.package(), ".", service.name()), method.name(), method.client_streaming(),
                        method.server_streaming()));
      }
    }
  }
  return rows;
}

std::vector<std::string> Differences(const std::string& root) {
  const std::set<std::string> table = TableRows(), proto = ProtoRows(root);
  std::vector<std::string> rows;
  std::set_symmetric_difference(table.begin(), table.end(), proto.begin(), proto.end(), std::back_inserter(rows));
  return rows;
}

std::string ProtoRoot() { return std::string(COBRA_SOURCE_DIR) + "/proto"; }

// A copy of the .proto files in which `from`, which stands in `file` once, is `to`.
void Plant(const std::string& root, const std::string& file, const std::string& from, const std::string& to) {
  std::filesystem::copy(ProtoRoot(), root, std::filesystem::copy_options::recursive);
  const std::string text = ReadFile(root + "/" + file).value();
  ASSERT_TRUE(absl::StrContains(text, from));
  ASSERT_TRUE(WriteFileAtomic(root + "/" + file, absl::StrReplaceAll(text, {{from, to}})).ok());
}

TEST(RpcsTest, TheTableIsWhatTheProtoFilesHave) {
  EXPECT_THAT(Differences(ProtoRoot()), IsEmpty());
  EXPECT_EQ(TableRows().size(), std::size(kRpcs));
}

TEST(RpcsTest, RowsAreInTheOrderOfTheEnumerators) {
  for (size_t i = 0; i < std::size(kRpcs); ++i) EXPECT_EQ(static_cast<size_t>(kRpcs[i].rpc), i);
  EXPECT_STREQ(MethodName(Rpc::kWatch), "Watch");
}

TEST(RpcsTest, NothingThatWaitsForTheDatabaseSharesTheThreadsOfPredictions) {
  for (const RpcInfo& rpc : kRpcs)
    EXPECT_EQ(rpc.lane == Lane::kPredictions, rpc.rpc == Rpc::kPredict || rpc.rpc == Rpc::kPredictBatch ||
                                                  rpc.rpc == Rpc::kPredictStream || rpc.rpc == Rpc::kSuggestSamples)
        << rpc.method;
}

// A client asks which targets there are before it predicts, and a fit takes up to half a minute.
TEST(RpcsTest, NothingThatFitsTargetsSharesTheThreadsOfOthers) {
  for (const RpcInfo& rpc : kRpcs)
    EXPECT_EQ(rpc.lane == Lane::kFits, rpc.rpc == Rpc::kCalibrate || rpc.rpc == Rpc::kUndoCalibration ||
                                           rpc.rpc == Rpc::kAdapt || rpc.rpc == Rpc::kObserve ||
                                           rpc.rpc == Rpc::kReloadModel)
        << rpc.method;
}

TEST(RpcsTest, AnRpcWithoutARowIsFound) {
  tests::TemporaryDirectory root;
  Plant(root.File("proto"), "cobra/v1/cobra.proto", "  rpc ListTargets(",
        "  rpc Forget(PredictRequest) returns (PredictResponse);\n  rpc ListTargets(");
  EXPECT_THAT(Differences(root.File("proto")), ElementsAre("cobra.v1.Cobra.Forget"));
}

TEST(RpcsTest, AServiceWithoutARowIsFound) {
  tests::TemporaryDirectory root;
  Plant(root.File("proto"), "cobra/v1/target.proto", "package cobra.v1;",
        "package cobra.v1;\nmessage Nothing {}\nservice Other {\n  rpc Ask(Nothing) returns (Nothing);\n}");
  EXPECT_THAT(Differences(root.File("proto")), ElementsAre("cobra.v1.Other.Ask"));
}

TEST(RpcsTest, AStreamThatTheTableCallsUnaryIsFound) {
  tests::TemporaryDirectory root;
  Plant(root.File("proto"), "cobra/v1/measurements.proto", "returns (CancelResponse)",
        "returns (stream CancelResponse)");
  EXPECT_THAT(Differences(root.File("proto")),
              ElementsAre("cobra.v1.Measurements.Cancel", "cobra.v1.Measurements.Cancel streams"));
}

}  // namespace
}  // namespace cobra::server

#include "worker/queue/spool.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::worker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 32 digits.
std::string Id(char digit) { return std::string(32, digit); }

class SpoolTest : public ::testing::Test {
 protected:
  Spool Open(const std::string& worker = "") {
    absl::StatusOr<Spool> spool = Spool::Open(folder_, worker);
    EXPECT_TRUE(spool.ok()) << spool.status();
    return *std::move(spool);
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder_ + "/" + name, text).ok()) << name;
  }
  std::vector<std::string> Names(const std::string& part) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ + "/" + part)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::string> TodoIds(const Spool& spool) const {
    std::vector<std::string> ids;
    const auto todo = spool.Todo();
    EXPECT_TRUE(todo.ok()) << todo.status();
    for (const SpooledTask& task : *todo) ids.push_back(task.id);
    return ids;
  }

  tests::TemporaryDirectory directory_;
  const std::string folder_ = directory_.File("spool");
};

TEST_F(SpoolTest, WhatIsWrittenIsRead) {
  Spool spool = Open("w");
  ASSERT_TRUE(spool.AddTodo(Id('a'), R"({"sample":{}})").ok());
  ASSERT_TRUE(spool.AddTodo(Id('b'), "{}").ok());
  ASSERT_TRUE(spool.AddTodo(Id('a'), "{}").ok());  // it arrived twice
  EXPECT_THAT(TodoIds(spool), ElementsAre(Id('a'), Id('b')));
  const SpooledTask first = (*spool.Todo())[0];
  EXPECT_EQ(*spool.ReadTodo(first), R"({"sample":{}})");
  ASSERT_TRUE(spool.Finish(first, {R"({"outcome":"ok"})", R"({"session":"s"})"}).ok());
  EXPECT_THAT(TodoIds(spool), ElementsAre(Id('b')));
  EXPECT_THAT(*spool.Done(), ElementsAre(Id('a')));
  const auto finished = spool.ReadDone(Id('a'));
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->record_json, R"({"outcome":"ok"})");
  EXPECT_EQ(finished->session_json, R"({"session":"s"})");
  ASSERT_TRUE(spool.DropDone(Id('a')).ok());
  EXPECT_TRUE(absl::IsNotFound(spool.ReadDone(Id('a')).status()));
}

TEST_F(SpoolTest, ItKeepsItsName) {
  const std::string name = Open().worker_id();
  EXPECT_EQ(Open().worker_id(), name);
  EXPECT_EQ(Open("w").worker_id(), "w");  // nothing is in it
  EXPECT_EQ(Open().worker_id(), "w");
  EXPECT_TRUE(absl::IsInvalidArgument(Spool::Open(folder_, "a b").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Spool::Open(folder_, std::string(201, 'a')).status()));
  EXPECT_EQ(Open().worker_id(), "w");
}

TEST_F(SpoolTest, AnotherNameDoesNotGetItsTasks) {
  Spool spool = Open("old");
  ASSERT_TRUE(spool.AddDone(Id('a'), {"{}", ""}).ok());
  const absl::Status refused = Spool::Open(folder_, "new").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr("--worker new"), HasSubstr("worker old"),
                                                    HasSubstr("--worker old"), HasSubstr("--spool")));
  EXPECT_EQ(Open().worker_id(), "old");
  EXPECT_EQ(Open("old").worker_id(), "old");
  EXPECT_THAT(*spool.Done(), ElementsAre(Id('a')));
  ASSERT_TRUE(spool.DropDone(Id('a')).ok());
  ASSERT_TRUE(spool.AddTodo(Id('b'), "{}").ok());
  EXPECT_FALSE(Spool::Open(folder_, "new").ok());
}

TEST_F(SpoolTest, WhatDoesNotBelongThereStopsNothing) {
  Spool spool = Open("w");
  ASSERT_TRUE(spool.AddTodo(Id('a'), "{}").ok());
  ASSERT_TRUE(spool.AddDone(Id('b'), {"{}", ""}).ok());
  for (const std::string part : {"todo", "done"}) {
    Write(part + "/garbage.json", "{}");
    fs::create_directories(folder_ + "/" + part + "/" + Id('c') + ".json/below");
    fs::create_symlink("/dev/zero", folder_ + "/" + part + "/" + Id('d') + ".json");
    Write(part + "/" + Id('e') + ".tmp", "{");  // being written
    fs::create_directories(folder_ + "/" + part + "/folder");
  }
  EXPECT_THAT(*spool.Done(), ElementsAre(Id('b')));
  EXPECT_THAT(TodoIds(spool), ElementsAre(Id('a')));
  EXPECT_THAT(Names("rejected"),
              ElementsAre("done-" + Id('c') + ".json", "done-" + Id('d') + ".json", "done-garbage.json",
                          "todo-" + Id('c') + ".json", "todo-" + Id('d') + ".json", "todo-garbage.json"));
}

// Every way in which a file that was a record may be cut off, and some others.
TEST_F(SpoolTest, ADamagedRecordIsSaidToBeOne) {
  Spool spool = Open("w");
  ASSERT_TRUE(spool.AddDone(Id('a'), {R"({"outcome":"ok"})", R"({"session":"s"})"}).ok());
  const std::string name = absl::StrCat("done/", Id('a'), ".json");
  const std::string whole = *ReadFile(folder_ + "/" + name);
  std::vector<std::string> texts = {"{}", "[]", "null", R"({"record":1,"session":{}})", std::string(5, '\0')};
  for (size_t size = 0; size < whole.size(); ++size) texts.push_back(whole.substr(0, size));
  for (const std::string& text : texts) {
    Write(name, text);
    EXPECT_TRUE(absl::IsDataLoss(spool.ReadDone(Id('a')).status())) << text;
  }
  fs::resize_file(folder_ + "/" + name, Spool::kMaxFileBytes + 1);
  EXPECT_TRUE(absl::IsDataLoss(spool.ReadDone(Id('a')).status()));
  ASSERT_TRUE(spool.RejectDone(Id('a'), "is damaged").ok());
  ASSERT_TRUE(spool.RejectDone(Id('a'), "is damaged").ok());  // the other process was first
  EXPECT_THAT(*spool.Done(), IsEmpty());
  EXPECT_THAT(Names("rejected"), IsEmpty());  // larger than all that is kept there
}

// Whatever an earlier worker has written there: it is checked, and not written anew.
TEST_F(SpoolTest, ARecordIsHandedOnAsItWasWritten) {
  Spool spool = Open("w");
  const std::string record = R"({ "outcome" : "ok", "latency_us" : 1.50, "record" : { "}" : "\"" } })";
  ASSERT_TRUE(spool.AddDone(Id('a'), {record, ""}).ok());
  const absl::StatusOr<FinishedTask> finished = spool.ReadDone(Id('a'));
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->record_json, record);
  EXPECT_EQ(finished->session_json, "");
}

TEST_F(SpoolTest, AnUnusableNameIsReplaced) {
  Open("w");
  for (const std::string& text :
       {std::string(), std::string("a b"), std::string(1 << 20, 'x'), std::string("a\0b", 3)}) {
    Write("worker-id", text);
    EXPECT_THAT(Open().worker_id(), AllOf(testing::Ne("w"), testing::Not(IsEmpty())));
  }
  fs::remove(folder_ + "/worker-id");
  fs::create_directory(folder_ + "/worker-id");
  const std::string name = Open().worker_id();
  EXPECT_EQ(Open().worker_id(), name);
}

// The beginning of a name may be another worker's name, whose tasks would be taken.
TEST_F(SpoolTest, ANameThatIsCutOffIsNotUsed) {
  Open("worker-12");
  const std::string whole = *ReadFile(folder_ + "/worker-id");
  EXPECT_EQ(whole, "worker-12\n");
  for (size_t size = 0; size < whole.size(); ++size) {
    Write("worker-id", whole.substr(0, size));
    EXPECT_EQ(Open().worker_id().find("worker-1"), std::string::npos) << size;
    Write("worker-id", whole.substr(0, size));
    Spool spool = Open("worker-12");  // who knows the name goes on
    ASSERT_TRUE(spool.AddDone(Id('a'), {"{}", ""}).ok());
    EXPECT_EQ(Open().worker_id(), "worker-12");
    Write("worker-id", whole.substr(0, std::max<size_t>(size, 1)));
    EXPECT_FALSE(Spool::Open(folder_, "other").ok()) << size;
    Write("worker-id", whole);
    ASSERT_TRUE(spool.DropDone(Id('a')).ok());
  }
  Write("worker-id", "host-0123456789abcdef");  // as Open() wrote it before
  EXPECT_EQ(Open().worker_id(), "host-0123456789abcdef");
}

TEST_F(SpoolTest, RejectedFilesAreBoundedInBytes) {
  Spool spool = Open("w");
  constexpr int64_t kBytes = Spool::kMaxRejectedBytes / 4;
  for (const char digit : {'1', '2', '3', '4', '5', '6'}) {
    ASSERT_TRUE(spool.AddDone(Id(digit), {"{}", ""}).ok());
    fs::resize_file(absl::StrCat(folder_, "/done/", Id(digit), ".json"), kBytes);
    ASSERT_TRUE(spool.RejectDone(Id(digit), "too large").ok());
  }
  EXPECT_THAT(Names("rejected"), ElementsAre("done-" + Id('3') + ".json", "done-" + Id('4') + ".json",
                                             "done-" + Id('5') + ".json", "done-" + Id('6') + ".json"));
}

TEST_F(SpoolTest, OnlyWhatIsBeingMeasuredIsStarted) {
  Spool spool = Open("w");
  spool.MarkStarted(Id('a'));
  spool.MarkStarted(Id('b'));  // of the same group: the first one has been measured
  EXPECT_THAT(*spool.Started(), ElementsAre(Id('b')));
  ASSERT_TRUE(spool.ClearStarted().ok());
  EXPECT_THAT(*spool.Started(), IsEmpty());
  EXPECT_EQ(spool.Interruptions(Id('b')), 0);
}

TEST_F(SpoolTest, WhatHasEndedIsNotStarted) {
  Spool spool = Open("w");
  spool.MarkStarted(Id('a'));
  spool.MarkEnded(Id('b'));
  EXPECT_THAT(*spool.Started(), ElementsAre(Id('a')));
  spool.MarkEnded(Id('a'));
  EXPECT_THAT(*spool.Started(), IsEmpty());
  ASSERT_TRUE(spool.NoteInterrupted().ok());
  EXPECT_EQ(spool.Interruptions(Id('a')), 0);
}

// As after a crash between the two halves of Finish().
TEST_F(SpoolTest, WhatIsReportedIsNotMeasuredAgain) {
  Spool spool = Open("w");
  for (const char digit : {'a', 'b'}) ASSERT_TRUE(spool.AddTodo(Id(digit), "{}").ok());
  ASSERT_TRUE(spool.AddDone(Id('a'), {"{}", ""}).ok());
  EXPECT_THAT(TodoIds(spool), ElementsAre(Id('b')));
  ASSERT_TRUE(spool.DropDone(Id('a')).ok());
  EXPECT_THAT(TodoIds(spool), ElementsAre(Id('b')));
}

TEST_F(SpoolTest, WhatEndsTheWorkerIsCounted) {
  Spool spool = Open("w");
  ASSERT_TRUE(spool.AddTodo(Id('a'), "{}").ok());
  for (int64_t i = 1; i <= 3; ++i) {
    spool.MarkStarted(Id('a'));
    ASSERT_TRUE(spool.NoteInterrupted().ok());
    EXPECT_EQ(spool.Interruptions(Id('a')), i);
    EXPECT_THAT(*spool.Started(), IsEmpty());
  }
  ASSERT_TRUE(spool.NoteInterrupted().ok());  // this time, nothing was measured
  EXPECT_EQ(spool.Interruptions(Id('a')), 3);
  ASSERT_TRUE(spool.Finish((*spool.Todo())[0], {"{}", ""}).ok());
  EXPECT_EQ(spool.Interruptions(Id('a')), 0);
}

}  // namespace
}  // namespace cobra::worker

// Spool, queue client and queue together, over gRPC in this process: every reply lost, leases that
// end, files that were cut off. What is measured is stored once, and nothing is poisoned that was
// not at fault.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "store/store.h"
#include "tests/temporary_directory.h"
#include "tests/worker/queue_service.h"
#include "worker/machine/device_lock.h"
#include "worker/queue/queue_client.h"
#include "worker/queue/spool.h"

namespace cobra::worker {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Fate = QueueService::Fate;

constexpr absl::Duration kLease = absl::Seconds(300);

class QueueFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KeepFilesInMemory();
    Fresh();
  }
  void TearDown() override { grpc_->Shutdown(); }

  // Another queue and another spool.
  void Fresh() {
    if (grpc_ != nullptr) grpc_->Shutdown();
    clients_.clear();
    directory_ = std::make_unique<tests::TemporaryDirectory>();
    service_ = std::make_unique<QueueService>(directory_->File("queue.sqlite"), &now_);
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    grpc_ = builder.BuildAndStart();
    ASSERT_NE(grpc_, nullptr);
  }
  struct Worker {
    Spool spool;
    std::unique_ptr<QueueClient> client;
  };
  std::string Folder(const std::string& name = "w") const { return directory_->File("spool-" + name); }
  // A worker of that name, as it starts.
  Worker* Start(const std::string& name = "w") {
    absl::StatusOr<Spool> spool = Spool::Open(Folder(name), name);
    EXPECT_TRUE(spool.ok()) << spool.status();
    EXPECT_TRUE(spool->NoteInterrupted().ok());
    QueueClientOptions options;
    options.target = "cpu";
    options.lease_tasks = 4;
    options.lease = kLease;
    options.steady_now_ns = [this] { return absl::ToDoubleNanoseconds(now_ - absl::UnixEpoch()); };
    auto stub = v1::Measurements::NewStub(grpc_->InProcessChannel(grpc::ChannelArguments()));
    auto client = std::make_unique<QueueClient>(options, *spool, std::move(stub));
    clients_.push_back(std::make_unique<Worker>(Worker{*std::move(spool), std::move(client)}));
    return clients_.back().get();
  }
  // Until the tasks have ended, and nothing of them waits in the spool. Where it takes much longer
  // than some leases, they never do.
  void Drive(Worker* worker) {
    for (int i = 0; i < 200; ++i) {
      worker->client->RunOnce().IgnoreError();
      const bool measured = MeasureNext(&worker->spool);
      if (!measured && worker->spool.Done()->empty() && HaveEnded()) return;
      now_ += measured ? absl::Seconds(1) : absl::Seconds(90);
    }
    ADD_FAILURE() << "the tasks do not end";
  }
  bool HaveEnded() {
    const auto counts = service_->queue()->Counts();
    EXPECT_TRUE(counts.ok()) << counts.status();
    return std::all_of(counts->begin(), counts->end(), [](const store::QueueCount& count) {
      return count.state != store::TaskState::queued && count.state != store::TaskState::leased;
    });
  }
  store::TaskStatus StatusOf(int task) {
    const auto status = service_->queue()->Get({TaskIdOf(task)});
    EXPECT_TRUE(status.ok() && status->size() == 1) << status.status();
    return (*status)[0];
  }
  std::vector<std::string> Names(const std::string& part, const std::string& worker = "w") const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(absl::StrCat(Folder(worker), "/", part)))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Each has its measurement, no start was counted against it, and the spool is empty.
  void ExpectAllDoneOnce(int tasks) {
    for (int i = 0; i < tasks; ++i) {
      EXPECT_EQ(StatusOf(i).state, store::TaskState::done) << i;
      EXPECT_EQ(StatusOf(i).attempts, 0) << i;
    }
    const auto store = store::OpenStore(directory_->File("queue.sqlite"));
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->Counts()->measurements, tasks);
    for (const char* part : {"todo", "started", "done", "interrupted", "rejected"})
      EXPECT_THAT(Names(part), IsEmpty()) << part;
  }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  std::unique_ptr<tests::TemporaryDirectory> directory_;
  std::unique_ptr<QueueService> service_;
  std::unique_ptr<grpc::Server> grpc_;
  std::vector<std::unique_ptr<Worker>> clients_;
};

TEST_F(QueueFaultsTest, EveryRequestAndEveryReplyIsLostOnce) {
  constexpr int kTasks = 6;
  for (const Fate fate : {Fate::kLostRequest, Fate::kLostReply}) {
    for (const grpc::StatusCode code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::DEADLINE_EXCEEDED}) {
      std::map<std::string, int> lost;
      int calls = 1;
      for (int lost_call = 1; lost_call <= calls; ++lost_call) {
        SCOPED_TRACE(absl::StrCat("call ", lost_call, fate == Fate::kLostReply ? ", its reply" : ", its request"));
        Fresh();
        service_->lost_code = code;
        service_->fate = [&](int call, const std::string& method) {
          if (call == lost_call) ++lost[method];
          return call == lost_call ? fate : Fate::kAnswered;
        };
        service_->EnqueueTasks(kTasks);
        Drive(Start());
        ExpectAllDoneOnce(kTasks);
        calls = std::min(service_->calls(), 30);
      }
      EXPECT_THAT(lost, SizeIs(3));  // Lease, Renew and Report
    }
  }
}

TEST_F(QueueFaultsTest, ManyRepliesAreLost) {
  constexpr int kTasks = 6;
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    Fresh();
    std::minstd_rand random(seed);
    service_->fate = [&](int, const std::string&) { return random() % 3 == 0 ? Fate::kLostReply : Fate::kAnswered; };
    service_->EnqueueTasks(kTasks);
    Drive(Start());
    ExpectAllDoneOnce(kTasks);
  }
}

// A client that dies and starts again after every call.
TEST_F(QueueFaultsTest, AClientThatIsStartedAgainAllTheTimeLosesNothing) {
  service_->EnqueueTasks(6);
  for (int i = 0; i < 40; ++i) {
    Worker* const worker = Start();
    worker->client->RunOnce().IgnoreError();
    MeasureNext(&worker->spool);
    now_ += absl::Seconds(1);
  }
  ExpectAllDoneOnce(6);
}

TEST_F(QueueFaultsTest, ALeaseIsRenewedUntilItsTaskIsMeasuredHoweverLongThatTakes) {
  service_->EnqueueTasks(2);
  Worker* const worker = Start();
  ASSERT_TRUE(worker->client->RunOnce().ok());
  worker->spool.MarkStarted(TaskIdOf(0));
  for (absl::Duration past; past < 4 * kLease; past += kLease / 10) {
    now_ += kLease / 10;
    ASSERT_TRUE(worker->client->RunOnce().ok());
    EXPECT_THAT(*service_->queue()->Lease("cpu", "other", 10, kLease), IsEmpty());
  }
  while (MeasureNext(&worker->spool)) {
  }
  ASSERT_TRUE(worker->client->RunOnce().ok());
  ExpectAllDoneOnce(2);
}

// The server refuses the records, of a credential perhaps, for longer than a lease: they are not
// measured again by others, and no start is counted against their tasks.
TEST_F(QueueFaultsTest, WhatIsMeasuredKeepsItsLeaseUntilItIsReported) {
  service_->EnqueueTasks(2);
  bool heals = false;
  service_->lost_code = grpc::StatusCode::PERMISSION_DENIED;
  service_->fate = [&](int, const std::string& method) {
    return method == "Report" && !heals ? Fate::kLostRequest : Fate::kAnswered;
  };
  Worker* const worker = Start();
  worker->client->RunOnce().IgnoreError();
  worker->spool.MarkStarted(TaskIdOf(0));
  worker->client->RunOnce().IgnoreError();  // says so
  while (MeasureNext(&worker->spool)) {
  }
  for (absl::Duration past; past < 4 * kLease; past += kLease / 10) {
    now_ += kLease / 10;
    worker->client->RunOnce().IgnoreError();
    EXPECT_THAT(*service_->queue()->Lease("cpu", "other", 10, kLease), IsEmpty());
  }
  EXPECT_FALSE(worker->client->Shutdown().ok());
  EXPECT_THAT(*worker->spool.Done(), SizeIs(2));
  heals = true;
  EXPECT_TRUE(Start()->client->RunOnce().ok());
  ExpectAllDoneOnce(2);
}

// The client was stopped for longer than a lease.
TEST_F(QueueFaultsTest, WhatAnotherWorkerHasNowIsDroppedUnlessItIsBeingMeasured) {
  service_->EnqueueTasks(3);
  Worker* const worker = Start();
  ASSERT_TRUE(worker->client->RunOnce().ok());
  ASSERT_TRUE(MeasureNext(&worker->spool));
  worker->spool.MarkStarted(TaskIdOf(1));
  now_ += kLease + absl::Seconds(1);
  ASSERT_EQ(service_->queue()->Lease("cpu", "other", 10, kLease)->size(), 3u);
  ASSERT_TRUE(worker->client->RunOnce().ok());
  ASSERT_THAT(*worker->spool.Todo(), SizeIs(1));
  EXPECT_EQ((*worker->spool.Todo())[0].id, TaskIdOf(1));
  EXPECT_THAT(Names("rejected"), ElementsAre("done-" + TaskIdOf(0) + ".json"));  // for people to look at
  for (int i = 0; i < 3; ++i) EXPECT_EQ(StatusOf(i).attempts, 0) << i;
}

// Spot machines with a spool of their own each, taken away late in a group: what they had measured
// is stored, and only what each had begun last may be at fault.
TEST_F(QueueFaultsTest, MachinesThatAreTakenAwayLateInAGroupLoseOnlyWhatTheyWereAt) {
  constexpr int kTasks = 4;
  service_->EnqueueTasks(kTasks);
  for (int machine = 0; machine < 3; ++machine) {
    Worker* const worker = Start(absl::StrCat("spot-", machine));
    ASSERT_TRUE(worker->client->RunOnce().ok());
    ASSERT_TRUE(MeasureNext(&worker->spool));
    ASSERT_TRUE(worker->client->RunOnce().ok());
    const auto todo = worker->spool.Todo();
    ASSERT_FALSE(todo->empty());
    worker->spool.MarkStarted(todo->front().id);
    ASSERT_TRUE(worker->client->RunOnce().ok());
    now_ += kLease + absl::Minutes(11);
  }
  Drive(Start());
  int64_t attempts = 0;
  for (int i = 0; i < kTasks; ++i) {
    EXPECT_EQ(StatusOf(i).state, store::TaskState::done) << i;
    attempts += StatusOf(i).attempts;
  }
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(StatusOf(0).attempts, 0);  // measured by the first
}

// What was leased and cannot be written is given back at once, and not when its lease ends.
TEST_F(QueueFaultsTest, ATaskThatCannotBeSpooledIsGivenBack) {
  service_->EnqueueTasks(3);
  Worker* const worker = Start();
  const std::string todo = Folder() + "/todo";
  fs::remove_all(todo);
  fs::create_directory_symlink("/proc/self/task", todo);  // nobody may write there
  EXPECT_FALSE(worker->client->RunOnce().ok());
  EXPECT_EQ(StatusOf(0).state, store::TaskState::leased);
  fs::remove(todo);
  fs::create_directory(todo);
  ASSERT_TRUE(worker->client->RunOnce().ok());
  EXPECT_THAT(*worker->spool.Todo(), SizeIs(3));
  Drive(worker);
  ExpectAllDoneOnce(3);
}

TEST_F(QueueFaultsTest, ANewNameWaitsForTheQueueClientOfTheOldOne) {
  ASSERT_TRUE(Spool::Open(Folder(), "old").ok());
  {
    const auto client = LockQueueClient(Folder());
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE(Spool::Open(Folder(), "old").ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(Spool::Open(Folder(), "new").status()));
    EXPECT_TRUE(absl::IsFailedPrecondition(LockQueueClient(Folder()).status()));  // one at a time
    EXPECT_EQ(Spool::Open(Folder())->worker_id(), "old");
  }
  EXPECT_TRUE(Spool::Open(Folder(), "new").ok());
  EXPECT_EQ(Spool::Open(Folder())->worker_id(), "new");
}

// Every file of a spool with tasks of each kind, cut off at every byte: whatever it says then, it
// stops nothing, and the other tasks are measured and reported. What was cut off is measured again
// by whoever leases it next.
TEST_F(QueueFaultsTest, EveryFileIsCutOffAtEveryByte) {
  constexpr int kTasks = 3;
  const auto prepare = [&] {
    Fresh();
    service_->EnqueueTasks(kTasks);
    Worker* const worker = Start();
    ASSERT_TRUE(worker->client->RunOnce().ok());
    ASSERT_TRUE(MeasureNext(&worker->spool));           // done/ has one
    worker->spool.MarkStarted(TaskIdOf(1));             // started/ too, and then
    ASSERT_TRUE(worker->spool.NoteInterrupted().ok());  // interrupted/
    worker->spool.MarkStarted(TaskIdOf(2));
    clients_.clear();
  };
  prepare();
  std::map<std::string, size_t> files;
  const std::vector<std::string> names = *ListFiles(Folder(), "");
  for (const std::string& file : names) files[file] = ReadFile(absl::StrCat(Folder(), "/", file))->size();
  EXPECT_GE(files.size(), 6u);
  for (const auto& [file, bytes] : files) {
    for (size_t size = 0; size < bytes; ++size) {
      SCOPED_TRACE(absl::StrCat(file, " cut off at ", size));
      prepare();
      fs::resize_file(absl::StrCat(Folder(), "/", file), size);
      Drive(Start());
      for (int i = 0; i < kTasks; ++i) EXPECT_EQ(StatusOf(i).state, store::TaskState::done) << i;
      for (const char* part : {"todo", "started", "done", "interrupted"}) EXPECT_THAT(Names(part), IsEmpty()) << part;
    }
  }
}

}  // namespace
}  // namespace cobra::worker

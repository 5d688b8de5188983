// The worker dies before each change that it makes to its spool, and starts again: nothing that was
// measured is lost, nothing is reported twice, and nothing is poisoned.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "store/store.h"
#include "tests/temporary_directory.h"
#include "tests/worker/queue_service.h"
#include "worker/queue/queue_client.h"
#include "worker/queue/spool.h"

namespace {

// The calls of the system that change the spool, from all of this program: the process ends before
// one of them.
constexpr int kCrashed = 42;
const char* g_folder = nullptr;  // null: none ends it
int g_changes_left = 0;

void MayCrash(const char* path) {
  if (g_folder == nullptr || std::strncmp(path, g_folder, std::strlen(g_folder)) != 0) return;
  if (--g_changes_left == 0) _exit(kCrashed);
}

template <typename Function>
Function* TheOther(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept {
  MayCrash(to);
  return TheOther<int(const char*, const char*)>("rename")(from, to);
}

int remove(const char* path) noexcept {
  MayCrash(path);
  return TheOther<int(const char*)>("remove")(path);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_CREAT) != 0) MayCrash(path);
  return TheOther<int(const char*, int, ...)>("open")(path, flags, mode);
}

}  // extern "C"

namespace cobra::worker {
namespace {

namespace fs = std::filesystem;
constexpr absl::Duration kLease = absl::Seconds(300);
constexpr int kTasks = 3;

#define COBRA_DIRECT_RPC(name)                                                                                       \
  grpc::Status name(grpc::ClientContext*, const v1::name##Request& request, v1::name##Response* response) override { \
    return service_->name(nullptr, &request, response);                                                              \
  }                                                                                                                  \
  grpc::ClientAsyncResponseReaderInterface<v1::name##Response>* Async##name##Raw(                                    \
      grpc::ClientContext*, const v1::name##Request&, grpc::CompletionQueue*) override {                             \
    return nullptr;                                                                                                  \
  }                                                                                                                  \
  grpc::ClientAsyncResponseReaderInterface<v1::name##Response>* PrepareAsync##name##Raw(                             \
      grpc::ClientContext*, const v1::name##Request&, grpc::CompletionQueue*) override {                             \
    return nullptr;                                                                                                  \
  }

// Calls the service without gRPC, whose threads do not survive a fork.
class DirectStub final : public v1::Measurements::StubInterface {
 public:
  explicit DirectStub(QueueService* service) : service_(service) {}
  COBRA_DIRECT_RPC(Enqueue)
  COBRA_DIRECT_RPC(Lease)
  COBRA_DIRECT_RPC(Renew)
  COBRA_DIRECT_RPC(Report)
  COBRA_DIRECT_RPC(Cancel)

 private:
  grpc::ClientReaderInterface<v1::WatchResponse>* WatchRaw(grpc::ClientContext*, const v1::WatchRequest&) override {
    return nullptr;
  }
  grpc::ClientAsyncReaderInterface<v1::WatchResponse>* AsyncWatchRaw(grpc::ClientContext*, const v1::WatchRequest&,
                                                                     grpc::CompletionQueue*, void*) override {
    return nullptr;
  }
  grpc::ClientAsyncReaderInterface<v1::WatchResponse>* PrepareAsyncWatchRaw(grpc::ClientContext*,
                                                                            const v1::WatchRequest&,
                                                                            grpc::CompletionQueue*) override {
    return nullptr;
  }

  QueueService* const service_;
};
#undef COBRA_DIRECT_RPC

class SpoolCrashTest : public ::testing::Test {
 protected:
  // In a child process, which does not return.
  static int ExitOf(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // A worker that starts at `now`, until it has nothing to do for longer than a lease.
  void Work(absl::Time now) const {
    QueueService service(directory_->File("queue.sqlite"), &now);
    absl::StatusOr<Spool> spool = Spool::Open(Folder());
    ASSERT_TRUE(spool.ok()) << spool.status();
    ASSERT_TRUE(spool->NoteInterrupted().ok());
    QueueClientOptions options;
    options.target = "cpu";
    options.lease_tasks = 2;
    options.lease = kLease;
    options.steady_now_ns = [&now] { return absl::ToDoubleNanoseconds(now - absl::UnixEpoch()); };
    QueueClient client(options, *spool, std::make_unique<DirectStub>(&service));
    for (int idle = 0; idle < 15;) {
      EXPECT_TRUE(client.RunOnce().ok());
      const auto todo = spool->Todo();
      ASSERT_TRUE(todo.ok()) << todo.status();
      const bool measured = !todo->empty();
      if (measured) {
        spool->MarkStarted(todo->front().id);
        EXPECT_TRUE(client.RunOnce().ok());  // the server learns of the start
        spool->MarkEnded(todo->front().id);
        EXPECT_TRUE(spool->Finish(todo->front(), RecordOfTask()).ok());
      }
      idle = measured || !spool->Done()->empty() ? 0 : idle + 1;
      now += measured ? absl::Seconds(1) : absl::Seconds(30);
    }
    EXPECT_TRUE(client.Shutdown().ok());
  }

  // Each task has one measurement; at most one start was counted, of the task that was being
  // measured.
  void ExpectAllDone(absl::Time now) const {
    QueueService service(directory_->File("queue.sqlite"), &now);
    int64_t attempts = 0;
    for (int i = 0; i < kTasks; ++i) {
      const auto status = service.queue()->Get({TaskIdOf(i)});
      ASSERT_TRUE(status.ok() && status->size() == 1) << status.status();
      EXPECT_EQ((*status)[0].state, store::TaskState::done) << i;
      attempts += (*status)[0].attempts;
    }
    EXPECT_LE(attempts, 1);
    const auto store = store::OpenStore(directory_->File("queue.sqlite"));
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->Counts()->measurements, kTasks);
    for (const char* part : {"todo", "started", "done", "interrupted", "rejected"}) {
      for (const auto& entry : fs::directory_iterator(absl::StrCat(Folder(), "/", part))) {
        // What was being written when it crashed has a name that nobody reads.
        EXPECT_NE(entry.path().filename().string().find(".tmp."), std::string::npos) << entry.path();
      }
    }
  }

  std::string Folder() const { return directory_->File("spool"); }

  std::unique_ptr<tests::TemporaryDirectory> directory_;
};

TEST_F(SpoolCrashTest, BeforeEveryChangeOfTheSpool) {
  KeepFilesInMemory();
  const absl::Time begin = absl::FromUnixSeconds(1'000'000);
  // Soon, while its leases live, and when others might have them.
  for (const absl::Duration restart : {absl::Seconds(1), 2 * kLease}) {
    int crashes = 0;
    for (int change = 1;; ++change) {
      SCOPED_TRACE(absl::StrCat("before change ", change, ", restarted after ", absl::FormatDuration(restart)));
      directory_ = std::make_unique<tests::TemporaryDirectory>();
      const int exit = ExitOf([&] {
        absl::Time now = begin;
        QueueService(directory_->File("queue.sqlite"), &now).EnqueueTasks(kTasks);
        const std::string folder = Folder();
        g_changes_left = change;
        g_folder = folder.c_str();
        Work(begin);
        g_folder = nullptr;
      });
      ASSERT_TRUE(exit == 0 || exit == kCrashed) << exit;
      crashes += exit == kCrashed ? 1 : 0;
      // Far less than a minute of its time has passed before it crashed.
      if (exit == kCrashed) {
        ASSERT_EQ(ExitOf([&] { Work(begin + absl::Seconds(60) + restart); }), 0);
      }
      ASSERT_EQ(ExitOf([&] { ExpectAllDone(begin + absl::Hours(10)); }), 0);
      if (exit == 0) break;  // it makes no more changes than that
    }
    EXPECT_GE(crashes, 20);
  }
}

}  // namespace
}  // namespace cobra::worker

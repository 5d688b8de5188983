// A folder of a command's own, which is gone when the command ends: also by Ctrl-C, SIGTERM or
// SIGHUP.
#ifndef COBRA_CLIENT_CHECK_TEMPORARY_FOLDER_H_
#define COBRA_CLIENT_CHECK_TEMPORARY_FOLDER_H_

#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/file/descriptor.h"

namespace cobra::client {

class TemporaryFolder {
 public:
  // REQUIRES: this process has no other threads yet; those that it starts later inherit that the
  // signals are blocked. One at a time.
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Create();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  // absolute, without symbolic links

  // Who writes into the folder, or has another program do so, holds the mutex and stops when
  // `interrupted` turns true.
  absl::Mutex* writing() { return &writing_; }
  const std::atomic<bool>* interrupted() const { return &interrupted_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  void WatchSignals();
  void Remove();

  const std::string path_;
  absl::Mutex writing_;
  std::atomic<bool> interrupted_{false};
  sigset_t before_{};  // what was blocked before
  Descriptor signals_, done_;
  std::thread watcher_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_TEMPORARY_FOLDER_H_

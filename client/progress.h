// A progress line on standard error for operations that take longer than a second, if standard error is a terminal.
#ifndef COBRA_CLIENT_PROGRESS_H_
#define COBRA_CLIENT_PROGRESS_H_

#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace cobra::client {

class Progress {
 public:
  // Shows nothing unless standard error is a terminal.
  explicit Progress(absl::string_view what);
  // Erases its line.
  ~Progress();
  // What is shown from now on.
  void Update(std::string what);

 private:
  void Loop();

  absl::Mutex mutex_;
  std::string what_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PROGRESS_H_

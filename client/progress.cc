#include "client/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace cobra::client {

Progress::Progress(absl::string_view what) : what_(what) {
  if (::isatty(STDERR_FILENO)) thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    done_ = true;
  }
  thread_.join();
}

void Progress::Update(std::string what) {
  absl::MutexLock lock(&mutex_);
  what_ = std::move(what);
}

void Progress::Loop() {
  const absl::Time start = absl::Now();
  bool shown = false;
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&done_), absl::Seconds(1))) {
    std::fprintf(stderr, "\r\033[K%s ... %lld s", what_.c_str(),
                 static_cast<long long>(absl::ToInt64Seconds(absl::Now() - start)));
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fprintf(stderr, "\r\033[K");
}

}  // namespace cobra::client

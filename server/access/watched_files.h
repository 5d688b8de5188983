// Tells when one of some files has changed, without a thread: whoever needs the files asks first.
#ifndef COBRA_SERVER_ACCESS_WATCHED_FILES_H_
#define COBRA_SERVER_ACCESS_WATCHED_FILES_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file/file.h"

namespace cobra::server {

class WatchedFiles {
 public:
  // Construct it before the files are read for the first time: a change while they are read is then
  // seen as one.
  explicit WatchedFiles(std::vector<std::string> paths) : paths_(std::move(paths)), stamps_(Stamps()) {}

  // Whether a file was written, replaced, created or removed since this last returned true. The
  // disk is asked at most once a second.
  bool Changed() {
    const auto now = std::chrono::steady_clock::now();
    if (now < ask_again_) return false;
    ask_again_ = now + std::chrono::seconds(1);
    const std::vector<uint64_t> before = std::exchange(stamps_, Stamps());
    return stamps_ != before;
  }

 private:
  std::vector<uint64_t> Stamps() const {
    std::vector<uint64_t> stamps;
    for (const std::string& path : paths_) stamps.push_back(FileStamp(path));
    return stamps;
  }

  std::vector<std::string> paths_;
  std::vector<uint64_t> stamps_;
  std::chrono::steady_clock::time_point ask_again_ = std::chrono::steady_clock::now();
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_WATCHED_FILES_H_

// Waits for changes of files. Folders are watched, not files: an editor that replaces a file by
// renaming another one leaves a watch of the old file behind.
#ifndef COBRA_CLIENT_ASK_WATCH_H_
#define COBRA_CLIENT_ASK_WATCH_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file/descriptor.h"

namespace cobra::client {

class FileWatch {
 public:
  // Internal error if the system has no more of them.
  static absl::StatusOr<FileWatch> Create();

  // Also watches these folders, those that are not there as soon as they are.
  absl::Status Add(const std::vector<std::string>& folders);

  // Returns after a file whose name `concerns` accepts was written, replaced or removed in one of
  // the folders since the last call, and nothing more has changed for a moment: editors write in
  // several steps.
  absl::Status Wait(const std::function<bool(const std::string& name)>& concerns);

 private:
  explicit FileWatch(Descriptor inotify) : inotify_(std::move(inotify)) {}
  // Whether one of the events that wait to be read concerns us.
  absl::StatusOr<bool> ReadEvents(const std::function<bool(const std::string& name)>& concerns);
  // Whether one of the folders that were missing is there.
  absl::StatusOr<bool> AddMissing();

  Descriptor inotify_;
  std::map<int, std::string> folders_;  // by watch
  std::set<std::string> missing_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_WATCH_H_

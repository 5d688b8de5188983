#include "client/asked_server.h"

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "client/local_server.h"
#include "client/terminal/progress.h"

namespace cobra::client {

std::string OwnStore() {
  std::string store = absl::StrCat(UserStateFolder(), "/cobra.sqlite");
  return FileExists(store) ? store : "";
}

void ReportServerChange(AskedServer server, absl::string_view address) {
  static bool was_said = false;  // by this process, also where the file cannot be written
  if (was_said || NotesAreSilent() || OwnStore().empty()) return;
  const std::string file = absl::StrCat(UserStateFolder(), "/asked-server");
  const std::string last = ReadFile(file, /*max_bytes=*/100).value_or("own\n");
  const std::string now = server == AskedServer::kOwn ? "own\n" : "default\n";
  if (last == now) return;
  was_said = true;
  Note(server == AskedServer::kOwn
           ? absl::StrCat("cobra-client: no server answers at ", address,
                          " any more, so this user's own server is used again; it has its own targets and history")
           : absl::StrCat("cobra-client: the server at ", address,
                          " is used from now on; it does not have the targets and history of this user's own server "
                          "(--server own uses that one)"));
  (void)WriteFileAtomic(file, now);
}

}  // namespace cobra::client

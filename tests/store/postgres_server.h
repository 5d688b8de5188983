// A real PostgreSQL 15 of a test's own, on a socket in a temporary folder; no port is opened. It
// may be stopped as after a crash; the machine itself does not crash, so it need not wait for the
// disk.
#ifndef COBRA_TESTS_STORE_POSTGRES_SERVER_H_
#define COBRA_TESTS_STORE_POSTGRES_SERVER_H_

#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "tests/temporary_directory.h"

namespace cobra::store {

class PostgresServer {
 public:
  static bool IsInstalled() { return access(absl::StrCat(kPrograms, "initdb").c_str(), X_OK) == 0; }

  ~PostgresServer() { Stop("immediate").IgnoreError(); }

  absl::Status Create() {
    // It refuses to run as root.
    if (geteuid() == 0) {
      const passwd* user = getpwnam("postgres");
      if (user == nullptr || chown(directory_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
        return absl::InternalError("no user postgres");
    }
    COBRA_RETURN_IF_ERROR(Run({"initdb", "-D", data_, "-U", "cobra", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"}));
    return Start();
  }

  absl::Status Start() {
    const std::string options = absl::StrCat("-c listen_addresses='' -c unix_socket_directories=", directory_.path(),
                                             " -c shared_buffers=16MB -c fsync=off");
    return Run({"pg_ctl", "-D", data_, "-w", "-l", directory_.File("log"), "-o", options, "start"});
  }
  // "fast": clients are thrown out; "immediate": as after a crash.
  absl::Status Stop(const std::string& mode) { return Run({"pg_ctl", "-D", data_, "-w", "-m", mode, "stop"}); }

  // A new database, empty.
  absl::StatusOr<std::string> NewDatabase() {
    const std::string name = absl::StrCat("d", ++databases_);
    COBRA_RETURN_IF_ERROR(Run({"createdb", "-h", directory_.path(), "-U", "cobra", name}));
    return absl::StrCat("postgresql://cobra@/", name, "?host=", directory_.path());
  }

  // Drops a database of NewDatabase(), whoever uses it, and makes an empty one of its name.
  absl::Status MakeAgain(const std::string& url) {
    const size_t begin = url.rfind("@/") + 2;
    const std::string name = url.substr(begin, url.find('?') - begin);
    COBRA_RETURN_IF_ERROR(Run({"dropdb", "-f", "-h", directory_.path(), "-U", "cobra", name}));
    return Run({"createdb", "-h", directory_.path(), "-U", "cobra", name});
  }

 private:
  static constexpr char kPrograms[] = "/usr/lib/postgresql/15/bin/";

  static absl::Status Run(std::vector<std::string> argv) {
    argv[0] = absl::StrCat(kPrograms, argv[0]);
    if (geteuid() == 0)
      argv.insert(argv.begin(), {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"});
    return RunProgram(argv).status();
  }

  tests::TemporaryDirectory directory_;
  const std::string data_ = directory_.File("data");
  int databases_ = 0;
};

}  // namespace cobra::store

#endif  // COBRA_TESTS_STORE_POSTGRES_SERVER_H_

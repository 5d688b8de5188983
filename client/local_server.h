// The server of one user: cobra-client starts it if none answers, so that a question is a whole
// command.
//
// It listens at a Unix socket in a folder that only the user may enter, $XDG_RUNTIME_DIR/cobra or
// /tmp/cobra-UID, or, if nothing may be written to /tmp, that of the store:
//   socket   the API
//   lock     held (flock) while a client looks for the server or starts it, so that two get one
//   version  of which program and weights it was started from; the server of others is replaced
// Python's servers, which know folders of libraries, are beside it
// (client/python/cobra_latency/places.py).
// Its store and its log are in $XDG_STATE_HOME/cobra, by default ~/.local/state/cobra, or beside
// the socket if nothing may be written there. It ends after ten idle minutes.
#ifndef COBRA_CLIENT_LOCAL_SERVER_H_
#define COBRA_CLIENT_LOCAL_SERVER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

// Whether something listens at HOST:PORT of this machine, or at unix:PATH; no request is made.
bool SomebodyListens(absl::string_view local_address);

// Where the store, the log and what is remembered of this user are.
std::string UserStateFolder();

// Makes that folder, private to this user: the socket may be there, too.
absl::Status MakeUserStateFolder();

// What FindOrStartServer() would use, for whoever looks for what is wrong. Nothing is made or
// started.
struct LocalServerPlaces {
  std::string program;              // cobra-server next to this program; without a slash if there is none
  std::string model;                // the folder of the weights
  std::string folder;               // of the socket
  std::string state;                // UserStateFolder()
  std::string address;              // "unix:..."
  absl::Status folder_status;       // whether the folder is private to this user; OK if it does not exist yet
  bool is_of_this_version = false;  // the server that listens there, if one does
};
LocalServerPlaces PlacesOfLocalServer();

struct LocalServer {
  std::string address;       // "unix:/run/user/1000/cobra/socket"
  bool was_started = false;  // by this call
  std::string log;           // its path
};

// Finds the user's server, or starts it and waits until it is ready. FailedPrecondition, saying
// what is wrong and what to do, if there is no cobra-server next to this program, if others may
// enter the folder, or if it does not start.
absl::StatusOr<LocalServer> FindOrStartServer();

// The address of the user's server if it runs, of this version; empty otherwise. Changes nothing.
std::string FindRunningServer();

}  // namespace cobra::client

#endif  // COBRA_CLIENT_LOCAL_SERVER_H_

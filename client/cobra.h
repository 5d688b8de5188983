// The client library, for programs outside this tree: installed as <cobra/client.h>, with the CMake
// package `cobra` (target cobra::client). docs/api.md, "From C++", has an example.
//
// cobra::client::Client is a connection: Connect() does not wait, every call has a deadline and is
// retried as described in docs/operations.md, and errors are values. It is safe to use from several
// threads. Messages are those of cobra.v1 (proto/cobra/v1/*.proto, which are also installed):
// latencies are in microseconds, sizes in bytes.
#ifndef COBRA_CLIENT_COBRA_H_
#define COBRA_CLIENT_COBRA_H_

#include "client/client.h"

#endif  // COBRA_CLIENT_COBRA_H_

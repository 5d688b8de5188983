// cobra-client, as a program of its own (main.cc) and as part of `cobra` (portable/).
#ifndef COBRA_CLIENT_PROGRAM_PROGRAM_H_
#define COBRA_CLIENT_PROGRAM_PROGRAM_H_

namespace cobra::client {

// Returns the exit code.
int Main(int argc, char** argv);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PROGRAM_PROGRAM_H_

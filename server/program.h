// cobra-server, as a program of its own (main.cc) and as part of `cobra` (portable/).
#ifndef COBRA_SERVER_PROGRAM_H_
#define COBRA_SERVER_PROGRAM_H_

namespace cobra::server {

// Returns the exit code.
int Main(int argc, char** argv);

}  // namespace cobra::server

#endif  // COBRA_SERVER_PROGRAM_H_

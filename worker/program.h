// cobra-worker, as a program of its own (main.cc) and as part of `cobra` (portable/).
#ifndef COBRA_WORKER_PROGRAM_H_
#define COBRA_WORKER_PROGRAM_H_

namespace cobra::worker {

// Returns the exit code.
int Main(int argc, char** argv);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_PROGRAM_H_

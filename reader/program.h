// cobra-reader, as a program of its own (main.cc) and as part of `cobra` (portable/).
#ifndef COBRA_READER_PROGRAM_H_
#define COBRA_READER_PROGRAM_H_

namespace cobra::reader {

// Returns the exit code.
int Main(int argc, char** argv);

}  // namespace cobra::reader

#endif  // COBRA_READER_PROGRAM_H_

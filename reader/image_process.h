// A process that has imported libraries. It forks readers, one for each request, and further image
// processes. It runs only code that is trusted: COBRA's own and that of the --library directories.
// It has one thread, because fork(2) copies only the thread that calls it.
#ifndef COBRA_READER_IMAGE_PROCESS_H_
#define COBRA_READER_IMAGE_PROCESS_H_

#include <string>
#include <vector>

#include "reader/channel.h"
#include "reader/reader.pb.h"
#include "reader/sandbox.h"

namespace cobra::reader {

// The control socket of the first image process, which the server starts.
constexpr int kControlDescriptor = 3;
// A reader's exit code when it needs more memory than it may have.
constexpr int kMemoryExitCode = 78;

struct ImageOptions {
  std::vector<std::string> library_roots;
  SandboxLimits sandbox;
};

// Makes the image, then obeys commands until the server closes `control`. The exit code of the
// process.
int RunImageProcess(const ImageOptions& options, const ImageCommand::Image& image, Channel control);

}  // namespace cobra::reader

#endif  // COBRA_READER_IMAGE_PROCESS_H_

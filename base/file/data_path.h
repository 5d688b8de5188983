// Where the project's data is, wherever its programs are installed and whatever folder they are
// started in.
#ifndef COBRA_BASE_FILE_DATA_PATH_H_
#define COBRA_BASE_FILE_DATA_PATH_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// The file of the running program, without symbolic links; empty if unknown. Ask first before the
// working directory changes: without /proc it is found by the name that the program was started by.
std::string ProgramFile();
// Its folder, without a trailing slash; empty if unknown.
std::string ProgramFolder();

// "model/pretrained": PREFIX/share/cobra/model/pretrained next to an installed PREFIX/bin, or the
// file of the source tree in which the running program was built (build/PRESET/bin). It need not
// exist. $COBRA_DATA, an absolute path, takes the place of both. Never of the working directory: a
// program that is started in a folder of others must not take theirs.
std::string DataPath(absl::string_view relative);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_DATA_PATH_H_

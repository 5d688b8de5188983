#ifndef COBRA_BASE_NEW_FILE_H_
#define COBRA_BASE_NEW_FILE_H_

#include <cstdio>
#include <string>

namespace cobra {

// A new file beside `target`, open for writing, that is to be renamed to it; `name` is set to its
// own name. It has the usual mode, and its name cannot be guessed: in a folder that others may
// write to, a link of theirs under a name that they foresee would be followed to a file of ours.
// Null, with errno, if it cannot be made.
std::FILE* CreateBeside(const std::string& target, std::string* name);

}  // namespace cobra

#endif  // COBRA_BASE_NEW_FILE_H_

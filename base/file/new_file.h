#ifndef COBRA_BASE_FILE_NEW_FILE_H_
#define COBRA_BASE_FILE_NEW_FILE_H_

#include <cstdio>
#include <string>

namespace cobra {

// A new file in the folder of `target`, open for writing, that is to be renamed to it; `name` is
// set to its temporary name. It has the usual mode, and its name cannot be guessed: in a folder
// that others can write to, a link that they planted under a predictable name would be followed to
// a file of ours. Null, with errno set, if it cannot be created.
std::FILE* CreateBeside(const std::string& target, std::string* name);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_NEW_FILE_H_

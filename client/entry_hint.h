// What could stand behind --entry.
#ifndef COBRA_CLIENT_ENTRY_HINT_H_
#define COBRA_CLIENT_ENTRY_HINT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra {

// The models that a Python source defines, as they are called: "resnet50()", "Net(width)". Those that need no argument
// first; among them functions that return one, then classes, each in the file's order. Read off the text, nothing is run: a class counts if its base is of
// torch.nn, ends in Module or is such a class; a function if its annotation says so or if it returns a call of one.
// Names that begin with '_' are left out. None where the source has a syntax error.
std::vector<std::string> ModelsOf(absl::string_view source);

// The hint of a missing --entry: what the file at `path` has, or an example.
std::string MissingEntryHint(const std::string& path);

}  // namespace cobra

#endif  // COBRA_CLIENT_ENTRY_HINT_H_

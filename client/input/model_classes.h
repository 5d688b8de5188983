// Classes in a folder of Python files that look like models, for the hint of an error. Only their
// text is looked at.
#ifndef COBRA_CLIENT_INPUT_MODEL_CLASSES_H_
#define COBRA_CLIENT_INPUT_MODEL_CLASSES_H_

#include <map>
#include <string>
#include <vector>

namespace cobra::client {

// "model.Net", "blocks.attention.Block": top-level classes with a base whose name contains
// "Module", and what derives from those. `files`: path below the folder -> text. First those that
// no other class of the folder has as a base.
std::vector<std::string> ModelClasses(const std::map<std::string, std::string>& files);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_MODEL_CLASSES_H_

// The version of this build, the same in every program: project(... VERSION) of CMakeLists.txt.
#ifndef COBRA_BASE_VERSION_H_
#define COBRA_BASE_VERSION_H_

namespace cobra {

const char* Version();  // "0.2.0"

}  // namespace cobra

#endif  // COBRA_BASE_VERSION_H_

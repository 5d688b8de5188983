#include "base/version.h"

namespace cobra {

const char* Version() { return COBRA_VERSION; }

}  // namespace cobra

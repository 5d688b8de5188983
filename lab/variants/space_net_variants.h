// Our network over cells (model/space/models/space_nets.h) without some parts, for `cobra-train
// table nasbench201`. Includes LibTorch headers.
#ifndef COBRA_LAB_VARIANTS_SPACE_NET_VARIANTS_H_
#define COBRA_LAB_VARIANTS_SPACE_NET_VARIANTS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/space/models/space_nets.h"

namespace cobra::lab {

using MakeSpaceNet = std::function<std::shared_ptr<space::AdditiveNet>(const space::AdditiveNetOptions& options)>;

// `messages`: those to omit, of along, against, global.
MakeSpaceNet WithoutMessages(std::vector<std::string> messages);

// Predicts one number from the sum of the nodes' features: no contributions.
std::shared_ptr<space::AdditiveNet> MakeNetOfSums(const space::AdditiveNetOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_SPACE_NET_VARIANTS_H_

// Spaces of inverted residuals: FBNet as HELP measured it (CIFAR-100) and Once-for-all MobileNetV3.
#ifndef COBRA_MODEL_SPACE_ARCHITECTURES_MOBILE_SPACES_H_
#define COBRA_MODEL_SPACE_ARCHITECTURES_MOBILE_SPACES_H_

#include <memory>

#include "model/space/architectures/space.h"

namespace cobra::space {

// Costs of both: millions of multiplications in 1x1 and in depthwise convolutions, activations
// (1e5), blocks that run, blocks in groups (FBNet) or with squeeze and excitation (OFA), weights
// (1e4); FBNet: skips that cannot be the identity; OFA: the area of the input image.
std::unique_ptr<const Space> MakeFbnetSpace();
std::unique_ptr<const Space> MakeOfaSpace();

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCHITECTURES_MOBILE_SPACES_H_

// Pre-training of our encoder: masked numbers of layers' calls are predicted from the rest of the
// call (COBRA, section 3, with numbers instead of pieces). The version that serves is trained
// without it. Includes LibTorch headers; only files of lab/ include it.
#ifndef COBRA_LAB_VARIANTS_PRETRAIN_H_
#define COBRA_LAB_VARIANTS_PRETRAIN_H_

#include "model/training/training_run.h"

namespace cobra::lab {

// Training that begins with `epochs` of pre-training on the training layers. `append_latency`: the
// paper's method of appending the measured latency as one more token, which relates the numbers
// that determine it.
training::TrainingParts PretrainedParts(int epochs, bool append_latency);

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_PRETRAIN_H_

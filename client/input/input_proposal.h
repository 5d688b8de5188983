// Inputs for a model whose user gave too few: usual ones are tried, and the first that the model
// takes is proposed.
#ifndef COBRA_CLIENT_INPUT_INPUT_PROPOSAL_H_
#define COBRA_CLIENT_INPUT_INPUT_PROPOSAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/input/model_arguments.h"

namespace cobra::client {

// `status` of reading the model. If it says that inputs are missing and nothing proposes some yet,
// the Diagnostic gets example_inputs that can be read, or else a hint with the usual ones. Anything
// else is returned as it is. Takes a few seconds at most.
absl::Status WithProposedInputs(const absl::Status& status, const ModelArguments& model);

// How many inputs a message misses: 2 of "Net.forward() missing 2 required positional arguments:
// 'x' and 'mask'"; 0 if it is about something else.
int MissingInputs(absl::string_view message);

// What the error of a trial says about the input that it wants: "1x1x224x224" of "... to have 1
// channels, but got 3 channels instead" with 1x3x224x224; "1x784" of a product with 784 rows. Empty
// if it says nothing.
std::string CorrectedInput(absl::string_view message, absl::string_view tried);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_INPUT_PROPOSAL_H_

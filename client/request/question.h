// What was asked about a model, as titles, results and labels have it.
#ifndef COBRA_CLIENT_REQUEST_QUESTION_H_
#define COBRA_CLIENT_REQUEST_QUESTION_H_

#include <string>
#include <utility>
#include <vector>

#include "client/input/model_arguments.h"
#include "nlohmann/json_fwd.hpp"
#include "report/question.h"

namespace cobra::client {

// How the model is asked about, without targets.
report::Question ReportQuestion(const ModelArguments& model);

// For people: "Net() from net.py, in training".
std::string Title(const ModelArguments& model);

// Of a call that has labels: the label "model" as well, unless it is given or there is no room, so
// that `history` tells models apart. The path as it was typed, of an absolute one the file's name,
// which is the same in every checkout; then the entry.
void AddModelLabel(const ModelArguments& model, std::vector<std::pair<std::string, std::string>>* labels);

// Adds the model as given on the command line, with the names of the flags as keys.
void AddQuestion(const ModelArguments& model, nlohmann::json* j);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_REQUEST_QUESTION_H_

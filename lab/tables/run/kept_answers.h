// What a part of a table has answered, kept beside the finished cells (table.h): training a fold
// takes minutes, and its cells are complete only with the other folds.
#ifndef COBRA_LAB_TABLES_RUN_KEPT_ANSWERS_H_
#define COBRA_LAB_TABLES_RUN_KEPT_ANSWERS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// The answers of `part` ("fold-2-seed-1") of an earlier run of the table, or those of `answer`,
// which are then kept in lab/results/NAME.partial.PART.jsonl.xz: a line for each group and method.
// Of a run without a state file nothing is kept. None if there are none and options.finished.
absl::StatusOr<AnswersOfGroups> KeptOrAnswered(const TableOptions& options, const std::string& part,
                                               const std::function<absl::StatusOr<AnswersOfGroups>()>& answer);
// A part of a table, and what answers it.
using TablePart = std::pair<std::string, std::function<absl::StatusOr<AnswersOfGroups>()>>;
// Answers the parts in child processes, options.jobs at a time, so that KeptOrAnswered finds them.
// Does nothing with one job unless options.parts is set, or where nothing is kept. They are forked
// before LibTorch starts a thread or a GPU.
absl::Status AnswerInParallel(const TableOptions& options, const std::vector<TablePart>& parts);
// Adds rows to rows of the same group and method.
void AddAnswers(const AnswersOfGroups& more, AnswersOfGroups* answers);
// Of a table that is complete.
absl::Status RemoveKeptAnswers(const std::string& state);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_KEPT_ANSWERS_H_

// What the reader of a model should know about how it was read, beside the graph: "the assertion is
// taken to hold".
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_READ_NOTES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_READ_NOTES_H_

#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace cobra::python {

struct ReadNote {
  SourcePosition position;
  std::string text;
};

// While it exists, notes of what this thread reads are added to the list, each place once.
class ReadNotesScope {
 public:
  explicit ReadNotesScope(std::vector<ReadNote>* notes);
  ~ReadNotesScope();
  ReadNotesScope(const ReadNotesScope&) = delete;
  ReadNotesScope& operator=(const ReadNotesScope&) = delete;

 private:
  std::vector<ReadNote>* const before_;
};
// Does nothing without a scope.
void AddReadNote(const SourcePosition& position, std::string text);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_READ_NOTES_H_

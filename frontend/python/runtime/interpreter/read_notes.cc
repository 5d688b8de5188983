#include "frontend/python/runtime/interpreter/read_notes.h"

#include <algorithm>
#include <utility>

namespace cobra::python {
namespace {

thread_local std::vector<ReadNote>* current_notes = nullptr;
constexpr size_t kMostNotes = 20;  // of a program that has thousands, these say enough

}  // namespace

ReadNotesScope::ReadNotesScope(std::vector<ReadNote>* notes) : before_(std::exchange(current_notes, notes)) {}
ReadNotesScope::~ReadNotesScope() { current_notes = before_; }

void AddReadNote(const SourcePosition& position, std::string text) {
  if (current_notes == nullptr || current_notes->size() >= kMostNotes) return;
  const bool is_known = std::any_of(current_notes->begin(), current_notes->end(), [&](const ReadNote& note) {
    return note.position.file == position.file && note.position.line == position.line;
  });
  if (!is_known) current_notes->push_back({position, std::move(text)});
}

}  // namespace cobra::python

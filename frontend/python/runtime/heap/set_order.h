// The iteration order of sets. In CPython it is the order of the hash table, which is visible for
// numbers and tuples of numbers, because their hashes are fixed; models do iterate sets of indices.
// So a set with only such items keeps CPython's table in addition to ours. Strings hash differently
// in every process of CPython, so for other sets any order is correct; ours is the order of
// insertion.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_SET_ORDER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_SET_ORDER_H_

#include <vector>

#include "frontend/python/runtime/heap/object.h"

namespace cobra::python {

// Call after a key was appended to the table, and after one was erased.
void NoteSetAdd(Heap& heap, SetObject* set, uint64_t hash, Value key);
void NoteSetErase(SetObject* set, uint64_t hash, Value key);
// Call after the keys of another set were erased: many deleted keys are then removed from the
// table.
void NoteSetDifference(Heap& heap, SetObject* set);
// Call before all items of another set (or the keys of a dict) are added: CPython then resizes at
// once.
void NoteSetMerge(Heap& heap, SetObject* into, int64_t keys);
// Whether a merge into an empty set copies the table as it is.
bool SetCopiesTable(const SetObject& into, const SetObject& from);
void CopySetTable(Heap& heap, SetObject* into, const SetObject& from);
void ClearSet(SetObject* set);
void SwapSets(SetObject* a, SetObject* b);  // their contents

// In the order of iteration.
std::vector<Value> SetItems(const SetObject& set);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_SET_ORDER_H_

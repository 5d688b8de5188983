// The order in which a set is iterated. CPython's is that of its hash table, which a program can see for numbers and
// tuples of numbers: their hashes are fixed, and models do iterate sets of indices. So a set that has nothing else
// keeps CPython's table beside ours. Strings hash differently in every process there: with anything else in a set any
// order is right, and ours is that of insertion.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_SET_ORDER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_SET_ORDER_H_

#include <vector>

#include "frontend/python/runtime/object.h"

namespace cobra::python {

// After a key was appended to the table, and after one was erased.
void NoteSetAdd(Heap& heap, SetObject* set, uint64_t hash, Value key);
void NoteSetErase(SetObject* set, uint64_t hash, Value key);
// After the keys of another set were erased: deleted keys go when there are many.
void NoteSetDifference(Heap& heap, SetObject* set);
// Before all of another set (or the keys of a dict) are added: CPython makes room at once.
void NoteSetMerge(Heap& heap, SetObject* into, int64_t keys);
// Whether a merge into an empty set copies the table as it is.
bool SetCopiesTable(const SetObject& into, const SetObject& from);
void CopySetTable(Heap& heap, SetObject* into, const SetObject& from);
void ClearSet(SetObject* set);
void SwapSets(SetObject* a, SetObject* b);  // their contents

// In the order of iteration.
std::vector<Value> SetItems(const SetObject& set);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_SET_ORDER_H_

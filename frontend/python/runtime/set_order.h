// The order in which a set is iterated. CPython's is that of its hash table, which a program can see for numbers: their hashes are
// fixed, and models do iterate sets of indices. Strings hash differently in every process there, so for anything but numbers any order is
// right, and ours is that of insertion.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_SET_ORDER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_SET_ORDER_H_

#include <vector>

#include "frontend/python/runtime/object.h"

namespace cobra::python {

// After one key was appended to the table.
void NoteSetGrowth(SetObject* set);
// Before all of another set (or the keys of a dict) are added: CPython makes room at once.
void NoteSetMerge(SetObject* into, int64_t keys);
void ClearSet(SetObject* set);
void SwapSets(SetObject* a, SetObject* b);  // their contents

// Positions in set->table, in the order of iteration.
std::vector<size_t> SetOrder(const SetObject& set);
std::vector<Value> SetItems(const SetObject& set);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_SET_ORDER_H_

// Declarations shared by the files of itertools.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_TYPES_ITERTOOLS_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_TYPES_ITERTOOLS_H_

#include "frontend/python/runtime/interpreter/native.h"

namespace cobra::python {

// A class of the module whose constructor is `make`.
void AddIteratorClass(Interpreter& interp, NativeModuleBuilder& m, absl::string_view name, NativeFunction make);
// Of the class that is being called.
Value MakeIterator(Interpreter& interp, const CallArgs& args, NativeIterator* it);

void AddFilteringIterators(Interpreter& interp, NativeModuleBuilder& m);  // itertools_filter.cc
void AddCombiningIterators(Interpreter& interp, NativeModuleBuilder& m);  // itertools_combine.cc

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_TYPES_ITERTOOLS_H_

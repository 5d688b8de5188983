// Parses the files that a program will import, on a separate thread while the program runs. Half of
// what the first request of a process costs is parsing; a second core can do most of it.
//
// The imports are predicted from the text: import statements in their order, each at once or, in
// library files, where the name is first used outside functions (import.h). Files that the
// prediction misses are parsed by the interpreter itself; extra files cost only time. The trees are
// put into the process's cache (ParseShared), where the interpreter finds them or waits for one in
// progress.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_PARSE_AHEAD_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_PARSE_AHEAD_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/runtime/interpreter/native.h"

namespace cobra::python {

class ParseAhead {
 public:
  // Starts with `modules`, dotted names of native modules or of files in the roots.
  ParseAhead(const NativeRegistry* natives, std::vector<std::shared_ptr<const FileSource>> library_roots,
             std::vector<std::string> modules);
  // Stops after the file that is being parsed.
  ~ParseAhead();
  ParseAhead(const ParseAhead&) = delete;
  ParseAhead& operator=(const ParseAhead&) = delete;

  // For tests: waits for the end and returns the files in the order of parsing.
  const std::vector<std::string>& Finish();

 private:
  const NativeRegistry* natives_;
  const std::vector<std::shared_ptr<const FileSource>> library_roots_;
  std::vector<std::string> parsed_;  // of the thread until it ends
  std::atomic<bool> stop_{false};
  std::thread thread_;

  friend class ImportWalk;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_PARSE_AHEAD_H_

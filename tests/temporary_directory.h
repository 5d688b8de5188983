#ifndef COBRA_TESTS_TEMPORARY_DIRECTORY_H_
#define COBRA_TESTS_TEMPORARY_DIRECTORY_H_

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace cobra::tests {

// A folder of its own for a test, gone afterwards.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cobra-test-XXXXXX").string();
    path_ = ::mkdtemp(&pattern[0]);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace cobra::tests

#endif  // COBRA_TESTS_TEMPORARY_DIRECTORY_H_

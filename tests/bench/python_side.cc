#include "tests/bench/python_side.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"

namespace cobra::bench {

absl::Status CheckPython(const std::vector<std::string>& packages) {
  static constexpr char kFind[] =
      "import importlib.util as u, sys; print(*[p for p in sys.argv[1:] if u.find_spec(p) is None])";
  std::vector<std::string> argv = {kPython, "-c", kFind};
  argv.insert(argv.end(), packages.begin(), packages.end());
  const absl::StatusOr<std::string> missing = RunProgram(argv);
  if (missing.ok() && missing->find_first_not_of(" \n") == std::string::npos) return absl::OkStatus();
  std::vector<std::string> wanted;
  for (const std::string& package : packages) wanted.push_back(absl::StrCat("python3-", package));
  return absl::FailedPreconditionError(absl::StrCat("the program to compare with needs ", kPython, " with ",
                                                    absl::StrJoin(packages, " and "), ": apt-get install ",
                                                    absl::StrJoin(wanted, " ")));
}

absl::StatusOr<Json> RunPython(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {kPython, absl::StrCat(COBRA_BENCH_SOURCE, "/", script)};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  COBRA_ASSIGN_OR_RETURN(const std::string output, RunProgram(argv, {.timeout = absl::Minutes(30)}));
  Json result = Json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (result.is_discarded()) return absl::InternalError(absl::StrCat(script, " printed no JSON: ", output));
  return result;
}

}  // namespace cobra::bench

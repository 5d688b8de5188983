// A check report in the formats that CI systems read.
#ifndef COBRA_CLIENT_COMPARE_CHECK_FORMATS_H_
#define COBRA_CLIENT_COMPARE_CHECK_FORMATS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/compare/check_report.h"

namespace cobra::client {

// How many modules and lines a report lists for each target, unless the user wants another number.
inline constexpr int kListedChanges = 10;

// "table" and "json" of a report; `predict` and `compare` have their own.
std::string CheckText(const CheckReport& report, int top = kListedChanges);
std::string CheckJson(const CheckReport& report);

// A comment on a pull request. Begins with a mark by which a later run can find it.
std::string CheckMarkdown(const CheckReport& report, int top = kListedChanges);
// JUnit's XML, as GitLab and Jenkins read it: a test case for each model and target.
std::string CheckJunit(const CheckReport& report);
// SARIF 2.1.0: a result for each source line that made a model slower than allowed.
std::string CheckSarif(const CheckReport& report);
// A Code Quality report, as GitLab reads it: the same results.
std::string CheckCodeQuality(const CheckReport& report);
// customSmallerIsBetter of github-action-benchmark, in milliseconds; Bencher Metric Format, in
// nanoseconds. New numbers only: both keep their own history.
std::string CheckGithubBenchmark(const CheckReport& report);
std::string CheckBencher(const CheckReport& report);

// The formats other than table and json: "markdown", "junit", "sarif", "code-quality",
// "github-benchmark", "bencher".
const std::vector<std::string>& CiFormats();
// `format`: one of CiFormats(), "table" or "json".
std::string CheckIn(absl::string_view format, const CheckReport& report, int top = kListedChanges);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_CHECK_FORMATS_H_

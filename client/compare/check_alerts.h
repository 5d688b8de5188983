// What a check has to say of single places in the source: what SARIF and code quality reports list.
#ifndef COBRA_CLIENT_COMPARE_CHECK_ALERTS_H_
#define COBRA_CLIENT_COMPARE_CHECK_ALERTS_H_

#include <array>
#include <string>
#include <vector>

#include "client/compare/check_report.h"

namespace cobra::client {

struct AlertRule {
  const char* id;
  bool is_error;  // else a warning
  const char* short_text;
  const char* full_text;
};
const std::array<const AlertRule*, 4>& AlertRules();

struct Alert {
  const AlertRule* rule;
  std::string message;
  std::string file;   // relative to the repository, if it is in it
  int line;           // at least 1: a file as a whole is shown at its first line
  std::string model;  // its name
  // Where a place has several of one rule and model: of which target.
  std::string target;
};
// In the order of models; of one, the line that costs most comes first.
std::vector<Alert> AlertsOf(const CheckReport& report);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_CHECK_ALERTS_H_

// The data sheet of a device, as --spec gives it.
#ifndef COBRA_CLIENT_ADAPT_DATA_SHEET_H_
#define COBRA_CLIENT_ADAPT_DATA_SHEET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "cobra/v1/target.pb.h"

namespace cobra::client {

// The text of a file, plain or compressed. A usage Diagnostic that begins with `flag` if it cannot
// be read, or is larger.
absl::StatusOr<std::string> ReadNamed(const char* flag, const std::string& path, int64_t most);

// `given`: a file, or the sheet itself. A usage Diagnostic for what is not a sheet, and for a field
// that is misspelled.
absl::StatusOr<v1::TargetSpec> LoadSpec(const std::string& given);

// Values that a sheet omits are assumed; they matter a lot, and are easily wrong.
std::string AssumedText(const std::string& given, const v1::TargetSpec& taken);

// Who names a device that has been measured may not know it: its own target is better than one that
// others explain.
std::string MeasuredAlreadyText(Client* client, const v1::TargetSpec& spec);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_DATA_SHEET_H_

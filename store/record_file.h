// Files of records (docs/measurements.md): JSON lines, plain, gzip or xz, as cobra-worker writes
// them or as data/measurements/pack_records.py packs them.
#ifndef COBRA_STORE_RECORD_FILE_H_
#define COBRA_STORE_RECORD_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::store {

// The lines of a file of records, each record with its graph in it. A packed record has a
// "graph_id" instead: the graph is the one with this id in the files of ../graphs, seen from the
// record's file. The numbers that stand for names in a packed "profile" become names, too. Line
// numbers stay: a line that only served the packing becomes empty. Errors begin with the file and
// the line.
absl::StatusOr<std::string> ReadRecordFile(absl::string_view path);

// The name of a graph in packed files: the first 12 hexadecimal digits of the SHA-256 of its text.
std::string GraphId(absl::string_view graph_json);

}  // namespace cobra::store

#endif  // COBRA_STORE_RECORD_FILE_H_

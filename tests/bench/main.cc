// cobra-bench NAME [--json]: runs one comparison and prints it, as a table or as one JSON object.
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"

namespace cobra::bench {
namespace {

const std::map<std::string, std::function<absl::StatusOr<Json>(const std::vector<std::string>&)>>& Benchmarks() {
  static const auto* const all =
      new std::map<std::string, std::function<absl::StatusOr<Json>(const std::vector<std::string>&)>>{{"reader", RunReader}};
  return *all;
}

void PrintTable(const Json& value, const std::string& indent) {
  for (const auto& [key, item] : value.items()) {
    if (item.is_object()) {
      std::cout << indent << key << "\n";
      PrintTable(item, indent + "  ");
    } else {
      std::printf("%s%-24s %s\n", indent.c_str(), key.c_str(), item.is_number_float() ? absl::StrCat(item.get<double>()).c_str() : item.dump().c_str());
    }
  }
}

int Main(int argc, char** argv) {
  std::string name;
  bool json = false;
  std::vector<std::string> extra;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (name.empty() && argument[0] != '-') {
      name = argument;
    } else {
      extra.push_back(argument);
    }
  }
  const auto bench = Benchmarks().find(name);
  if (bench == Benchmarks().end()) {
    std::cerr << "usage: cobra-bench NAME [--json]; NAME is one of:";
    for (const auto& [known, run] : Benchmarks()) std::cerr << " " << known;
    std::cerr << "\n";
    return 2;
  }
  const absl::StatusOr<Json> result = bench->second(extra);
  if (!result.ok()) {
    std::cerr << "cobra-bench " << name << ": " << result.status() << "\n";
    return 1;
  }
  if (result->is_null()) return 0;
  if (json) {
    std::cout << result->dump(2) << "\n";
  } else {
    PrintTable(*result, "");
  }
  return 0;
}

}  // namespace
}  // namespace cobra::bench

int main(int argc, char** argv) { return cobra::bench::Main(argc, argv); }

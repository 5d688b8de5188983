// read_architecture: reads lines "SPACE:STRING[\tINPUT...]" and prints one JSON line each, the
// graph or {"error": ...}. With --time N: reads the lines N times and prints the microseconds that
// one takes on average.
#include <chrono>
#include <iostream>
#include <vector>

#include "absl/strings/str_split.h"
#include "frontend/nas/reader.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"

namespace cobra::nas {
namespace {

int Main(int argc, char** argv) {
  std::vector<ArchitectureRequest> requests;
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> fields = absl::StrSplit(line, '\t');
    requests.push_back({fields[0], {fields.begin() + 1, fields.end()}});
  }
  if (argc == 3 && std::string(argv[1]) == "--time") {
    const int rounds = std::stoi(argv[2]);
    const auto start = std::chrono::steady_clock::now();
    int64_t nodes = 0;
    for (int i = 0; i < rounds; ++i) {
      for (const ArchitectureRequest& request : requests) nodes += ReadArchitecture(request).value().nodes().size();
    }
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    const auto networks = static_cast<double>(rounds * requests.size());
    std::cout << us / networks << " us a network, " << static_cast<double>(nodes) / networks << " calls each\n";
    return 0;
  }
  for (const ArchitectureRequest& request : requests) {
    const absl::StatusOr<graph::Graph> graph = ReadArchitecture(request);
    std::cout << (graph.ok() ? graph::GraphToJson(*graph)
                             : nlohmann::json{{"error", std::string(graph.status().message())}}.dump())
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace cobra::nas

int main(int argc, char** argv) { return cobra::nas::Main(argc, argv); }

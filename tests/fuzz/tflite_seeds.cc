// tflite_seeds FOLDER: one small file for every operator, for the fuzzer to begin with.
#include <cstdio>
#include <fstream>

#include "tests/frontend/tflite/operator_files.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: tflite_seeds FOLDER\n", stderr);
    return 2;
  }
  for (const cobra::tflite::OperatorFile& file : cobra::tflite::OperatorFiles()) {
    std::ofstream out(std::string(argv[1]) + "/" + file.name + ".tflite", std::ios::binary);
    out << file.bytes;
    if (!out.flush()) return 1;
  }
  return 0;
}

// tflite_support: prints docs/tflite_support.md's table of operators.
#include <iostream>

#include "frontend/tflite/reader.h"

int main() {
  for (const cobra::tflite::TfliteOperator& op : cobra::tflite::TfliteOperators()) {
    std::cout << "| `" << op.name << "` | " << op.calls << " | " << op.note << " |\n";
  }
}

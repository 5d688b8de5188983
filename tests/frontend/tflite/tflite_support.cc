// tflite_support: prints docs/tflite_support.md's table of operators.
#include <iostream>

#include "frontend/tflite/reader.h"

int main() {
  for (const cobra::TfliteOperator& op : cobra::TfliteOperators()) {
    std::cout << "| `" << op.name << "` | " << op.calls << " | " << op.note << " |\n";
  }
}

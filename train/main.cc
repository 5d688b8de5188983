// cobra-train without evaluation/; if evaluation/ is built, the program is evaluation/main.cc.
#include "train/program.h"
#include "train/without_evaluation.h"

int main(int argc, char** argv) {
  return cobra::train::RunCobraTrain(argc, argv, cobra::train::AddTableThatWasNotBuilt);
}

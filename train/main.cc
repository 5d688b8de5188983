// cobra-train without lab/; if lab/ is built, the program is lab/main.cc.
#include "train/program.h"
#include "train/without_lab.h"

int main(int argc, char** argv) { return cobra::train::RunCobraTrain(argc, argv, cobra::train::AddUnavailableTable); }

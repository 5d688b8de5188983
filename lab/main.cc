// cobra-train with lab/: the program of train/, and the command `table`.
#include "lab/table_command.h"
#include "train/program.h"

int main(int argc, char** argv) { return cobra::train::RunCobraTrain(argc, argv, cobra::lab::AddTable); }

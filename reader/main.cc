#include "reader/program.h"

int main(int argc, char** argv) { return cobra::reader::Main(argc, argv); }

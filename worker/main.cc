#include "worker/program.h"

int main(int argc, char** argv) { return cobra::worker::Main(argc, argv); }

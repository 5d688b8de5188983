#include "server/program.h"

int main(int argc, char** argv) { return cobra::server::Main(argc, argv); }

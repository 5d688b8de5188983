#include "client/program/program.h"

int main(int argc, char** argv) { return cobra::client::Main(argc, argv); }

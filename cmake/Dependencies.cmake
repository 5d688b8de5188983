# Every external package, in the order in which Debian 12's config files can be loaded together:
# Protobuf in module mode must come before gRPC's own config asks for it.
option(COBRA_FUZZ "Build the fuzzers (clang, preset fuzz) and nothing else" OFF)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
if(NOT COBRA_FUZZ)
  find_package(Torch REQUIRED)
  find_package(prometheus-cpp CONFIG REQUIRED)
endif()
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(ZLIB REQUIRED)
find_program(FLATC_PROGRAM flatc REQUIRED)
find_path(FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h REQUIRED)
# libonnx-dev: the messages of the ONNX format.
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
find_path(ONNX_INCLUDE_DIR onnx/onnx-ml.pb.h REQUIRED)

option(COBRA_TESTS "Build the tests" ON)
if(COBRA_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 COMPONENTS Interpreter)
  # Debian's own interpreter has python3-torch, python3-grpcio; a python3 earlier on PATH may not.
  find_program(COBRA_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# A LibTorch file needs about 1 GB to compile: below 4 GB a core, one at a time.
cmake_host_system_information(RESULT COBRA_MEMORY_MB QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT COBRA_CORES QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR COBRA_MEMORY_PER_CORE_MB "${COBRA_MEMORY_MB} / ${COBRA_CORES}")
if(COBRA_MEMORY_PER_CORE_MB LESS 4000)
  set_property(GLOBAL PROPERTY JOB_POOLS torch=1)
  set(COBRA_TORCH_JOB_POOL torch)
endif()

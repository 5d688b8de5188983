# Every external package, in the order in which Debian 12's config files can be loaded together:
# Protobuf in module mode must come before gRPC's own config asks for it.
option(COBRA_GRPC "OFF: build cobra-worker alone, without `work` (gRPC): for a device that only measures" ON)
option(COBRA_FUZZ "Build the fuzzers (clang, preset fuzz) and nothing else" OFF)
option(COBRA_TORCH "OFF: build nothing that needs LibTorch: no trainer, no lab, a worker that measures through runners"
       ON)
option(COBRA_LAB "Build lab/ (cobra-train table), which needs XGBoost" ON)
if(NOT COBRA_TORCH OR NOT EXISTS ${CMAKE_SOURCE_DIR}/lab/CMakeLists.txt) # a clone without it builds, tests and serves
  set(COBRA_LAB OFF)
endif()
find_package(Threads REQUIRED)
if(COBRA_GRPC)
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
  find_package(Eigen3 CONFIG REQUIRED)
endif()
find_package(absl CONFIG REQUIRED)
set(COBRA_TORCH_DIR ""
    CACHE PATH "An installed torch (the folder with its include/ and lib/) instead of find_package(Torch)")
if(COBRA_TORCH_DIR)
  include(cmake/InstalledTorch.cmake)
elseif(COBRA_TORCH AND NOT COBRA_FUZZ)
  find_package(Torch REQUIRED)
endif()
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
if(COBRA_GRPC)
  if(NOT COBRA_FUZZ)
    find_package(Boost 1.81 REQUIRED) # Beast and Asio, which are headers alone: server/transport/http_listener.cc
    find_package(prometheus-cpp CONFIG REQUIRED)
  endif()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
  pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
  find_package(SQLite3 REQUIRED)
  find_package(PostgreSQL REQUIRED)
  if(PostgreSQL_LIBRARY MATCHES "[.]a$") # it does not bring what it needs (preset aarch64)
    target_link_libraries(PostgreSQL::PostgreSQL INTERFACE OpenSSL::SSL)
  endif()
  find_program(FLATC_PROGRAM flatc REQUIRED)
  find_path(FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h REQUIRED)
  find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
  # libonnx-dev: the messages of the ONNX format.
  find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
  find_path(ONNX_INCLUDE_DIR onnx/onnx-ml.pb.h REQUIRED)
  if(COBRA_LAB AND NOT COBRA_FUZZ)
    # Boosted trees, which every table has a row of (lab/published).
    find_library(XGBOOST_LIBRARY xgboost REQUIRED)
    find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
  endif()
endif()

option(COBRA_TESTS "Build the tests" ON)
set(COBRA_TEST_TIMEOUT_S 900 CACHE STRING "Seconds that one test may take")
if(COBRA_TESTS AND COBRA_GRPC)
  find_package(GTest REQUIRED)
  find_package(Python3 COMPONENTS Interpreter)
endif()
if((COBRA_TESTS AND COBRA_GRPC) OR COBRA_UNITY)
  # Debian's own interpreter has python3-torch, python3-grpcio; a python3 earlier on PATH may not.
  find_program(COBRA_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Clones and work trees of this project share what is cached (paths are relative to the tree), and
  # so do files that are compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# A LibTorch file needs about 1 GB to compile: below 4 GB a core, one at a time.
cmake_host_system_information(RESULT COBRA_MEMORY_MB QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT COBRA_CORES QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR COBRA_MEMORY_PER_CORE_MB "${COBRA_MEMORY_MB} / ${COBRA_CORES}")
if(COBRA_MEMORY_PER_CORE_MB LESS 4000)
  set_property(GLOBAL PROPERTY JOB_POOLS torch=1)
  set(COBRA_TORCH_JOB_POOL torch)
endif()

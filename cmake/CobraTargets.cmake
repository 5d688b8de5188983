# cobra_library(NAME SOURCES a.cc b.cc [LINK x y] [LINK_PRIVATE z])
#   a static library with the project's warnings; headers are found from the repository root. In a
#   folder that sets COBRA_LIBRARY_HEADERS it is compiled with those (cobra_precompile).
function(cobra_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_LINK_PRIVATE})
  cobra_warnings(${name})
  if(COBRA_LIBRARY_HEADERS)
    cobra_precompiled(${name} ${COBRA_LIBRARY_HEADERS})
  endif()
endfunction()

# cobra_room(NAME SOURCES a.cc b.cc): sources of a library in a room of its folder.
function(cobra_room name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${name} PRIVATE ${arg_SOURCES})
endfunction()

# cobra_torch_library(...): cobra_library for the few targets that see LibTorch, if it is to be used: little debug
# information (all of it adds half again to the compile time), the job pool that bounds memory, and
# LibTorch's headers precompiled once for all of them.
function(cobra_torch_library name)
  if(NOT COBRA_TORCH)
    return()
  endif()
  cobra_library(${name} ${ARGN})
  cobra_use_torch(${name})
  cobra_precompiled(${name} cobra_torch_headers)
endfunction()

function(cobra_use_torch name)
  target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Release>>:-g1>)
  target_link_libraries(${name} PRIVATE ${TORCH_LIBRARIES})
  if(COBRA_TORCH_JOB_POOL)
    set_target_properties(${name} PROPERTIES JOB_POOL_COMPILE ${COBRA_TORCH_JOB_POOL})
  endif()
endfunction()

function(cobra_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  cobra_warnings(${name})
endfunction()

# cobra_test(NAME SOURCES x_test.cc LINK ... [LABELS unit|torch|e2e]): one GoogleTest binary.
# Torch-linked binaries start slowly and are registered whole; the others test by test.
function(cobra_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if("torch" IN_LIST arg_LABELS AND NOT COBRA_TORCH)
    return()
  endif()
  cobra_executable(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} GTest::gmock GTest::gtest_main)
  # GoogleTest's macros begin with a dangling else; -O3 compiles GoogleTest's many templates half
  # again as long, for nothing.
  target_compile_options(${name} PRIVATE -Wno-dangling-else $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name} PRIVATE COBRA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             COBRA_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if("torch" IN_LIST arg_LABELS)
    target_link_libraries(${name} PRIVATE ${TORCH_LIBRARIES})
    cobra_precompiled(${name} cobra_torch_test_headers)
  elseif(COBRA_TEST_HEADERS)
    cobra_precompiled(${name} ${COBRA_TEST_HEADERS})
  else()
    cobra_precompiled(${name} cobra_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${COBRA_TEST_TIMEOUT_S})
endfunction()

set(COBRA_TEST_PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} CACHE PATH "Where tests written in Python find the programs")

# cobra_python_test(NAME SCRIPT x.py [ARGS ...] [LABELS ...]): a test written in Python (Debian's
# interpreter). It exits 77 to say that what it compares with is not installed here.
function(cobra_python_test name)
  cmake_parse_arguments(arg "" "SCRIPT" "ARGS;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  add_test(NAME ${name} COMMAND ${COBRA_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT} ${arg_ARGS})
  set_tests_properties(
    ${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${COBRA_TEST_TIMEOUT_S} SKIP_RETURN_CODE 77 ENVIRONMENT
                       "COBRA_BIN=${COBRA_TEST_PROGRAMS};COBRA_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()

function(cobra_warnings name)
  target_compile_options(
    ${name}
    PRIVATE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
            # False positives of g++ 12 in StatusOr and variant.
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endfunction()

# A header that every file gets hides one that a file forgets to include: other presets do without.
option(COBRA_PRECOMPILE "Precompile the headers of LibTorch, gRPC and GoogleTest" OFF)

# cobra_precompile(NAME library|test LINK x y HEADERS <a.h> <b.h>): headers that libraries, or tests,
# share precompiled (cobra_precompiled). A header is precompiled for libraries or for programs, and
# for one level of optimisation.
function(cobra_precompile name kind)
  cmake_parse_arguments(arg "" "" "LINK;HEADERS" ${ARGN})
  if(NOT COBRA_PRECOMPILE)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/generated/${name}.cc)
  if(kind STREQUAL "test")
    file(GENERATE OUTPUT ${source} CONTENT "int main() {}\n")
    cobra_executable(${name} SOURCES ${source} LINK ${arg_LINK} GTest::gmock)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated) # nobody runs it
    target_compile_options(${name} PRIVATE -Wno-dangling-else $<$<CONFIG:Release>:-O1>)
    list(APPEND arg_HEADERS <gmock/gmock.h> <gtest/gtest.h>)
  else()
    file(GENERATE OUTPUT ${source} CONTENT "")
    cobra_library(${name} SOURCES ${source} LINK ${arg_LINK})
  endif()
  target_compile_options(${name} PRIVATE -pthread $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS} <absl/status/statusor.h> <absl/strings/str_cat.h>
                            <absl/time/time.h>)
endfunction()

function(cobra_precompiled name headers)
  if(COBRA_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM ${headers})
    target_compile_options(${name} PRIVATE -pthread $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # ccache wants it
  endif()
endfunction()

set(torch_headers <torch/types.h> <torch/nn/module.h> <torch/nn/modules/linear.h>)
if(COBRA_TORCH)
  cobra_precompile(cobra_torch_headers library HEADERS ${torch_headers})
  if(COBRA_PRECOMPILE)
    cobra_use_torch(cobra_torch_headers)
  endif()
endif()
if(COBRA_TESTS AND COBRA_GRPC)
  cobra_precompile(cobra_test_headers test)
endif()
if(COBRA_TESTS AND COBRA_GRPC AND COBRA_TORCH)
  cobra_precompile(cobra_torch_test_headers test LINK ${TORCH_LIBRARIES} HEADERS ${torch_headers})
endif()

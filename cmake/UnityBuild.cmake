# A clean build spends most of its time on reading headers. With COBRA_UNITY up to eight sources of
# a target are compiled as one, if they define different names (cmake/unity_groups.py). Presets for
# development go without: there a change compiles one source, and a source that forgets an include
# is found.
option(COBRA_UNITY "Compile several sources as one" OFF)

function(cobra_targets_below folder found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    cobra_targets_below(${below} more)
    list(APPEND targets ${more})
  endforeach()
  set(${found} "${targets}" PARENT_SCOPE)
endfunction()

# After all targets.
function(cobra_unite)
  if(NOT COBRA_UNITY)
    return()
  endif()
  cobra_targets_below(${PROJECT_SOURCE_DIR} targets)
  set(table "")
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    if(NOT type MATCHES "STATIC_LIBRARY|EXECUTABLE" OR NOT sources)
      continue()
    endif()
    foreach(source ${sources})
      get_filename_component(path ${source} ABSOLUTE BASE_DIR ${folder})
      string(FIND "${path}" "${CMAKE_BINARY_DIR}/" generated) # not a pattern: a folder may be named c++
      if(path MATCHES "\\.cc$" AND NOT generated EQUAL 0)
        string(APPEND table "${target};${path}\n")
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # g++ takes a source that is included for a header that others include as well.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endforeach()
  set(asked ${CMAKE_BINARY_DIR}/generated/unity_targets.txt)
  file(WRITE ${asked} "${table}")
  execute_process(
    COMMAND ${COBRA_PYTHON3} ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py ${asked}
            ${CMAKE_BINARY_DIR}/generated/unity_names.json OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" " " lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line ${lines})
    string(REGEX MATCH "^(.*) (.*)_([0-9]+)$" matched "${line}")
    set_source_files_properties(${CMAKE_MATCH_1} TARGET_DIRECTORY ${CMAKE_MATCH_2}
                                PROPERTIES UNITY_GROUP ${CMAKE_MATCH_2}_${CMAKE_MATCH_3})
  endforeach()
endfunction()

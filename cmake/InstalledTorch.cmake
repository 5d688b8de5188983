# LibTorch out of a Python package, with CUDA where the package has it. Its own TorchConfig.cmake
# asks for the whole CUDA toolkit as soon as the package has CUDA; the worker includes none of
# CUDA's headers and needs nothing but the libraries.
set(cobra_torch_files)
foreach(name torch torch_cpu c10 torch_cuda c10_cuda) # the last two may be missing
  unset(cobra_torch_file)
  unset(cobra_torch_file CACHE)
  find_library(cobra_torch_file ${name} PATHS ${COBRA_TORCH_DIR}/lib NO_DEFAULT_PATH)
  if(cobra_torch_file)
    list(APPEND cobra_torch_files ${cobra_torch_file})
  elseif(NOT name MATCHES cuda)
    message(FATAL_ERROR "COBRA_TORCH_DIR ${COBRA_TORCH_DIR}: has no lib/lib${name}.so")
  endif()
endforeach()
add_library(cobra_installed_torch INTERFACE)
target_include_directories(cobra_installed_torch SYSTEM INTERFACE ${COBRA_TORCH_DIR}/include
                                                                  ${COBRA_TORCH_DIR}/include/torch/csrc/api/include)
# Nobody calls libtorch_cuda.so by name: it registers itself when it is loaded. What it needs itself
# it finds by its own run path.
list(JOIN cobra_torch_files "," cobra_torch_files)
target_link_libraries(cobra_installed_torch INTERFACE "-Wl,--no-as-needed,${cobra_torch_files},--as-needed"
                                                      -Wl,--unresolved-symbols=ignore-in-shared-libs)
set(TORCH_LIBRARIES cobra_installed_torch)
list(APPEND CMAKE_BUILD_RPATH ${COBRA_TORCH_DIR}/lib)

# cobra_embed_python(FOLDER OUTPUT FUNCTION HEADER)
#   writes OUTPUT, a C++ file with the text of every Python file below FOLDER. It defines
#   absl::Span<const EmbeddedModule> FUNCTION(), which HEADER declares. A module's name follows from
#   its path, as in Python: torch/nn/parameter.py is torch.nn.parameter, torch/nn/__init__.py is
#   torch.nn. To add a module, add its file.
function(cobra_embed_python folder output function header)
  file(GLOB_RECURSE paths RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.py)
  set(entries "")
  foreach(path ${paths})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${path})
    file(READ ${folder}/${path} text)
    string(REGEX REPLACE "(/__init__)?\\.py$" "" name ${path})
    string(REPLACE "/" "." name ${name})
    string(APPEND entries "      {\"${name}\", R\"COBRA(${text})COBRA\"},\n")
  endforeach()
  file(
    GENERATE
    OUTPUT ${output}
    CONTENT
      "#include \"${header}\"
namespace cobra::python {
absl::Span<const EmbeddedModule> ${function}() {
  static constexpr EmbeddedModule kModules[] = {
${entries}  };
  return kModules;
}
}  // namespace cobra::python
")
endfunction()

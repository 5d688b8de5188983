# cobra_embed_files(OUTPUT FUNCTION HEADER FILES...)
#   writes OUTPUT when the program is built, a C++ file with the bytes of FILES. It defines
#   absl::Span<const EmbeddedFile> FUNCTION(), which HEADER declares in cobra::http. The name of a
#   file is the last part of its path.
# This file is also the script that writes it: cmake -DOUTPUT=... -DFUNCTION=... -DHEADER=...
# -DFILES=a,b -P EmbedFiles.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(COBRA_EMBED_FILES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(cobra_embed_files output function header)
    list(JOIN ARGN "," files)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} -DHEADER=${header} -DFILES=${files} -P
              ${COBRA_EMBED_FILES_SCRIPT}
      DEPENDS ${ARGN} ${COBRA_EMBED_FILES_SCRIPT}
      COMMENT "Embedding files in ${function}()"
      VERBATIM)
  endfunction()
  return()
endif()

string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(entries "")
foreach(path ${files})
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER "k_${name}" array)
  string(APPEND arrays "constexpr unsigned char ${array}[] = {${bytes}};\n")
  string(APPEND entries "      {\"${name}\", {reinterpret_cast<const char*>(${array}), sizeof(${array})}},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "#include \"${HEADER}\"
namespace cobra::http {
namespace {
${arrays}}  // namespace
absl::Span<const EmbeddedFile> ${FUNCTION}() {
  static const EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}
}  // namespace cobra::http
")

# `cmake --install` and the Debian package (cpack): programs, and beside them what
# base/file/data_path.h looks for.
include(GNUInstallDirs)
set(cobra_programs cobra-client cobra-server cobra-reader cobra-worker)
if(COBRA_TORCH)
  list(APPEND cobra_programs cobra-train)
endif()
install(TARGETS ${cobra_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(cobra_share ${CMAKE_INSTALL_DATADIR}/cobra)
install(DIRECTORY model/pretrained DESTINATION ${cobra_share}/model)
install(DIRECTORY data/devices data/layers data/lists data/networks DESTINATION ${cobra_share}/data)
install(
  DIRECTORY worker/runners
  DESTINATION ${cobra_share}/worker
  FILES_MATCHING
  PATTERN "*.py"
  PATTERN "requirements.txt")
install(
  DIRECTORY proto/cobra
  DESTINATION ${cobra_share}/proto
  FILES_MATCHING
  PATTERN "*.proto")
# As in the source tree, so that the links between the pages lead somewhere.
install(
  DIRECTORY docs examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN "*.jsonl" EXCLUDE
  PATTERN "__pycache__" EXCLUDE)
install(
  DIRECTORY lab/results
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/lab
  OPTIONAL
  PATTERN "*.jsonl*" EXCLUDE)
install(FILES lab/tables.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/lab OPTIONAL)
install(FILES README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
# The service is that of the package, whose paths it names.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
configure_file(deploy/cobra-server.service.in ${CMAKE_BINARY_DIR}/generated/cobra-server.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/cobra-server.service DESTINATION lib/systemd/system)

# What the programs say of themselves: completion for three shells and, where help2man is installed,
# man pages.
find_program(HELP2MAN_PROGRAM help2man)
set(cobra_self ${CMAKE_BINARY_DIR}/self)
add_custom_command(
  OUTPUT ${cobra_self}/complete
  COMMAND ${CMAKE_SOURCE_DIR}/cmake/describe_programs.sh ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${cobra_self}
          "${HELP2MAN_PROGRAM}" ${cobra_programs}
  DEPENDS ${cobra_programs} ${CMAKE_SOURCE_DIR}/cmake/describe_programs.sh
  COMMENT "Man pages and completions"
  VERBATIM)
set(cobra_in_all ALL)
if(CMAKE_CROSSCOMPILING) # the programs do not run here
  set(cobra_in_all)
endif()
add_custom_target(cobra_self_description ${cobra_in_all} DEPENDS ${cobra_self}/complete)
install(FILES ${cobra_self}/target_cards.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY ${cobra_self}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(DIRECTORY ${cobra_self}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${cobra_self}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(DIRECTORY ${cobra_self}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cobra)
set(CPACK_PACKAGE_CONTACT "The COBRA authors <cobra@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts how long a neural network takes on a device")
set(CPACK_PACKAGE_DESCRIPTION
    "cobra-client answers for a PyTorch source, an ONNX, TFLite or ncnn file, or an architecture of a search space: latency with an interval, "
    "the share of each layer, memory. It starts a server of its own where none runs; cobra-server.service is one for a network."
)
string(JOIN "" CPACK_PACKAGE_DESCRIPTION ${CPACK_PACKAGE_DESCRIPTION})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The reference BLAS that LibTorch pulls in by default is about 30 times slower than OpenBLAS.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libopenblas0-pthread")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "git, python3-torchvision") # cobra-client diff; real models to read, no Python runs
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "haproxy, postgresql, prometheus")
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
# Without what is for programmers (cmake/Package.cmake).
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};${PROJECT_NAME};Unspecified;/")
include(CPack)

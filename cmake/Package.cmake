# find_package(cobra): the client library for other CMake projects (cmake --install; not in the
# Debian package).
include(CMakePackageConfigHelpers)
set(cobra_headers ${CMAKE_INSTALL_INCLUDEDIR}/cobra)
set(cobra_package ${CMAKE_INSTALL_LIBDIR}/cmake/cobra)
set(cobra_client_libraries cobra_client cobra_client_terminal cobra_grpc cobra_proto cobra_services cobra_messages
                           cobra_graph cobra_base)
foreach(library ${cobra_client_libraries})
  # <cobra/client.h>, and what it includes by the names that it has in the tree.
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                                  $<INSTALL_INTERFACE:${cobra_headers}>)
endforeach()
set_target_properties(cobra_client PROPERTIES EXPORT_NAME client)
install(TARGETS ${cobra_client_libraries} EXPORT cobra ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/cobra
                                                               COMPONENT development)
install(
  EXPORT cobra
  NAMESPACE cobra::
  DESTINATION ${cobra_package}
  COMPONENT development)
install(
  FILES client/cobra.h
  DESTINATION ${cobra_headers}
  RENAME client.h
  COMPONENT development)
install(FILES client/client.h client/many_requests.h client/retry.h DESTINATION ${cobra_headers}/client
        COMPONENT development)
install(FILES base/connection_files.h base/retry_delay.h DESTINATION ${cobra_headers}/base COMPONENT development)
install(
  DIRECTORY ${CMAKE_BINARY_DIR}/proto/cobra/v1
  DESTINATION ${cobra_headers}/cobra
  COMPONENT development
  FILES_MATCHING
  PATTERN "*.pb.h")
configure_package_config_file(cmake/cobra-config.cmake.in ${CMAKE_BINARY_DIR}/generated/cobra-config.cmake
                              INSTALL_DESTINATION ${cobra_package})
# Before 1.0 a minor version may change an interface (CHANGELOG.md).
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/cobra-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/cobra-config.cmake ${CMAKE_BINARY_DIR}/generated/cobra-config-version.cmake
        DESTINATION ${cobra_package} COMPONENT development)

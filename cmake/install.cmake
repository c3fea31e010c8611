# Installs the command line, the library with its header, and the packages for CMake and pkg-config. Needs the targets
# secequiv and libsecequiv.
include(CMakePackageConfigHelpers)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/secequiv)
set_target_properties(secequiv PROPERTIES EXPORT_NAME cli)
install(TARGETS secequiv libsecequiv EXPORT secequivTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT secequivTargets NAMESPACE secequiv:: DESTINATION ${_package})
install(FILES api/c/secequiv.h harness/adapter/secequiv_normal_form.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(api/cmake/secequivConfig.cmake.in secequivConfig.cmake INSTALL_DESTINATION ${_package}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(secequivConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/secequivConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/secequivConfigVersion.cmake
              api/cmake/secequivFunctions.cmake api/cmake/secequivToFile.cmake
        DESTINATION ${_package})

# The path from secequiv.pc to the prefix is relative, so the installation can be moved.
string(REGEX REPLACE "[^/]+" ".." pc_up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(api/cmake/secequiv.pc.in secequiv.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/secequiv.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Installs the schemas as --print-schema prints them: each includes the schemas to which it refers, so a validator needs only one file.
set(_schemas ${CMAKE_CURRENT_BINARY_DIR}/schemas)
install(CODE "
  execute_process(COMMAND $<TARGET_FILE:secequiv> --print-schema OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL \"[^\\n]+\" names \"\${names}\")
  file(REMOVE_RECURSE ${_schemas})
  file(MAKE_DIRECTORY ${_schemas})
  foreach(name IN LISTS names)
    execute_process(COMMAND $<TARGET_FILE:secequiv> --print-schema \${name} OUTPUT_FILE ${_schemas}/\${name}.schema.json
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY ${_schemas}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/secequiv/schemas)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

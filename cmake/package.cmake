# `cmake --build build/release --target package` makes a Debian package of the installed files. dpkg-shlibdeps (package
# dpkg-dev) finds its dependencies. scripts/package builds the package and inspects it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME secequiv)
set(CPACK_PACKAGE_CONTACT "The secequiv authors")
set(CPACK_PACKAGE_HOMEPAGE_URL https://github.com/secequiv/secequiv)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "do two seccomp filters make the same decision for every call?")
set(CPACK_PACKAGE_DESCRIPTION "Proves two seccomp filters equivalent over all inputs or shows an input on which they differ,
fuzzes and measures filter compilers and optimizers. With the library libsecequiv, its header and a CMake package.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# dpkg-shlibdeps does not see libbpf, which the command line loads only to read the kernel's bitmap. Debian names it after its soname.
if(BPF_LIBRARY)
  secequiv_soname(${BPF_LIBRARY} libbpf.so.1 libbpf)
  string(REPLACE ".so." "" CPACK_DEBIAN_PACKAGE_DEPENDS ${libbpf})
endif()
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)

# The package contains man pages and completions, so every build makes them.
add_custom_target(secequiv_documented ALL)
add_dependencies(secequiv_documented secequiv_docs)

# Libraries of portable builds that are compiled here: CaDiCaL from SECEQUIV_CADICAL (its sources), and SHA-256 from Zig's standard library
# under the name that libmd gives it. scripts/wheel sets the variables.

file(GLOB sources ${SECEQUIV_CADICAL}/src/*.cpp)
list(FILTER sources EXCLUDE REGEX "/(cadical|mobical|ccadical|ipasir)\\.cpp$") # programs and other interfaces
file(STRINGS ${SECEQUIV_CADICAL}/VERSION cadical_version)
add_library(secequiv_cadical STATIC ${sources})
target_compile_definitions(secequiv_cadical PRIVATE NBUILD NUNLOCKED NTRACING VERSION="${cadical_version}")
set_source_files_properties(${SECEQUIV_CADICAL}/src/version.cpp PROPERTIES COMPILE_DEFINITIONS "DATE=\"\"") # builds are reproducible
set(CADICAL_INCLUDE_DIR ${SECEQUIV_CADICAL}/src)
set(CADICAL_LIBRARY secequiv_cadical)

set(MD_LIBRARY ${CMAKE_CURRENT_BINARY_DIR}/libsha256.a)
set(sha256 ${PROJECT_SOURCE_DIR}/verify/certificate/sha256.zig)
add_custom_command(OUTPUT ${MD_LIBRARY}
  COMMAND ${SECEQUIV_ZIG} build-lib -target ${SECEQUIV_TARGET} -mcpu baseline -fPIC -O ReleaseFast -fstrip -femit-bin=${MD_LIBRARY}
    --cache-dir ${CMAKE_BINARY_DIR}/zig-cache ${sha256}
  DEPENDS ${sha256})
add_custom_target(secequiv_sha256 DEPENDS ${MD_LIBRARY})

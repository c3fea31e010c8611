# Toolchain of scripts/wheel: Zig's clang for SECEQUIV_TARGET (aarch64-linux-gnu.2.17), with the program SECEQUIV_ZIG. It links Zig's C++
# library statically. SECEQUIV_FOREIGN is a folder with usr/include that has headers of foreign libraries, but none of this machine's C library.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SECEQUIV_TARGET SECEQUIV_ZIG SECEQUIV_FOREIGN)
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${SECEQUIV_TARGET})
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-target ${SECEQUIV_TARGET}")
  # Small downloads: optimize for size, and drop symbols and unused functions. secequiv_hot() marks the targets that are compiled for speed.
  # FORCE: otherwise a build folder keeps its old flags.
  set(CMAKE_${language}_FLAGS_RELEASE "-Os -DNDEBUG -ffunction-sections -fdata-sections" CACHE STRING "" FORCE)
  # The archiver of this machine may not know the target.
  set(CMAKE_${language}_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "<CMAKE_AR> ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "<CMAKE_AR> ranlib <TARGET>")
endforeach()
set(CMAKE_C_COMPILER ${SECEQUIV_ZIG} cc)
set(CMAKE_CXX_COMPILER ${SECEQUIV_ZIG} c++)
set(CMAKE_AR ${SECEQUIV_ZIG} CACHE FILEPATH "")
foreach(kind EXE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_RELEASE_INIT "-s -Wl,--gc-sections")
endforeach()
set(CMAKE_FIND_ROOT_PATH ${SECEQUIV_FOREIGN})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# Zig's clang makes no precompiled headers.
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)

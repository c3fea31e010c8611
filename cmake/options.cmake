# Compiler flags, and the functions that declare the targets of this project.

add_library(secequiv_options INTERFACE)
target_include_directories(secequiv_options INTERFACE ${PROJECT_SOURCE_DIR})
if(SECEQUIV_FUZZING_ENGINE)
  # A fuzzing service chooses compiler, sanitizer and instrumentation; a newer compiler's warnings must not stop it.
  set(SECEQUIV_FUZZ ON)
  set(SECEQUIV_UNITY ON)
else()
  target_compile_options(secequiv_options INTERFACE -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Wconversion)
  # Releases do not contain the path where they were built (scripts/check_reproducible).
  target_compile_options(secequiv_options INTERFACE $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
endif()

if(SECEQUIV_SANITIZE)
  set(_sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_compile_options(secequiv_options INTERFACE ${_sanitize})
  target_link_options(secequiv_options INTERFACE ${_sanitize})
endif()
if(SECEQUIV_FUZZ AND NOT SECEQUIV_FUZZING_ENGINE)
  target_compile_options(secequiv_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# secequiv_together(name): with SECEQUIV_UNITY, compiles several sources of a target at once, because headers take most of the time.
# Generated sources are compiled alone: clang-tidy reads the others before these exist.
function(secequiv_together name)
  if(SECEQUIV_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    get_target_property(sources ${name} SOURCES)
    list(FILTER sources INCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# secequiv_library(name FOLDERS ... EXCEPT ... SOURCES ... LINKS ...): makes a static library of SOURCES and of every .cc file in FOLDERS,
# except tests and EXCEPT. LINKS are the libraries that ARCHITECTURE.md allows. Paths are relative to the current folder.
function(secequiv_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;EXCEPT;SOURCES;LINKS")
  set(sources ${arg_SOURCES})
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.cc)
    list(FILTER found EXCLUDE REGEX "_test\\.cc$")
    list(APPEND sources ${found})
  endforeach()
  list(REMOVE_DUPLICATES sources)
  if(arg_EXCEPT)
    list(REMOVE_ITEM sources ${arg_EXCEPT})
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC secequiv_options ${arg_LINKS})
  secequiv_together(${name})
endfunction()

# secequiv_thin(name ...): marks targets that execute little code of their own, for instance because they consist mostly of foreign
# templates (CLI11, JSON, GoogleTest). In builds that are only tested (SECEQUIV_QUICK), optimizing them would take longer than running them.
function(secequiv_thin)
  if(SECEQUIV_QUICK)
    foreach(name IN LISTS ARGN)
      target_compile_options(${name} PRIVATE -O0)
    endforeach()
  endif()
endfunction()

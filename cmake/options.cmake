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
  # -ffunction-sections lets the linker leave out and order functions (cli/CMakeLists.txt).
  target_compile_options(secequiv_options INTERFACE $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=> $<$<CONFIG:Release>:-ffunction-sections>)
endif()

# lld links in a fifth of the time that GNU ld takes. Our scripts install it. A build by hand works without it, but its release starts more
# slowly (cli/CMakeLists.txt).
set(SECEQUIV_LLD_USED OFF)
if(SECEQUIV_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT SECEQUIV_FUZZING_ENGINE AND NOT SECEQUIV_PORTABLE
   AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld SECEQUIV_LLD_FOUND)
  set(SECEQUIV_LLD_USED ${SECEQUIV_LLD_FOUND})
endif()
if(SECEQUIV_LLD_USED)
  add_link_options($<$<LINK_LANG_AND_ID:CXX,Clang>:-fuse-ld=lld>)
endif()

if(SECEQUIV_WASM)
  # Foreign headers must neither throw nor bring streams and locales.
  target_compile_definitions(secequiv_options INTERFACE SECEQUIV_WASM JSON_NOEXCEPTION JSON_NO_IO FMT_EXCEPTIONS=0 FMT_STATIC_THOUSANDS_SEPARATOR=',' BOOST_NO_EXCEPTIONS BOOST_LEXICAL_CAST_ASSUME_C_LOCALE)
  target_compile_options(secequiv_options INTERFACE -Wno-shorten-64-to-32)
endif()
if(SECEQUIV_SANITIZE)
  set(_sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_compile_options(secequiv_options INTERFACE ${_sanitize})
  target_link_options(secequiv_options INTERFACE ${_sanitize})
endif()
if(SECEQUIV_FUZZ AND NOT SECEQUIV_FUZZING_ENGINE)
  target_compile_options(secequiv_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Fuzz targets and portable builds use only fmt's headers, because they also run on machines without its shared library.
if(SECEQUIV_FUZZ OR SECEQUIV_PORTABLE)
  set(SECEQUIV_FMT fmt::fmt-header-only)
else()
  set(SECEQUIV_FMT fmt::fmt)
endif()

# The level of optimization for the targets that secequiv_thin names. A fuzzing service chooses its own; portable builds are small (secequiv_hot).
if(SECEQUIV_QUICK)
  set(_thin -O0)
elseif(NOT SECEQUIV_FUZZING_ENGINE AND NOT SECEQUIV_PORTABLE)
  set(_thin -O1)
endif()

# secequiv_together(name): with SECEQUIV_UNITY, compiles several sources of a target at once, because headers take most of the time.
# Generated sources are compiled alone, because clang-tidy reads the other sources before the generated ones exist.
function(secequiv_together name)
  if(SECEQUIV_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 64)
    get_target_property(sources ${name} SOURCES)
    list(FILTER sources INCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# With SECEQUIV_UNITY, all libraries share these headers, which are parsed once for each level of optimization. In other
# builds, libraries share no headers, so that the compiler finds missing includes.
set(SECEQUIV_HEADERS)
if(SECEQUIV_UNITY)
  set(SECEQUIV_HEADERS <algorithm> <array> <filesystem> <functional> <map> <memory> <optional> <random> <set> <span> <string> <string_view> <thread>
    <unordered_map> <unordered_set> <variant> <vector> <fmt/ranges.h> <nlohmann/json.hpp>)
  if(SECEQUIV_WASM)
    list(REMOVE_ITEM SECEQUIV_HEADERS <filesystem> <thread>)
  endif()
  file(CONFIGURE OUTPUT headers.cc CONTENT "")
  foreach(name secequiv_common secequiv_common_thin)
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/headers.cc)
    target_link_libraries(${name} PRIVATE secequiv_options ${SECEQUIV_FMT} nlohmann_json::nlohmann_json)
    target_precompile_headers(${name} PRIVATE ${SECEQUIV_HEADERS})
  endforeach()
  target_compile_options(secequiv_common_thin PRIVATE ${_thin})
endif()

include(${CMAKE_CURRENT_LIST_DIR}/absent.cmake)

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
  secequiv_choose(sources)
  if(arg_EXCEPT)
    list(REMOVE_ITEM sources ${arg_EXCEPT})
  endif()
  if(NOT sources) # the WebAssembly module needs none of them
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE secequiv_options ${arg_LINKS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC secequiv_options ${arg_LINKS})
  secequiv_together(${name})
  if(SECEQUIV_HEADERS)
    target_precompile_headers(${name} REUSE_FROM secequiv_common)
  endif()
endfunction()

# secequiv_thin(name ...): marks targets that execute little code of their own, for instance because they consist mostly of foreign
# templates (CLI11, JSON, GoogleTest). Optimizing them would take longer than running them.
function(secequiv_thin)
  foreach(name IN LISTS ARGN)
    get_target_property(type ${name} TYPE)
    if(SECEQUIV_WASM OR type STREQUAL INTERFACE_LIBRARY)
      continue()
    endif()
    target_compile_options(${name} PRIVATE ${_thin})
    set_target_properties(${name} PROPERTIES SECEQUIV_THIN ON)
    get_target_property(shared ${name} PRECOMPILE_HEADERS_REUSE_FROM)
    if(shared)
      set_target_properties(${name} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM secequiv_common_thin)
    endif()
  endforeach()
endfunction()

# secequiv_link_optimized_first(name): links optimized libraries, then those that secequiv_thin named, then the executable's own objects. If
# several objects define an inline function, for instance a member of std::string, the linker takes the first one. A definition from an object
# that is not optimized would make the libraries several times slower. Only Ninja keeps this order.
function(secequiv_link_optimized_first name)
  set(found)
  set(open ${name})
  while(open)
    list(POP_FRONT open next)
    get_target_property(links ${next} LINK_LIBRARIES)
    foreach(link IN LISTS links)
      if(link MATCHES "^secequiv_" AND TARGET ${link} AND NOT link IN_LIST found)
        list(APPEND found ${link})
        list(APPEND open ${link})
      endif()
    endforeach()
  endwhile()
  set(optimized)
  set(thin)
  foreach(library IN LISTS found)
    get_target_property(type ${library} TYPE)
    get_target_property(is_thin ${library} SECEQUIV_THIN)
    if(type STREQUAL STATIC_LIBRARY AND is_thin)
      list(APPEND thin $<TARGET_OBJECTS:${library}>)
    elseif(type STREQUAL STATIC_LIBRARY)
      list(APPEND optimized $<TARGET_OBJECTS:${library}>)
    endif()
  endforeach()
  target_sources(${name} PRIVATE ${optimized} ${thin})
endfunction()

# secequiv_hot(name ...): marks targets that take most of the time of proofs and of fuzzing. Portable builds compile them for speed, and
# everything else for size.
function(secequiv_hot)
  foreach(name IN LISTS ARGN)
    if(SECEQUIV_PORTABLE AND NOT SECEQUIV_WASM)
      target_compile_options(${name} PRIVATE -O2)
    endif()
  endforeach()
endfunction()

# Foreign libraries that every build needs. verify/CMakeLists.txt finds Z3 and GMP.

# secequiv_headers(target header): defines an imported target for a library that is used only as headers.
function(secequiv_headers target header)
  string(MAKE_C_IDENTIFIER "SECEQUIV_${target}_HEADERS" variable)
  find_path(${variable} ${header} REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${${variable}})
endfunction()

if(SECEQUIV_FUZZING_ENGINE OR SECEQUIV_PORTABLE)
  # The packages' own CMake files refuse builds for another architecture (-m32, aarch64), although their headers support them.
  secequiv_headers(fmt::fmt-header-only fmt/format.h)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  secequiv_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp)
else()
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(SECEQUIV_PORTABLE)
  if(NOT SECEQUIV_WASM)
    secequiv_headers(CLI11::CLI11 CLI/CLI.hpp)
  endif()
  secequiv_headers(secequiv_boost boost/multiprecision/cpp_int.hpp)
  target_compile_definitions(secequiv_boost INTERFACE SECEQUIV_BOOST BOOST_NO_CXX98_FUNCTION_BASE) # C++20 has no std::unary_function
endif()

# secequiv_part(target definition variable): describes how `target` has a foreign library that its `definition` names.
function(secequiv_part target definition variable)
  get_target_property(definitions ${target} COMPILE_DEFINITIONS)
  if(definitions MATCHES "${definition}=\"([^\"]+)\"")
    set(${variable} "loads ${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(definitions MATCHES "${definition}")
    set(${variable} "built in" PARENT_SCOPE)
  else()
    set(${variable} "not in this build" PARENT_SCOPE)
  endif()
endfunction()

# secequiv_soname(library portable variable): stores the name by which programs load a shared library that is not linked (harness/base/loaded.h).
# Portable builds do not look at the library of this machine, and take the name `portable`.
function(secequiv_soname library portable variable)
  if(SECEQUIV_PORTABLE)
    set(${variable} ${portable} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is not a shared library")
  endif()
  set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# Foreign libraries that every build needs. verify/CMakeLists.txt finds Z3 and GMP.

# secequiv_headers(target header): defines an imported target for a library that is used only as headers.
function(secequiv_headers target header)
  string(MAKE_C_IDENTIFIER "SECEQUIV_${target}_HEADERS" variable)
  find_path(${variable} ${header} REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${${variable}})
endfunction()

if(SECEQUIV_FUZZING_ENGINE)
  # The packages' own CMake files refuse builds for another architecture (-m32), although their headers support them.
  secequiv_headers(fmt::fmt-header-only fmt/format.h)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  secequiv_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp)
else()
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()

# secequiv_soname(library variable): stores the name by which programs load a shared library that is not linked (harness/base/loaded.h).
function(secequiv_soname library variable)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is not a shared library")
  endif()
  set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# Foreign libraries that every build needs. verify, which uses Z3 and GMP, finds these itself.

# secequiv_headers(target header): an imported target for a library of which only headers are used.
function(secequiv_headers target header)
  string(MAKE_C_IDENTIFIER "SECEQUIV_${target}_HEADERS" variable)
  find_path(${variable} ${header} REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${${variable}})
endfunction()

if(SECEQUIV_FUZZING_ENGINE)
  # The packages' own files refuse builds for another architecture (-m32), although headers work for all.
  secequiv_headers(fmt::fmt-header-only fmt/format.h)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  secequiv_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp)
else()
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()

# Registers one ctest test for each test_*.py file, one for the layer check and one for the format check. Needs enable_testing().

# Finds a Python that can run the tests. It tries the distribution's Python first, because that most likely has the packages.
function(_secequiv_find_python result)
  string(REPLACE ":" ";" folders "/usr/bin:$ENV{PATH}")
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    set(python ${folder}/python3)
    if(NOT EXISTS ${python})
      continue()
    endif()
    execute_process(COMMAND ${python} -c "import pytest, jsonschema" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${result} ${python} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "No python3 with pytest and jsonschema on PATH. "
                      "Debian and Ubuntu: apt-get install python3 python3-pytest python3-jsonschema")
endfunction()

if(NOT SECEQUIV_PYTHON)
  _secequiv_find_python(_python)
  set(SECEQUIV_PYTHON ${_python} CACHE FILEPATH "Python with pytest and jsonschema")
endif()

set(_environment "PYTHONDONTWRITEBYTECODE=1;SECEQUIV_OUTCOMES=${CMAKE_BINARY_DIR}/outcomes${_sanitizer}")
if(SECEQUIV_Z3)
  list(APPEND _environment SECEQUIV_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
endif()
if(SECEQUIV_FULL_TESTS)
  list(APPEND _environment SECEQUIV_FULL_TESTS=1)
endif()

set(_patterns)
foreach(_top IN ITEMS scripts corpus docs harness adapters verify fuzz analyze cli ci api play bench)
  list(APPEND _patterns ${PROJECT_SOURCE_DIR}/${_top}/test_*.py)
endforeach()
file(GLOB_RECURSE _files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${_patterns})
if(NOT _files)
  message(FATAL_ERROR "No test_*.py found under ${PROJECT_SOURCE_DIR}")
endif()
# Each file is one test, so that ctest can run several at once.
foreach(_file IN LISTS _files)
  # scripts/naive/tests/test_naive.py is called pytest.scripts.naive.naive.
  string(REGEX REPLACE "/tests/test_(.*)\\.py$" "/\\1" _name ${_file})
  string(REPLACE "/" "." _name pytest.${_name})
  add_test(NAME ${_name} COMMAND ${SECEQUIV_PYTHON} -m pytest -q ${_file}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # Under the sanitizers, only files with the comment below run: those that give our C++ code inputs of every kind.
  file(STRINGS ${PROJECT_SOURCE_DIR}/${_file} _runs_in_asan REGEX "^# This test also runs in the preset asan\\.$")
  set(_labels pytest)
  if(NOT _runs_in_asan)
    list(APPEND _labels not-asan)
  endif()
  # Tests that need more than our compilers and Debian's libraries name it: "# Annex: go". scripts/test without options leaves them out.
  file(STRINGS ${PROJECT_SOURCE_DIR}/${_file} _annex REGEX "^# Annex: ")
  if(_annex)
    string(REPLACE "# Annex: " "" _annex "${_annex}")
    list(APPEND _labels annex ${_annex})
  endif()
  set_tests_properties(${_name} PROPERTIES ENVIRONMENT "${_environment}" LABELS "${_labels}")
  # The longest files start first. Otherwise one of them would run alone at the end.
  if(_name MATCHES "\\.(cli_(certificate|certificate_checkers|check|errors|fuzz|fuzz_pair|kernel|mutants|page|page_browser|random|reach|streams|terminal)|compilers|docs|builds|proved\\.(checker|evaluator|formulas))$")
    set_tests_properties(${_name} PROPERTIES COST 100)
  endif()
endforeach()

add_test(NAME layers COMMAND ${SECEQUIV_PYTHON} scripts/check_layers WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(layers PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 LABELS not-asan)
# Formatting does not depend on the compiler, so only builds with clang check it: a machine with only g++ lacks clang-format.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_test(NAME format COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_format WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(format PROPERTIES LABELS not-asan)
endif()

# Adds proofs and checks as tests of other projects. Paths are relative to the current source directory. A test fails on every
# verdict except equivalent and pass, so also on `unknown`. `ctest --output-on-failure` shows a difference.

set(_secequiv_to_file ${CMAKE_CURRENT_LIST_DIR}/secequivToFile.cmake)

# Parses the arguments into arg_*. `needed` and `options` take one value each, `lists` several. The macro refuses a ';', because
# CMake would split the word there, and the test would run another command.
macro(_secequiv_arguments function flags needed options lists)
  set(_count ARGC) # names the calling function's ARGC; ${ARGC} would be this macro's
  foreach(_i RANGE ${${_count}})
    if("${ARGV${_i}}" MATCHES ";")
      message(FATAL_ERROR "${function}: expected arguments without ';', found '${ARGV${_i}}'")
    endif()
  endforeach()
  cmake_parse_arguments(PARSE_ARGV 0 arg "${flags}" "${needed};${options}" "${lists}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unexpected '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  foreach(_keyword ${needed} ${options} ${lists})
    if("${arg_${_keyword}}" STREQUAL "" AND "${_keyword}" IN_LIST ARGV)
      message(FATAL_ERROR "${function}: expected a value after ${_keyword}")
    endif()
  endforeach()
  foreach(_keyword ${needed})
    if("${arg_${_keyword}}" STREQUAL "")
      message(FATAL_ERROR "${function}: ${_keyword} is missing")
    endif()
  endforeach()
  if(DEFINED arg_SAME AND NOT arg_SAME MATCHES "^(raw|behaviour|effect)$")
    message(FATAL_ERROR "${function}: expected SAME raw, behaviour or effect, found '${arg_SAME}'")
  endif()
  if(DEFINED arg_TIMEOUT AND NOT (arg_TIMEOUT MATCHES "^[0-9]+(\\.[0-9]+)?$" AND arg_TIMEOUT GREATER 0))
    message(FATAL_ERROR "${function}: expected TIMEOUT in seconds, found '${arg_TIMEOUT}'")
  endif()
endmacro()

# Makes a path absolute, or each of several paths with commas between them (a stack of filters).
function(_secequiv_absolute paths result)
  if(NOT paths MATCHES "\\$<" AND NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${paths})
    string(REPLACE "," ";" paths "${paths}")
  endif()
  set(out)
  foreach(path IN LISTS paths)
    if(NOT IS_ABSOLUTE "${path}" AND NOT path MATCHES "^\\$<")
      set(path ${CMAKE_CURRENT_SOURCE_DIR}/${path})
    endif()
    list(APPEND out ${path})
  endforeach()
  list(JOIN out "," out)
  set(${result} ${out} PARENT_SCOPE)
endfunction()

# Appends the options that both functions have to `command` in the caller.
macro(_secequiv_common_options)
  if(DEFINED arg_SAME)
    list(APPEND command --same ${arg_SAME})
  endif()
  if(DEFINED arg_TIMEOUT)
    list(APPEND command --timeout ${arg_TIMEOUT})
  endif()
endmacro()

function(_secequiv_test name seconds folder command)
  add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${folder})
  if(seconds)
    # ctest's own limit is longer; it only ends a command that ignores --timeout.
    math(EXPR limit "2 * (${seconds} + 1) + 60")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${limit})
  endif()
endfunction()

# Adds the test of a proof, whose command the caller began.
macro(_secequiv_proof)
  _secequiv_common_options()
  if(DEFINED arg_ASSUME)
    list(APPEND command --assume ${arg_ASSUME})
  endif()
  if(DEFINED arg_JSON)
    get_filename_component(json ${arg_JSON} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
    set(command ${CMAKE_COMMAND} -D OUTPUT=${json} -P ${_secequiv_to_file} -- ${command} --json)
  endif()
  string(REGEX REPLACE "\\..*" "" seconds "${arg_TIMEOUT}")
  _secequiv_test("${arg_NAME}" "${seconds}" ${CMAKE_CURRENT_BINARY_DIR} "${command}")
endmacro()

# secequiv_add_proof(NAME name BEFORE file AFTER file [SAME raw|behaviour|effect] [ASSUME expression] [REFINES]
#                    [TIMEOUT seconds] [JSON file])
#
# Adds a test that proves that `after` makes the same decisions as `before`, or with REFINES that it is never more permissive. The
# proof covers all inputs, or all that satisfy ASSUME. Files are programs in any form or policies; A,B is a stack. JSON names a file
# for the report, relative to the current binary directory; the test then prints the report instead of the text.
function(secequiv_add_proof)
  _secequiv_arguments(secequiv_add_proof REFINES "NAME;BEFORE;AFTER" "SAME;ASSUME;TIMEOUT;JSON" "")
  _secequiv_absolute("${arg_BEFORE}" before)
  _secequiv_absolute("${arg_AFTER}" after)
  set(command $<TARGET_FILE:secequiv::cli> prove ${before} ${after})
  if(arg_REFINES)
    list(APPEND command --refines)
  endif()
  _secequiv_proof()
endfunction()

# secequiv_add_property(NAME name FILTER file PROPERTY property ... [ASSUME expression] [TIMEOUT seconds] [JSON file])
#
# Adds a test that proves that a filter has all these properties (`secequiv prove --property`): names such as no-ptrace, files, or
# clauses such as "refused: ptrace". A property that is a file of the current source directory is this file. FILTER and the other
# arguments are those of secequiv_add_proof.
function(secequiv_add_property)
  _secequiv_arguments(secequiv_add_property "" "NAME;FILTER" "ASSUME;TIMEOUT;JSON" "PROPERTY")
  if(NOT arg_PROPERTY)
    message(FATAL_ERROR "secequiv_add_property: PROPERTY is missing")
  endif()
  _secequiv_absolute("${arg_FILTER}" filter)
  set(command $<TARGET_FILE:secequiv::cli> prove ${filter})
  foreach(property IN LISTS arg_PROPERTY)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${property})
      set(property ${CMAKE_CURRENT_SOURCE_DIR}/${property})
    endif()
    list(APPEND command --property ${property})
  endforeach()
  _secequiv_proof()
endfunction()

# secequiv_add_check(NAME name POLICY file OPTIMIZER command [argument ...] [SAME raw|behaviour|effect] [TIMEOUT seconds]
#                    [ALLOW_CACHE_LOSS])
#
# Adds a test that checks what an optimizer makes from a policy's program (`secequiv check`). The command reads the program (struct
# sock_filter, 8 bytes each) from standard input and prints a program in any form. Instead, it may edit the file `{}`, or read
# the file `{in}` and write the file `{out}`. The command's first word may be a target. A single word may have any form of
# --optimizer: a shell command, serve:COMMAND or plugin:FILE.so. The command runs in the current source directory.
function(secequiv_add_check)
  _secequiv_arguments(secequiv_add_check ALLOW_CACHE_LOSS "NAME;POLICY" "SAME;TIMEOUT" "OPTIMIZER")
  if(NOT arg_OPTIMIZER)
    message(FATAL_ERROR "secequiv_add_check: OPTIMIZER is missing")
  endif()
  _secequiv_absolute("${arg_POLICY}" policy)
  list(POP_FRONT arg_OPTIMIZER program)
  if(TARGET ${program})
    set(program "'$<TARGET_FILE:${program}>'")
  elseif(arg_OPTIMIZER)
    string(REPLACE "'" "'\\''" program "${program}")
    set(program "'${program}'")
  endif()
  foreach(word IN LISTS arg_OPTIMIZER)
    if(NOT word MATCHES "^{(in|out)?}$")
      string(REPLACE "'" "'\\''" word "${word}")
      set(word "'${word}'")
    endif()
    string(APPEND program " ${word}")
  endforeach()
  set(command $<TARGET_FILE:secequiv::cli> check ${policy} --optimizer ${program})
  _secequiv_common_options()
  if(arg_ALLOW_CACHE_LOSS)
    list(APPEND command --allow-cache-loss)
  endif()
  _secequiv_test("${arg_NAME}" "" ${CMAKE_CURRENT_SOURCE_DIR} "${command}")
endfunction()

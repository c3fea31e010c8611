# Chooses sources. X_absent.cc takes the place of X.cc in the WebAssembly module, which has neither an operating system nor a foreign engine.
# Sources that need these, and sources that only commands need, are absent there.
set(SECEQUIV_ABSENT
  "adapters/.*"
  "analyze/(ask_kernel|bench|bisect|campaign|cover|dump|find_rules|guard|guard_try|known|load_all|load_files|merge|own_files|precompile|prove_rules|provenance|versions)"
  "fuzz/(hunt|mutation|pair)/.*"
  "harness/adapter/.*"
  "harness/base/(file|loaded|paths|workers)"
  "harness/bpf/native"
  "harness/generate/.*"
  "harness/.*/compiled_parts"
  "harness/kernel/.*"
  "harness/report/(existing_files|explanations)"
  "harness/seccomp/load_vectors"
  "verify/(certificate|rules|sat|smt)/.*"
)
set(SECEQUIV_PRESENT fuzz/hunt/assess.cc harness/kernel/facts.cc) # exceptions from these patterns

# secequiv_choose(variable): removes the sources that this build does not compile from the list.
function(secequiv_choose variable)
  if(NOT SECEQUIV_WASM)
    list(FILTER ${variable} EXCLUDE REGEX "_absent\\.cc$")
    set(${variable} ${${variable}} PARENT_SCOPE)
    return()
  endif()
  list(JOIN SECEQUIV_ABSENT "|" patterns)
  file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(chosen)
  foreach(source IN LISTS ${variable})
    string(REGEX REPLACE "\\.cc$" "_absent.cc" replacement "${source}")
    if(replacement IN_LIST ${variable})
      continue()
    endif()
    if(source MATCHES "_absent\\.cc$" OR "${here}/${source}" IN_LIST SECEQUIV_PRESENT OR NOT "${here}/${source}" MATCHES "^(${patterns})\\.cc$")
      list(APPEND chosen ${source})
    endif()
  endforeach()
  set(${variable} ${chosen} PARENT_SCOPE)
endfunction()

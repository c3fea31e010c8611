# Chooses sources. X_absent.cc takes the place of X.cc in the WebAssembly module, which has neither an operating system nor a foreign engine.
# Sources that need these, and sources that only commands need, are absent there.
set(SECEQUIV_ABSENT
  "adapters/.*"
  "analyze/(ask_kernel|bench|bisect|campaign|cover|dump|find_rules|guard|guard_try|known|load_all|load_files|merge|own_files|precompile|prove_rules|provenance|versions)"
  "fuzz/(mutation|pair)/.*"
  "fuzz/hunt/.*"
  "harness/adapter/.*"
  "harness/base/(file|loaded|paths|workers)"
  "harness/bpf/native"
  "harness/generate/.*"
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
  set(chosen)
  file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(source IN LISTS ${variable})
    string(REGEX REPLACE "\\.cc$" "_absent.cc" replacement "${source}")
    set(absent OFF)
    if(replacement IN_LIST ${variable})
      set(absent ON)
    elseif(NOT source MATCHES "_absent\\.cc$" AND NOT "${here}/${source}" IN_LIST SECEQUIV_PRESENT)
      foreach(pattern IN LISTS SECEQUIV_ABSENT)
        if("${here}/${source}" MATCHES "^${pattern}\\.cc$" OR source MATCHES "^/.*/compiled_parts\\.cc$")
          set(absent ON)
        endif()
      endforeach()
    endif()
    if(NOT absent)
      list(APPEND chosen ${source})
    endif()
  endforeach()
  set(${variable} ${chosen} PARENT_SCOPE)
endfunction()

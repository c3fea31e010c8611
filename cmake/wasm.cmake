# Toolchain of the preset wasm: clang for WebAssembly with wasi-libc, as scripts/lib/setup.sh installs them (group wasm). A build with it
# contains neither files, processes, threads, exceptions nor shared libraries (SECEQUIV_WASM).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(SECEQUIV_WASM ON CACHE BOOL "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_AR /usr/bin/llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB /usr/bin/llvm-ranlib-19 CACHE FILEPATH "")
# Keeps the headers of this machine's C library away: only links to foreign headers lie below this root.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/foreign)
foreach(name boost fmt nlohmann)
  file(MAKE_DIRECTORY ${CMAKE_FIND_ROOT_PATH}/usr/include)
  file(CREATE_LINK /usr/include/${name} ${CMAKE_FIND_ROOT_PATH}/usr/include/${name} SYMBOLIC)
endforeach()
set(CMAKE_PREFIX_PATH /usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "--target=wasm32-wasi --sysroot=/usr -mbulk-memory -msign-ext -mnontrapping-fptoint -fignore-exceptions -fno-rtti")
  # -O3 passes the same tests, and makes the module twice as large. CMake would append it to CMAKE_..._RELEASE_INIT. FORCE: otherwise a build folder keeps its old flags.
  set(CMAKE_${language}_FLAGS_RELEASE "-Oz -DNDEBUG -flto" CACHE STRING "" FORCE)
endforeach()
# The linker's stack of 64 KiB is too small for large policies. Below all data (--stack-first), an overflow traps.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-mexec-model=reactor -Wl,-O2,--gc-sections,--strip-all,--lto-O2,--stack-first,-z,stack-size=4194304,--max-memory=536870912,--error-limit=0")

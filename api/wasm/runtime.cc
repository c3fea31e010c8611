// The parts of a C++ runtime that nothing else in the module defines. Owns what an exception does
// here: it traps, and the caller of the module replaces the instance.
#include <boost/throw_exception.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace boost {

void throw_exception(const std::exception& /*thrown*/) { __builtin_trap(); }
void throw_exception(const std::exception& /*thrown*/, const source_location& /*where*/) {
  __builtin_trap();
}

}  // namespace boost

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler and its library call these
extern "C" {

void* __cxa_allocate_exception(std::size_t /*size*/) { __builtin_trap(); }
void __cxa_throw(void* /*thrown*/, void* /*type*/, void (* /*destructor*/)(void*)) {
  __builtin_trap();
}

// Debian's compiler-rt uses a stack protector, which its wasi-libc lacks.
extern const std::uintptr_t __stack_chk_guard;
const std::uintptr_t __stack_chk_guard = 0x5ec5ec00;
void __stack_chk_fail() { __builtin_trap(); }
}
// NOLINTEND(bugprone-reserved-identifier)

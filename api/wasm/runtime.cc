// The parts of a C++ runtime that nothing else in the module defines. Owns what an exception does
// here: it traps, and the caller of the module replaces the instance. Also owns how the caller
// learns that a trap means that memory ran out.
#include <boost/throw_exception.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>

namespace boost {

void throw_exception(const std::exception& /*thrown*/) { __builtin_trap(); }
void throw_exception(const std::exception& /*thrown*/, const source_location& /*where*/) {
  __builtin_trap();
}

}  // namespace boost

namespace {

// Volatile, because the compiler does not see that somebody reads it after a trap.
volatile bool memory_ran_out = false;

[[maybe_unused]] const std::new_handler earlier = std::set_new_handler([] {
  memory_ran_out = true;
  __builtin_trap();
});

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler and its library call these
extern "C" {

// Whether operator new failed, which traps. Works after a trap, unlike all other functions.
int secequiv_module_memory_ran_out() { return memory_ran_out ? 1 : 0; }

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

// The kernel's own definitions for seccomp. Owns the order of these headers: <linux/seccomp.h>
// defines macros with the names and values of our constants, so our constants have to come first.
#pragma once

#include "harness/seccomp/action.h"
// Keep this order.
#include <linux/seccomp.h>  // IWYU pragma: export

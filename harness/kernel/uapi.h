// The kernel's own definitions for seccomp. Owns the order of these headers: <linux/seccomp.h> and
// <linux/audit.h> define macros with the names and values of our constants, so our constants have
// to come first.
#pragma once

#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"
// Keep this order.
#include <linux/audit.h>    // IWYU pragma: export
#include <linux/seccomp.h>  // IWYU pragma: export

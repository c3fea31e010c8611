//! Collects the edges of this program that requests reach, if it is built with clang's coverage counters (harness/adapter/PROTOCOL.md,
//! "Feedback from the code under test"). Owns the numbers of edges. It must not know frames.
#![allow(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A module's counters, one byte for each edge: the address of the first one, and the address after the last one.
static MODULES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

fn modules() -> MutexGuard<'static, Vec<(usize, usize)>> {
    MODULES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Code with counters calls this before `main`, once for each module.
#[no_mangle]
extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, stop: *mut u8) {
    let module = (start as usize, stop as usize);
    if start != stop && !modules().contains(&module) {
        modules().push(module);
    }
}

/// Returns the edges that were reached since the last call, or nothing if no code has counters.
pub(crate) fn take_edges() -> Option<Vec<u32>> {
    let (mut reached, mut edge) = (Vec::new(), 0);
    for (start, stop) in modules().iter() {
        for address in *start..*stop {
            let counter = address as *mut u8;
            // SAFETY: the compiler's code passed the bounds of an array of bytes that lives as long as the program. Only this
            // thread answers requests; a count that another thread adds meanwhile may get lost.
            unsafe {
                if counter.read_volatile() != 0 {
                    reached.push(edge);
                    counter.write_volatile(0);
                }
            }
            edge += 1;
        }
    }
    (edge != 0).then_some(reached)
}

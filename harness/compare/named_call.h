// Replaces the call of a witness by one that has a name, for readers. Owns the order in which calls
// are tried. It must not know what makes an input a witness.
#pragma once

#include <functional>
#include <optional>

#include "harness/compare/pair.h"

namespace secequiv {

// Returns the witness if its call has a name on x86_64, aarch64 or i386. Otherwise returns the
// first such call that is also a witness, with the same other words, or `witness` if there is none.
// `witness_of` is as for minimize(); it is called at most about 1200 times.
Witness with_named_call(
    const Witness& witness,
    const std::function<std::optional<Witness>(const SeccompData&)>& witness_of);

}  // namespace secequiv

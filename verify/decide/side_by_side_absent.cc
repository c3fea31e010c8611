// This build has no threads.
#include "verify/decide/side_by_side.h"

namespace secequiv {

Result<Proof> side_by_side(const Question&, const Engine&, const Budget&) {
  return no_verdict("all", "this build runs one engine at a time");
}

}  // namespace secequiv

#include "harness/compare/proof.h"

#include <utility>

namespace secequiv {

Proof no_verdict(std::string engine, std::string detail) {
  Proof out;
  out.engine = std::move(engine);
  out.detail = std::move(detail);
  return out;
}

}  // namespace secequiv

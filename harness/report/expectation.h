// Compares a difference with a stored one, which it must equal. Owns the comparison of the two
// documents. It must not know how differences are computed.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/difference.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// Reads a document that stored_json (diff.h) made. Errors: kParse, for example for any other JSON
// document.
Result<nlohmann::ordered_json> read_expectation(std::string_view text, const std::string& name);

// A region that only one of two differences has.
struct UnexpectedRegion {
  bool added;  // the stored difference lacks it
  std::string region;

  // Returns "+ ..." or "- ...".
  [[nodiscard]] std::string line() const { return (added ? "+ " : "- ") + region; }
};

// Returns regions of all inputs that are in `from`, but not in `what`.
using Subtract = std::function<std::vector<Region>(const std::vector<Region>& from,
                                                   const std::vector<Region>& what)>;

// Returns the regions that only one of the two differences has. With `subtract`, the regions leave
// out all inputs that both differences have. `expected` was read from `file`. Errors: kParse with
// the JSON pointer; kUsage if the documents are about different comparisons.
Result<std::vector<UnexpectedRegion>> unexpected(const nlohmann::ordered_json& expected,
                                                 const std::string& file,
                                                 const nlohmann::ordered_json& found, Arch host,
                                                 const Subtract& subtract = {});

}  // namespace secequiv

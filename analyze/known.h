// The findings of earlier runs that a hunt must not report as new. Owns how they are stored: as
// files of `fuzz --save`, or as entries of corpus/known.toml. It must not know how a hunt uses
// them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "analyze/load.h"
#include "harness/compare/hunt_report.h"

namespace secequiv {

struct Known {
  std::vector<KnownSubject> subjects;
  std::set<std::string, std::less<>> slow;  // families of programs that take too long
};

// The code under test, as HuntReport describes it.
struct KnownTarget {
  std::string_view kind;  // "optimizer", "compiler", "evaluator"
  std::string_view name;
};

// Reads findings. A file that ends in .toml supplies the entries about this kind of target whose
// adapter occurs in the target's name. Any other file or folder supplies its programs or
// policies and, for an evaluator, the inputs beside each file. Errors: kIo, kParse, and those of
// reading a file.
Result<Known> load_known(const std::vector<std::string>& paths, const KnownTarget& target,
                         const Reading& reading);

}  // namespace secequiv

// A folder of inputs for a pair that outlives any run: files of up to 16 records of 64 bytes, which
// libFuzzer reads and writes, too. Owns reading it whole, adding to it, and keeping one input for
// each edge. Nothing is deleted before what replaces it is written. It must not know who makes
// inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/coverage.h"
#include "harness/seccomp/data.h"

namespace secequiv::pair {

// What names of files start with.
inline constexpr std::string_view kSeedPrefix = "seed-";        // kept for what they cover
inline constexpr std::string_view kFindingPrefix = "finding-";  // they tell the programs apart

struct Corpus {
  std::vector<SeccompData> inputs;  // distinct; of files in the order of their names
  std::vector<std::string> files;   // names
};

// Every regular file of `folder` (hidden ones, empty ones and those in folders of it left out), its
// last record filled up with zeros; of a file the first 16 records. Makes the folder if there is
// none. Errors: kIo.
Result<Corpus> read_corpus(const std::string& folder);

// Writes `data` into the folder, as a file named `prefix` and a hash of it, unless that is there.
// `flush` as in write_file.
Status add_input(const std::string& folder, std::string_view prefix, const SeccompData& data,
                 bool flush = true);

// Those of `inputs` that together cover what all of them cover: at most one for each obligation,
// and none that the others make superfluous. Precondition: check() accepts the program.
std::vector<SeccompData> one_per_edge(const Program& program,
                                      const std::vector<SeccompData>& inputs);

// Leaves only `kept` of what `corpus` read from the folder and we or libFuzzer named; files that go
// by other names stay.
Status replace_inputs(const std::string& folder, const Corpus& corpus,
                      const std::vector<SeccompData>& kept);

}  // namespace secequiv::pair

// Owns a folder of inputs for a pair, which remains after a run. Its files have up to 16 records of
// 64 bytes; libFuzzer reads and writes them as well. These functions read all of them, add inputs,
// and keep one input for each edge. They delete a file only after its replacement is written. It
// must not know who makes inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/coverage.h"
#include "harness/seccomp/data.h"

namespace secequiv::pair {

// Prefixes of file names.
inline constexpr std::string_view kSeedPrefix = "seed-";        // kept for its coverage
inline constexpr std::string_view kFindingPrefix = "finding-";  // shows a difference

struct Corpus {
  std::vector<SeccompData> inputs;  // distinct, in the order of file names
  std::vector<std::string> files;   // names
};

// Reads the first 16 records of every regular file in `folder`, except hidden and empty files and
// those in subfolders. Fills an incomplete last record with zeros. Creates a missing folder.
// Errors: kIo.
Result<Corpus> read_corpus(const std::string& folder);

// Writes `data` into the folder, to a file named `prefix` and a hash of the data, unless it exists.
// write_file() explains `flush`.
Status add_input(const std::string& folder, std::string_view prefix, const SeccompData& data,
                 bool flush = true);

// Returns a subset of `inputs` that covers the same obligations as all of them: at most one for
// each obligation, and no redundant one. After an interrupt it may cover fewer. `feasible` is
// the number of feasible obligations, if it is known. Precondition: the kernel accepts the program.
std::vector<SeccompData> one_per_edge(const Program& program,
                                      const std::vector<SeccompData>& inputs,
                                      std::size_t feasible = SIZE_MAX);

// Deletes the files that `corpus` read from the folder and that we or libFuzzer named, except for
// `kept`. Files with other names stay.
Status replace_inputs(const std::string& folder, const Corpus& corpus,
                      const std::vector<SeccompData>& kept);

}  // namespace secequiv::pair

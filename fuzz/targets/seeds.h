// Owns the seed corpora, dictionaries and options of the fuzz targets: the choice of seeds from the
// corpus, and the layout of the folder, which fuzzing services require.
//   TARGET_seed_corpus/  one file for each seed
//   TARGET.dict          libFuzzer's dictionary
//   TARGET.options       libFuzzer's options
//   pair.before, pair.after   fuzz_pair's programs unless options name others
// It must not know what targets do with them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

struct TargetSeeds {
  std::map<std::string, std::string> files;  // by name
  std::set<std::string> dictionary;          // bytes
  std::map<std::string, int> options;
  std::map<std::string, std::string> data;  // files that the target reads, by name
};

// Returns the seeds of each target, by its name. Errors: kIo and kParse for files in `corpus`.
using Seeds = std::map<std::string, TargetSeeds>;
Result<Seeds> make_seeds(const std::string& corpus);

// Writes the seeds into `folder`. Errors: kIo.
Status store_seeds(const Seeds& seeds, const std::string& folder);

// Returns seeds for a pair: the constants with which the programs compare, and inputs that together
// cover every edge of both programs that diagrams or derived inputs reach. `rules` is the text of
// their policy. Errors: kParse.
Result<TargetSeeds> pair_seeds(const std::string& before, const std::string& after,
                               const std::string& rules);

// Returns the bytes of a word in little-endian order, as in programs and inputs.
std::string word_bytes(std::uint32_t word);

// Returns a dictionary entry like "\x7f\x00ab".
std::string dictionary_entry(std::string_view bytes);

}  // namespace secequiv::fuzz

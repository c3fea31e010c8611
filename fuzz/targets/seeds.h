// What fuzz targets start from: seed corpora, dictionaries and options. Owns which files of the
// corpus become whose seeds, and the folder's layout (fuzzing services know it by name):
//   TARGET_seed_corpus/  one file for each seed
//   TARGET.dict          libFuzzer's dictionary
//   TARGET.options       libFuzzer's options
//   pair.before, pair.after   the programs that fuzz_pair runs if it is given no others
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

// By target. Errors: kIo, kParse, of files in `corpus`.
using Seeds = std::map<std::string, TargetSeeds>;
Result<Seeds> make_seeds(const std::string& corpus);

// Errors: kIo.
Status store_seeds(const Seeds& seeds, const std::string& folder);

// For a pair of programs: inputs that together meet every edge of both that the diagrams know an
// input for or a derived one meets, and the constants that either compares with. `rules` is the
// text of the policy behind them. Errors: kParse, of any of them.
Result<TargetSeeds> pair_seeds(const std::string& before, const std::string& after,
                               const std::string& rules);

// As programs and inputs hold it: little endian.
std::string word_bytes(std::uint32_t word);

// The bytes as an entry of a dictionary: "\x7f\x00ab".
std::string dictionary_entry(std::string_view bytes);

}  // namespace secequiv::fuzz

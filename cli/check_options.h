// Options of the commands that check a pair (`check`, and `fuzz` for a pair), and the pair's HTML
// page. Owns how options become a job. It must not know where the pair comes from.
#pragma once

#include <span>

#include "analyze/check_pair.h"
#include "analyze/source.h"
#include "cli/engine_options.h"
#include "cli/oracle_option.h"

namespace secequiv::cli {

struct PairCheckOptions {
  EngineOptions engine;
  OracleOption oracle;
  bool any_length = false;
  bool allow_cache_loss = false;

  void add(Command& command);
  // Returns the options of the job. Errors: the oracle is not available.
  [[nodiscard]] Result<CheckOptions> check_options(const Options& options) const;
  // Names the rules that decide the witness, and applies to the verdict what `notes` say about the
  // policies. Errors: kInternal.
  static Status conclude(const Source& before, const Source& after, PairNotes notes,
                         const Options& options, CheckReport& report);
  // Writes the page if --html is given. `inputs` are the inputs derived for the pair; `link` may be
  // empty. Errors: kIo, kInternal.
  [[nodiscard]] Status write_page(const CheckReport& report, const Source& before,
                                  const Source& after, std::span<const SeccompData> inputs,
                                  const Options& options, const std::string& link) const;
};

}  // namespace secequiv::cli

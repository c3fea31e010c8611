// The options of `prove`, and the jobs that they ask for. It must not know what the command does
// with a job.
#pragma once

#include <string>

#include "analyze/prove.h"
#include "analyze/prove_property.h"
#include "cli/certificate_option.h"
#include "cli/engine_options.h"
#include "cli/options.h"
#include "cli/oracle_option.h"
#include "cli/property_options.h"

namespace secequiv::cli {

struct ProveOptions {
  Options options;
  std::string before;
  std::string after;
  std::string smt2;
  std::string link;  // address of the page
  EngineOptions engine;
  PropertyOptions property;
  bool refines = false;
  bool traces = false;
  OracleOption oracle;
  CertificateOption certificate;
};

// Loads both filters.
Result<ProveJob> prove_job(const ProveOptions& given);

// Returns the link to the page with the pair. Errors: kUsage for stacks; kIo if a text cannot be
// read again.
Result<std::string> link_of(const ProveOptions& given, const ProveJob& job);

// Loads the only filter and its properties.
Result<PropertyJob> property_job(const ProveOptions& given);

}  // namespace secequiv::cli

// The options of `prove`, and the jobs that they ask for. It must not know what the command does
// with a job.
#pragma once

#include <string>

#include "analyze/prove.h"
#include "analyze/prove_property.h"
#include "cli/certificate_option.h"
#include "cli/engine_options.h"
#include "cli/link_option.h"
#include "cli/options.h"
#include "cli/oracle_option.h"
#include "cli/property_options.h"

namespace secequiv::cli {

struct ProveOptions {
  Options options;
  std::string before;
  std::string after;
  std::string smt2;
  LinkOption link;
  EngineOptions engine;
  PropertyOptions property;
  bool refines = false;
  bool traces = false;
  OracleOption oracle;
  CertificateOption certificate;
};

// Loads both filters.
Result<ProveJob> prove_job(const ProveOptions& given);

// Loads the only filter and its properties.
Result<PropertyJob> property_job(const ProveOptions& given);

}  // namespace secequiv::cli

// What the running kernel says of one program or two, beside what our model says. Owns asking and
// comparing; nothing is proven here. It must not print (report/kernel.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/oracle_report.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"
#include "harness/kernel/oracle.h"

namespace secequiv::kernel {

struct AskOptions {
  // How calls enter the kernel, with inputs changed to what such calls look like; or nothing: any
  // nr, arch and instruction pointer (oracle.h, evaluate).
  std::optional<Entry> entry;
  Sameness sameness = Sameness::kRaw;  // of two programs; a program and its model agree in all bits
  Evaluate evaluate = kernel::evaluate;       // without an entry; a test puts a wrong one here
  std::function<bool()> stop;                 // asked before each block
  std::function<void(std::size_t)> progress;  // inputs so far
};

// The next inputs; none when there are no more.
using InputBlocks = std::function<std::vector<SeccompData>()>;

struct AskedSide {
  std::string name;
  std::size_t instructions = 0;
  std::size_t asked = 0;    // inputs
  std::size_t skipped = 0;  // inputs that no filter sees (bypasses_filters)
  double seconds = 0;
  // The kernel does not take it, though our check does: as bad as a wrong answer.
  bool refused = false;
  // An input on which the model (`before`) and the kernel (`after`) disagree: a bug of ours, or a
  // kernel that is not like the one that the model was written from.
  std::optional<Witness> disagreement;
};

struct KernelReport {
  Verdict verdict = Verdict::kPass;  // kUnknown if nothing was asked
  bool interrupted = false;
  std::string release;  // of the kernel: "6.18.5"
  std::optional<Entry> entry;
  std::vector<AskedSide> sides;
  std::optional<Witness> witness;  // on which the kernel's answers to two programs differ
};

// Asks about one program or two, named, block by block. Errors: those of available(), askable(),
// evaluate() and evaluate_direct().
Result<KernelReport> ask(const std::vector<NamedProgram>& programs, const InputBlocks& next,
                         const AskOptions& options);

// The kernel as a second opinion (Oracle): each program by itself. One that cannot be asked about
// (too long, or without room for what makes its answers readable) is in the report with the reason.
// Errors: kUnavailable, kInternal.
Result<OracleReport> second_opinion(std::span<const NamedProgram> programs,
                                    std::span<const SeccompData> inputs,
                                    const Evaluate& evaluate = kernel::evaluate);

}  // namespace secequiv::kernel

// Compares a kernel's results for one or two programs with those of our model. Owns the
// comparison, which proves nothing. It must not print (report/kernel.h).
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
  // How calls enter the kernel; inputs are changed to fit such calls. Empty: inputs keep any nr,
  // arch and instruction pointer (oracle.h, evaluate).
  std::optional<Entry> entry;
  Sameness sameness = Sameness::kRaw;  // for two programs; kernel and model must agree in all bits
  Kernel* kernel = &running();
  std::function<bool()> stop;                 // called before each block
  std::function<void(std::size_t)> progress;  // gets the number of inputs so far
};

// Returns the next inputs, or an empty block at the end.
using InputBlocks = std::function<std::vector<SeccompData>()>;

struct AskedSide {
  std::string name;
  std::size_t instructions = 0;
  std::size_t asked = 0;    // inputs that the kernel answered
  std::size_t skipped = 0;  // calls left out (bypasses_filters, sees_stack)
  double seconds = 0;
  // The kernel refuses a program that our check accepts. This is as bad as a wrong result.
  bool refused = false;
  // An input on which the model (`before`) and the kernel (`after`) disagree: the model has a bug,
  // or this kernel differs from the one that the model describes.
  std::optional<Witness> disagreement;
};

struct KernelReport {
  Verdict verdict = Verdict::kPass;  // kUnknown if the kernel answered nothing
  bool interrupted = false;
  bool compared = false;  // two programs ran on the same inputs and were compared
  std::string release;    // the kernel's release: "6.18.5"
  std::string booted_as;  // Kernel::booted_as()
  std::optional<Entry> entry;
  std::vector<AskedSide> sides;
  std::optional<Witness> witness;  // an input on which the kernel's results for two programs differ
};

// Runs one or two programs on all blocks. Errors: those of available(), askable(), evaluate() and
// evaluate_direct().
Result<KernelReport> ask(const std::vector<NamedProgram>& programs, const InputBlocks& next,
                         const AskOptions& options);

// Adds the sides of a report about another program, on the same kernel and entry.
void append(KernelReport& out, KernelReport more);

// Compares each program by itself with the kernel (an Oracle). If a program cannot run, the report
// gives the reason: it is too long, or has no room for the instructions that make its result
// readable. Errors: kUnavailable, kInternal.
Result<OracleReport> second_opinion(std::span<const NamedProgram> programs,
                                    std::span<const SeccompData> inputs,
                                    Kernel& kernel = running());

}  // namespace secequiv::kernel

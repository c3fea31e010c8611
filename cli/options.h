// Declares the options that several commands share. Owns their names, help texts and checks, and
// how they become options of the libraries. It must not know any command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/installed.h"
#include "cli/question.h"
#include "harness/adapter/confinement.h"
#include "harness/base/interrupt.h"
#include "harness/base/result.h"
#include "harness/bpf/text.h"
#include "harness/compare/verdict.h"
#include "harness/import/import.h"
#include "harness/seccomp/action.h"

namespace secequiv::cli {

// Groups of the shared options. kLimits are limits of the whole command; kProofLimits, of commands
// that end by another limit or an interrupt, are limits of each proof. kReports stands for the
// files of report_formats(), kPage for these and --html.
enum class Shared : std::uint8_t {
  kInput,
  kJson,
  kReports,
  kPage,
  kLimits,
  kProofLimits,
  kSame,
  kWhole,
  kImport,
  kSandbox,
  kQuiet
};
using enum Shared;

// The values of the shared options.
struct Options {
  std::string from;  // form of program inputs; empty: detected by content
  bool big_endian = false;
  std::vector<std::string> set;  // NAME=VALUE for names in program inputs
  std::string to;                // form of the program to write
  std::string output = "-";
  bool json = false;
  double timeout = 60;            // seconds
  std::size_t max_memory = 1024;  // MiB
  bool limited = false;           // these two are limits of the whole command
  std::string same = "raw";
  std::string arch = "x86_64";  // the host's architecture
  std::vector<std::string> capabilities;
  std::string kernel = "6.1";
  std::string libseccomp;  // a library's file, "none", or empty: the one of this machine, if any
  bool tree = false;       // the library's filter searches numbers in a tree instead of a list
  // Asks the library, after the first use of reading().
  std::shared_ptr<AskLibrary> ask_library = std::make_shared<AskLibrary>();
  const Command* declared_by = nullptr;             // after add()
  std::map<std::string_view, std::string> reports;  // by name of the format: the file, or ""
  std::string html;
  bool no_sandbox = false;
  bool quiet = false;
  std::vector<std::string> runtimes;  // names; empty: all of them
  std::string filter;                 // name of the filter to read from a file with several filters
  bool strict_names = false;
  bool require_whole = false;
  // Notes for people. A command prints them after its report. With --quiet, it prints only the
  // warnings.
  struct Note {
    std::string text;
    bool warning;
    bool open = false;  // about an input with several answers, of which a written file has one
    bool operator==(const Note&) const = default;
  };
  std::shared_ptr<std::vector<Note>> notes = std::make_shared<std::vector<Note>>();
  // The files that the policies read so far include.
  std::shared_ptr<std::vector<std::string>> included = std::make_shared<std::vector<std::string>>();

  // Declares these groups, in this order.
  void add(Command& command, std::initializer_list<Shared> groups);
  void add_profile(Command& command);  // the options of kImport except --arch
  void add_form(Command& command, const char* default_form);  // --to
  void add_output(Command& command);
  [[nodiscard]] std::string command_name() const {
    return declared_by == nullptr ? "" : declared_by->name();
  }
  [[nodiscard]] bool wants_reports() const {
    return std::ranges::any_of(reports, [](const auto& one) { return !one.second.empty(); });
  }

  void note(std::string text) const { notes->push_back({std::move(text), false}); }
  void warning(std::string text) const { notes->push_back({std::move(text), true}); }
  // Returns the limits of all the command's work together.
  [[nodiscard]] WorkLimits work_limits() const {
    if (!limited) return {};
    return {timeout, max_memory, declared_by != nullptr && declared_by->given("--max-memory")};
  }
  [[nodiscard]] Sameness sameness() const {
    if (same == "effect") return Sameness::kEffect;
    return same == "raw" ? Sameness::kRaw : Sameness::kBehaviour;
  }
  // Returns the error for a command that compares single inputs only.
  [[nodiscard]] Status no_effect() const;
  [[nodiscard]] std::optional<Form> input_form() const;
  [[nodiscard]] OciOptions oci() const;
  // Returns the confinement of commands under test. The first call warns about each protection that
  // this machine lacks.
  [[nodiscard]] std::shared_ptr<const Confinement> confinement() const;
  [[nodiscard]] ImportOptions import() const;

 private:
  void add_input(Command& command);
  void add_reports(Command& command, bool page);
  void add_import(Command& command);
  void add_limits(Command& command);
};

}  // namespace secequiv::cli

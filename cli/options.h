// The options that several commands share. Owns their names, help texts and checks, and what they
// mean to the libraries. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/adapter/confinement.h"
#include "harness/base/result.h"
#include "harness/bpf/text.h"
#include "harness/compare/verdict.h"
#include "harness/import/import.h"
#include "harness/seccomp/action.h"

namespace secequiv::cli {

// The values of the shared options. Each add_ function declares those that a command takes.
struct Options {
  std::string from;  // form of program inputs; empty: detected by content
  bool big_endian = false;
  std::vector<std::string> set;  // NAME=VALUE for names in program inputs
  std::string to;                // form of the program written
  std::string output = "-";
  bool json = false;
  double timeout = 60;
  std::string same = "raw";
  std::string arch = "x86_64";  // the host's
  std::vector<std::string> capabilities;
  std::string kernel = "6.1";
  std::string command;  // the command whose report `junit` and `sarif` receive
  std::string junit;    // files, or empty
  std::string sarif;
  std::string html;
  bool no_sandbox = false;
  bool quiet = false;
  std::string filter;  // the one to read from a file that holds several

  void add_input(CLI::App& app);
  void add_output(CLI::App& app, const char* default_form);
  void add_json(CLI::App& app);
  // --junit and --sarif, which print_found() and report() write; with `page` also --html (page.h).
  void add_reports(CLI::App& app, bool page = false);
  [[nodiscard]] bool wants_reports() const { return !junit.empty() || !sarif.empty(); }
  void add_timeout(CLI::App& app);
  void add_same(CLI::App& app);
  void add_import(CLI::App& app);   // --arch and those of add_profile
  void add_profile(CLI::App& app);  // --cap, --kernel-version, --filter
  void add_sandbox(CLI::App& app);
  void add_quiet(CLI::App& app);

  [[nodiscard]] Sameness sameness() const {
    return same == "raw" ? Sameness::kRaw : Sameness::kBehaviour;
  }
  [[nodiscard]] std::optional<Form> input_form() const;
  [[nodiscard]] OciOptions oci() const;
  // For commands under test. The first call warns about each protection that this machine lacks.
  [[nodiscard]] std::shared_ptr<const Confinement> confinement() const;
  [[nodiscard]] ImportOptions import() const;
};

// A number, or the name of a system call if `arch` is known.
Result<std::uint32_t> parse_nr(const std::string& text, std::optional<Arch> arch);
Result<std::uint64_t> parse_u64(const std::string& text, std::string_view what);

// A finite number of seconds above 0, or also 0 itself.
CLI::Validator seconds(bool or_none = false);
// One of these words.
CLI::Validator one_of(std::vector<std::string> words);
// The name of an architecture.
CLI::Validator architecture();

}  // namespace secequiv::cli

// Loads filters and policies from files, for jobs. Owns how content selects between program and
// policy, how a stack is read, and the notes about files. It must not know how a user names them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/installed.h"
#include "analyze/source.h"
#include "harness/adapter/interfaces.h"
#include "harness/bpf/text.h"
#include "harness/import/import.h"
#include "harness/report/pair_notes.h"

namespace secequiv {

// Shows a note to people.
using Note = std::function<void(const std::string&)>;

// Returns an error if a name of the program has no value.
inline Status refuse_names(const SymbolicProgram& program, const std::string& /*name*/) {
  if (program.uses.empty()) return Ok{};
  return lacks_value(program.uses.front());
}

inline void no_note(const std::string& /*text*/) {}

// How files are read.
struct Reading {
  std::optional<Form> form;  // form of programs; std::nullopt: detected by content
  bool big_endian = false;   // whether raw programs are big endian if their form is detected
  std::optional<PolicyFormat> policy_format = {};  // std::nullopt: detected by content
  ImportOptions import;
  // Gives values to the names of a program, or refuses them; a policy has no such names.
  std::function<Status(SymbolicProgram& program, const std::string& name)> names = refuse_names;
  bool for_names = false;      // the caller has values for names
  bool require_whole = false;  // equivalence needs all parts of two profiles (PairNotes)
  // Asks libseccomp about profiles. Without it, secequiv alone reads them.
  AskLibrary library = {};
  bool library_filters = false;  // use the library's filter instead of the profile
  dd::Limits limits = {};        // of the diagrams that find several meanings of a profile
  // Decides whether an unknown name in a policy is an error.
  std::function<Status(const UnknownName&)> unknown = [](const UnknownName&) { return Ok{}; };
  // Shows why some of the chosen runtimes do not load a container profile.
  std::function<void(const LoadFailure&)> failure = [](const LoadFailure&) {};
  Note note = no_note;
  Note choice = no_note;   // shows a note about inputs for which a policy has several meanings
  Note warning = no_note;  // shows a note that nobody should overlook
  Note prompt = no_note;   // immediately shows what this process is waiting for
};

// Reads a whole input file. Standard input, "-", can be read only once; if it is a terminal,
// `prompt` reports that the tool is waiting for input.
Result<std::string> read_input(const std::string& path, const Note& prompt);

// Reads all 64-byte seccomp_data records in these files.
Result<std::vector<SeccompData>> load_records(const std::vector<std::string>& paths);

// Reads a policy in any supported format. The content decides which format it is.
Result<Policy> load_policy(const std::string& path, const Reading& reading);
// Reads the policy, or returns nothing if `path` is empty.
Result<std::optional<Policy>> load_optional_policy(const std::string& path, const Reading& reading);
// Checks that a text read as a policy is not a program, a common mistake. Errors: kParse.
Status expect_no_program(std::string_view text, const std::string& name);
Result<Policy> parse_policy(std::string_view text, const std::string& name, const Reading& reading);
// These functions read a policy with its unknown names, which the caller reports.
Result<Import> parse_import(std::string_view text, const std::string& name, const Reading& reading);
Result<Import> load_import(const std::string& path, const Reading& reading);
Status check_names(const Import& imported, const Reading& reading);

// Reads a program, or compiles a policy without optimization. Positions in the result name the file
// `path`; if `path` is empty, the result has no positions.
Result<Source> read_source(std::string_view bytes, const std::string& name, const std::string& path,
                           const Reading& reading);
Result<Source> load_source(const std::string& path, const Reading& reading);
// Reads the filters of a stack, separated by commas, unless the whole text names a file.
Result<std::vector<Source>> load_stack(const std::string& paths, const Reading& reading);

// Checks that the kernel accepts the program, apart from its length. Errors: kRejected.
Status expect_legal(const Source& source);
// Checks that the kernel accepts the program. If it is only too long, warns. Errors: kRejected.
Status expect_accepted(const Source& source, const Reading& reading);
// These functions read and then check as expect_accepted() does.
Result<Source> load_accepted(const std::string& path, const Reading& reading);
Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Reading& reading);

// Shows a note if a program is too long for the kernel.
void note_length(const std::string& name, ProgramView program, const Reading& reading);
// Shows such a note for a loaded filter, unless it is our own compilation of a policy: nobody
// installs that program.
void note_length(const Source& source, const Reading& reading);
// Return the host and the container for which profiles were read, if their meaning depends on them.
std::optional<ReadFor> read_for(std::span<const Source> filters);
std::optional<ReadFor> read_for(const Import& imported, const Reading& reading);
// Return what answers about the filters do not cover.
ReadNotes notes_about(std::span<const Source> filters);
ReadNotes notes_about(std::span<const Stack> stacks);
// Returns what a comparison of the two sides does not cover, and shows a warning about it. Also
// shows a note if the names suggest that the user swapped them.
PairNotes note_pair(std::span<const Source> before, std::span<const Source> after,
                    const Reading& reading);
// Runs `command` and reads the program that it prints, in any form. Errors: kUsage if the shell
// cannot start it, else kAdapter.
Result<Source> load_command(const std::string& command, const AdapterLimits& limits,
                            const Reading& reading);

}  // namespace secequiv

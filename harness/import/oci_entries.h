// Turns the entries of a container profile into rule sets, as libseccomp combines them. Owns which
// entries of one system call have an effect, and the notes about the others. It must not know how
// entries are written (import_oci.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/import/import_oci.h"
#include "harness/import/oci_loading.h"
#include "harness/import/oci_rule.h"

namespace secequiv {

// Returns whether any architecture has a call with this name.
bool any_arch_has(const std::string& name);

class OciEntries {
 public:
  // `out` must list its architectures before the first entry. The entries add rules and notes to
  // it.
  OciEntries(Arch host, OciImport& out, LoadChecks& loads)
      : host_(host), out_(out), loads_(loads) {}

  // Notes a name that no architecture knows.
  void note_unknown(const std::string& name, const RulePosition& position);
  // Sets the action of the entries that follow.
  void choose(std::uint32_t action);
  // In libseccomp, the first entry that always holds replaces all other entries of a call. The
  // order of the other entries in the profile does not matter. On architectures where socketcall or
  // ipc also does what the call does, libseccomp adds the entry there, too.
  void add(const std::string& name, const Rule& conditions, const RulePosition& position);
  // Lists an entry whose action is the default action as one without effect, because runtimes skip
  // it.
  void skip(const std::string& name, const Rule& conditions, const RulePosition& position);
  // Call it once, after the last entry.
  void finish();

 private:
  using Call = std::pair<Arch, std::uint32_t>;
  // An entry, with its rule on one architecture.
  struct Seen {
    std::uint32_t action = 0;
    bool always = false;
    std::string place;
    Rule rule;
    std::vector<ArgTests> tests = rules_of_entry(rule);  // of each rule that libseccomp makes

    [[nodiscard]] bool added() const { return rule.position.at->added; }
  };

  void check_order(const Call& call, const std::string& name, const Seen& entry);
  void add_on(const Call& call, const std::string& name, const Rule& conditional);
  void note_elsewhere();
  void without_effect(const std::string& name, Seen entry, const Seen& always, const Call& call);
  void drop(const Call& call);
  void list_mixed();
  void place_superfluous();
  void flush();

  Arch host_;
  OciImport& out_;
  LoadChecks& loads_;
  std::uint32_t current_action_ = 0;
  std::map<Call, std::vector<Rule>> pending_;
  std::map<Call, std::vector<Seen>> seen_;
  std::set<std::string> refused_;       // the positions of entries that libseccomp refuses
  std::set<std::string> noted_;         // the notes about entries without effect
  std::vector<std::string> elsewhere_;  // names that only other architectures have
};

}  // namespace secequiv

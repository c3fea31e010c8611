// extract-common: A∧B ∨ A∧C = A∧(B∨C), and A ∨ A∧B = A.
#include <algorithm>
#include <map>
#include <set>

#include "harness/optimize/rules/identity.h"
#include "harness/optimize/rules/passes.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv::detail {
namespace {

using Id = Identities::Id;
using Kind = Rule::Kind;

// Each extraction may nest two levels deeper, and functions that walk over rules are recursive.
constexpr std::size_t kMaxDepth = 200;

// A branch of an any_of as its list of conjuncts.
struct Branch {
  static constexpr std::size_t kNew = ~std::size_t{0};
  std::vector<Id> conjuncts;
  std::size_t origin = kNew;  // index of the original branch if it is unchanged
};

// Factors the branches of one any_of. Counts for each conjunct the branches that have it.
class Factoring {
 public:
  Factoring(Identities& identities, std::vector<Branch> branches, std::size_t depth)
      : identities_(identities), depth_(depth), slots_(std::move(branches)) {
    alive_.assign(slots_.size(), true);
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      for (const Id id : slots_[slot].conjuncts) standings_[id].slots.push_back(slot);
    for (auto& [id, standing] : standings_) move_to(id, standing, standing.slots.size());
  }

  // Factors out shared conjuncts until none is in two branches. Returns the remaining branches.
  std::vector<Branch> run() {
    if (depth_ < kMaxDepth)
      while (!ranking_.empty()) extract(ranking_.begin()->second);
    std::vector<Branch> out;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      if (alive_[slot]) out.push_back(std::move(slots_[slot]));
    return out;
  }

 private:
  struct Standing {
    std::size_t branches = 0;
    std::vector<std::size_t> slots;  // some may have been removed or changed since then
  };
  // Conjuncts that are in more branches come first. Those in equally many branches come in the
  // order of their numbers.
  using Rank = std::pair<std::ptrdiff_t, Id>;
  static Rank rank(Id id, std::size_t branches) {
    return {-static_cast<std::ptrdiff_t>(branches), id};
  }

  void move_to(Id id, Standing& standing, std::size_t branches) {
    if (standing.branches > 1) ranking_.erase(rank(id, standing.branches));
    if (branches > 1) ranking_.insert(rank(id, branches));
    standing.branches = branches;
  }

  void count(std::size_t slot) {
    for (const Id id : slots_[slot].conjuncts) {
      Standing& standing = standings_[id];
      standing.slots.push_back(slot);
      move_to(id, standing, standing.branches + 1);
    }
  }

  void remove(std::size_t slot) {
    for (const Id id : slots_[slot].conjuncts) {
      Standing& standing = standings_[id];
      move_to(id, standing, standing.branches - 1);
    }
    alive_[slot] = false;
  }

  // Merges the branches that have conjunct `id` into one. It consists of their common conjuncts and
  // an any_of of the remainders.
  void extract(Id id) {
    std::set<std::size_t> group;
    for (const std::size_t slot : standings_[id].slots)
      if (alive_[slot] && contains(slots_[slot].conjuncts, id)) group.insert(slot);
    std::map<Id, std::size_t> tally;
    for (const std::size_t slot : group)
      for (const Id each : slots_[slot].conjuncts) ++tally[each];
    const auto shared = [&](Id each) { return tally[each] == group.size(); };

    Branch merged;
    const std::size_t first = *group.begin();
    std::ranges::copy_if(slots_[first].conjuncts, std::back_inserter(merged.conjuncts), shared);
    std::vector<Branch> rest;
    bool absorbed = false;
    for (const std::size_t slot : group) {
      remove(slot);
      Branch remainder;
      std::ranges::remove_copy_if(slots_[slot].conjuncts, std::back_inserter(remainder.conjuncts),
                                  shared);
      absorbed = absorbed || remainder.conjuncts.empty();
      rest.push_back(std::move(remainder));
    }
    if (!absorbed) {
      for (const Id each : identities_.conjuncts(any_of(std::move(rest))))
        if (!contains(merged.conjuncts, each)) merged.conjuncts.push_back(each);
    }
    slots_[first] = std::move(merged);
    alive_[first] = true;
    count(first);
  }

  static bool contains(const std::vector<Id>& ids, Id id) {
    return std::ranges::find(ids, id) != ids.end();
  }

  Id any_of(std::vector<Branch> branches) {
    std::vector<Id> ids;
    for (const Branch& branch : Factoring(identities_, std::move(branches), depth_ + 2).run())
      ids.push_back(identities_.of_branching(Kind::kAllOf, branch.conjuncts));
    return identities_.of_branching(Kind::kAnyOf, ids);
  }

  Identities& identities_;
  std::size_t depth_;
  std::vector<Branch> slots_;  // a merged branch takes the place of its first one
  std::vector<bool> alive_;
  std::map<Id, Standing> standings_;
  std::set<Rank> ranking_;  // conjuncts in at least two branches
};

Identified extracted(const Rule& rule, Identities& identities, std::size_t depth) {
  if (!is_branching(rule)) return {rule, identities.of_leaf(rule)};
  Identified out;
  out.rule.kind = rule.kind;
  std::vector<Id> ids;
  for (const Rule& child : rule.children) {
    Identified next = extracted(child, identities, depth + 1);
    ids.push_back(next.id);
    out.rule.children.push_back(std::move(next.rule));
  }
  if (rule.kind == Kind::kAllOf) {
    out.id = identities.of_branching(rule.kind, ids);
    return out;
  }
  std::vector<Branch> branches;
  branches.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    branches.push_back(Branch{identities.conjuncts(ids[i]), i});
  std::vector<Rule> children;
  std::vector<Id> children_ids;
  for (const Branch& branch : Factoring(identities, std::move(branches), depth).run()) {
    const bool old = branch.origin != Branch::kNew;
    const Id id =
        old ? ids[branch.origin] : identities.of_branching(Kind::kAllOf, branch.conjuncts);
    children_ids.push_back(id);
    children.push_back(old ? std::move(out.rule.children[branch.origin]) : identities.rule(id));
  }
  out.id = identities.of_branching(Kind::kAnyOf, children_ids);
  if (children.size() < rule.children.size()) {
    out.rule = branching(Kind::kAnyOf, std::move(children));
  } else {
    out.rule.children = std::move(children);
  }
  return out;
}

}  // namespace

Rule extract_common(const Rule& rule) {
  Identities identities;
  return extracted(rule, identities, 0).rule;
}

}  // namespace secequiv::detail

#include "harness/import/guard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace secequiv {
namespace {

using Parts = std::vector<const ProfilePart*>;

struct Sides {
  Parts before;
  Parts after;
};

bool contains(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::ranges::all_of(
      some, [&](const auto& one) { return std::ranges::find(all, one) != all.end(); });
}

bool same(const Guard& a, const Guard& b) { return a.covers(b) && b.covers(a); }

void cancel_equal_parts(Sides& sides) {
  std::erase_if(sides.before, [&](const ProfilePart* part) {
    const auto equal = std::ranges::find_if(sides.after, [&](const ProfilePart* other) {
      return other->content == part->content && same(other->guard, part->guard);
    });
    if (equal == sides.after.end()) return false;
    sides.after.erase(equal);
    return true;
  });
}

// Returns whether `part` may make the profiles differ for other hosts or containers. `others` are
// the other profile's parts for the same call.
bool differs_elsewhere(const ProfilePart& part, const Parts& others) {
  const auto is_wider = [](const ProfilePart& wide, const ProfilePart& narrow) {
    return wide.applies && wide.content == narrow.content && wide.guard.covers(narrow.guard);
  };
  if (!part.applies)
    return std::ranges::none_of(others, [&](const auto* one) { return is_wider(*one, part); });
  return !part.guard.always() && std::ranges::any_of(others, [&](const ProfilePart* one) {
    return one->applies && !same(one->guard, part.guard);
  });
}

void add(const RulePosition& position, std::vector<RulePosition>& out) {
  if (std::ranges::none_of(out, [&](const auto& one) { return one.text() == position.text(); }))
    out.push_back(position);
}

}  // namespace

bool Guard::covers(const Guard& other) const {
  const auto least = [](const Filter& filter) {
    return filter.min_kernel.value_or(std::pair(0U, 0U));
  };
  const bool arches = includes.arches.empty() || (!other.includes.arches.empty() &&
                                                  contains(includes.arches, other.includes.arches));
  const bool excluded_kernels =
      !excludes.min_kernel ||
      (other.excludes.min_kernel && *other.excludes.min_kernel <= *excludes.min_kernel);
  return arches && excluded_kernels && contains(other.includes.caps, includes.caps) &&
         least(includes) <= least(other.includes) && contains(other.excludes.caps, excludes.caps) &&
         contains(other.excludes.arches, excludes.arches);
}

std::string Guard::text() const {
  std::vector<std::string> out;
  for (const auto& [key, filter] : {std::pair("includes", &includes), {"excludes", &excludes}}) {
    for (const auto* list : {&filter->caps, &filter->arches})
      if (!list->empty()) out.push_back(fmt::format("{} {}", key, fmt::join(*list, " ")));
    if (!filter->kernel_text.empty())
      out.push_back(fmt::format("{} kernel >= {}", key, filter->kernel_text));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::vector<RulePosition> for_some_hosts(std::span<const ProfilePart> parts) {
  std::vector<RulePosition> out;
  for (const ProfilePart& part : parts)
    if (!part.applies || !part.guard.always()) add(part.position, out);
  return out;
}

std::vector<RulePosition> not_compared(std::span<const ProfilePart> before,
                                       std::span<const ProfilePart> after) {
  std::map<std::string_view, Sides> calls;
  for (const ProfilePart& part : before) calls[part.name].before.push_back(&part);
  for (const ProfilePart& part : after) calls[part.name].after.push_back(&part);
  for (auto& [name, sides] : calls) cancel_equal_parts(sides);
  std::vector<RulePosition> out;
  for (const ProfilePart& part : after)
    if (const Sides& sides = calls[part.name];
        std::ranges::find(sides.after, &part) != sides.after.end() &&
        differs_elsewhere(part, sides.before))
      add(part.position, out);
  for (const ProfilePart& part : before)
    if (const Sides& sides = calls[part.name];
        std::ranges::find(sides.before, &part) != sides.before.end() &&
        differs_elsewhere(part, sides.after))
      add(part.position, out);
  return out;
}

}  // namespace secequiv

#include "harness/compare/cache_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/base/text.h"

namespace secequiv {
namespace {

std::vector<std::uint32_t> numbers(const std::vector<bool>& bits) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t nr = 0; nr < bits.size(); ++nr)
    if (bits[nr]) out.push_back(nr);
  return out;
}

std::vector<std::uint32_t> without(const std::vector<std::uint32_t>& all,
                                   const std::vector<std::uint32_t>& some) {
  std::vector<std::uint32_t> out;
  std::ranges::set_difference(all, some, std::back_inserter(out));
  return out;
}

}  // namespace

std::vector<Arch> cached_arches(Arch host) {
  const auto compat = compat_arch(host);
  return compat ? std::vector<Arch>{host, *compat} : std::vector<Arch>{host};
}

std::vector<CacheChange> cache_changes(std::span<const ProgramView> before,
                                       std::span<const ProgramView> after, Arch host) {
  std::vector<CacheChange> out;
  for (const Arch arch : cached_arches(host)) {
    CacheChange change{
        arch, numbers(cacheable(before, arch)), numbers(cacheable(after, arch)), {}, {}};
    change.lost = without(change.before, change.after);
    change.gained = without(change.after, change.before);
    out.push_back(std::move(change));
  }
  return out;
}

bool loses(std::span<const CacheChange> changes) {
  return std::ranges::any_of(changes, [](const CacheChange& one) { return !one.lost.empty(); });
}

BitmapDifference bitmap_difference(std::span<const ProgramView> filters, Arch arch,
                                   const std::vector<bool>& bits,
                                   std::span<const std::uint32_t> unfiltered) {
  std::vector<bool> model = cacheable(filters, arch, static_cast<std::uint32_t>(bits.size()));
  for (const std::uint32_t nr : unfiltered)
    if (nr < model.size()) model[nr] = true;
  const auto ours = numbers(model);
  const auto kernels = numbers(bits);
  return {without(ours, kernels), without(kernels, ours)};
}

std::string lost_text(std::span<const CacheChange> changes) {
  std::size_t count = 0;
  std::string calls;
  for (const CacheChange& change : changes) {
    if (change.lost.empty()) continue;
    count += change.lost.size();
    calls += fmt::format("{}{} ({})", calls.empty() ? "" : "; ",
                         shown_calls(change.arch, change.lost), arch_info(change.arch).name);
  }
  return fmt::format("{} from its cache: {}", counted(count, "system call"), calls);
}

std::string shown_calls(Arch arch, std::span<const std::uint32_t> numbers, std::size_t most) {
  if (numbers.empty()) return "none";
  return first_and_count(numbers, most, [&](std::uint32_t nr) { return shown_call(arch, nr); });
}

std::string shown_call(const SeccompData& data, int least) {
  const Endian endian = endian_of(data.arch());
  int last = kArgCount;
  while (last > least && data.field(last - 1, endian) == 0) --last;
  std::vector<std::string> arguments;
  arguments.reserve(static_cast<std::size_t>(last));
  for (int i = 0; i < last; ++i) arguments.push_back(fmt::format("{:#x}", data.field(i, endian)));
  const auto arch = arch_from_data(data.arch(), data.nr());
  return fmt::format("{}({})", arch ? shown_call(*arch, data.nr()) : "?",
                     fmt::join(arguments, ", "));
}

std::string shown_call(Arch arch, std::uint32_t nr) {
  const std::string_view name = syscall_name(arch, nr);
  return name.empty() ? fmt::format("syscall {}", nr) : std::string(name);
}

}  // namespace secequiv

#include "harness/seccomp/data.h"

#include <fmt/format.h>

#include "harness/base/bytes.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

std::string word_name(std::uint32_t word, Endian endian) {
  if (word == kNrWord) return "nr";
  if (word == kArchWord) return "arch";
  const bool high = (word % 2 == 1) == (endian == Endian::kLittle);
  const char* half = high ? "hi" : "lo";
  if (word < kArgsWord) return fmt::format("ip.{}", half);
  return fmt::format("args[{}].{}", (word - kArgsWord) / 2, half);
}

std::string describe_call(const SeccompData& data) {
  const auto arch = arch_from_data(data.arch(), data.nr());
  const std::string_view name = arch ? syscall_name(*arch, data.nr()) : std::string_view();
  std::string out = fmt::format("nr={}", data.nr());
  if (!name.empty()) out += fmt::format(" ({})", name);
  out += arch ? fmt::format(" arch={:#x} ({})", data.arch(), arch_info(*arch).name)
              : fmt::format(" arch={:#x} (unknown)", data.arch());
  return out;
}

std::string describe(const SeccompData& data) {
  const Endian endian = endian_of(data.arch());
  std::string out = describe_call(data);
  out += fmt::format(" ip={:#x} args=[", data.field(kIpField, endian));
  int last = kArgCount - 1;
  while (last >= 0 && data.field(last, endian) == 0) --last;
  for (int i = 0; i <= last; ++i)
    out += fmt::format("{}{:#x}", i == 0 ? "" : ", ", data.field(i, endian));
  return out + "]";
}

std::string input_bytes(std::span<const SeccompData> inputs) {
  std::string out;
  out.reserve(inputs.size() * sizeof(SeccompData));
  for (const SeccompData& input : inputs)
    for (const std::uint32_t word : input.words) append_bytes(out, word);
  return out;
}

std::vector<SeccompData> inputs_from(std::string_view bytes) {
  std::vector<SeccompData> out(bytes.size() / sizeof(SeccompData));
  for (SeccompData& input : out)
    for (std::uint32_t& word : input.words) word = take_bytes(bytes);
  return out;
}

}  // namespace secequiv

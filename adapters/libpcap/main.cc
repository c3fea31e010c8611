// Puts libpcap's interpreter of classic BPF, bpf_filter, under test as an evaluator of seccomp
// filters. A packet's words are big-endian. Its length on the wire is the size of struct
// seccomp_data.
#include <arpa/inet.h>
#include <pcap/bpf.h>

#include "adapters/serve/serve.h"

namespace {

struct Handlers {
  static adapter::Answer answer_compile(std::string_view) {
    return adapter::unsupported("libpcap compiles expressions about packets, not seccomp policies");
  }

  static adapter::Answer answer_evaluate(const std::vector<adapter::Insn>& program,
                                         std::string_view inputs) {
    std::vector<bpf_insn> insns;
    insns.reserve(program.size());
    for (const adapter::Insn& insn : program)
      insns.push_back({.code = insn.code, .jt = insn.jt, .jf = insn.jf, .k = insn.k});
    if (bpf_validate(insns.data(), static_cast<int>(insns.size())) == 0)
      return adapter::refused("bpf_validate refuses the program");
    adapter::Answer out;
    for (; !inputs.empty(); inputs.remove_prefix(adapter::kInputBytes)) {
      auto words = adapter::items<std::uint32_t>(inputs.substr(0, adapter::kInputBytes));
      for (std::uint32_t& word : words) word = htonl(word);
      const std::uint32_t value =
          bpf_filter(insns.data(), reinterpret_cast<const unsigned char*>(words.data()),
                     adapter::kInputBytes, adapter::kInputBytes);
      out.body.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return out;
  }
};

}  // namespace

int main(int argc, char**) {
  if (argc != 1) {
    std::fprintf(stderr,
                 "usage: libpcap (it takes no arguments and reads requests from standard input)\n");
    return 2;
  }
  return adapter::serve("libpcap", Handlers{});
}

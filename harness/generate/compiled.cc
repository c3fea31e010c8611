#include <array>
#include <string_view>

#include "harness/bpf/text.h"
#include "harness/generate/program.h"

namespace secequiv {
namespace compiled_parts {
// cmake/embed.cmake makes these from corpus/programs.
std::string_view kvm_before();
std::string_view kvm_after();
std::string_view docker_linear();
std::string_view docker_tree();
}  // namespace compiled_parts

std::span<const Program> compiled_programs() {
  static const std::array<Program, 4> kPrograms = [] {
    std::array<Program, 4> out;
    std::size_t i = 0;
    for (const std::string_view bytes :
         {compiled_parts::kvm_before(), compiled_parts::kvm_after(),
          compiled_parts::docker_linear(), compiled_parts::docker_tree()})
      out[i++] = *read_program(bytes, "compiled", Form::kRaw);
    return out;
  }();
  return kPrograms;
}

}  // namespace secequiv

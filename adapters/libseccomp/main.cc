// Puts libseccomp under test as a compiler of policies.
//   libseccomp [--tree]   --tree: search numbers in a tree instead of a list
#include "adapters/libseccomp/express.h"
#include "adapters/serve/serve.h"

namespace {

using adapter::Answer;

struct Handlers {
  bool tree = false;

  [[nodiscard]] Answer answer_compile(std::string_view text) const {
    secequiv_policy policy;
    if (const std::size_t wrong = secequiv_read_policy(text.data(), text.size(), &policy))
      return adapter::refused("expected a policy in its normal form, found other text at byte " +
                              std::to_string(wrong - 1));
    adapter::FilterSpec spec;
    const auto reason = adapter::express(policy, spec);
    secequiv_free_policy(&policy);
    if (reason) return adapter::unsupported(*reason);
    spec.tree = tree;
    return adapter::compile(spec);
  }

  static Answer answer_evaluate(const std::vector<adapter::Insn>&, std::string_view) {
    return adapter::unsupported("libseccomp has no interpreter");
  }
};

}  // namespace

int main(int argc, char** argv) {
  Handlers handlers;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--tree") {
      std::fprintf(stderr, "usage: libseccomp [--tree] (it reads requests from standard input)\n");
      return 2;
    }
    handlers.tree = true;
  }
  return adapter::serve("libseccomp", handlers);
}

// Compares the reference optimizer's filters for real policies with those of gVisor and libseccomp,
// and measures the time to make them. With --counts it prints sizes and executed instructions as
// JSON. Otherwise it measures times. scripts/bench optimize runs this and compares the results with
// the targets.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/bench_corpus.h"
#include "harness/base/random.h"
#include "harness/coverage/cost.h"
#include "harness/import/import_oci.h"
#include "harness/import/read_profile.h"
#include "harness/inputs/cases.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/cache.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

using nlohmann::json;

constexpr std::size_t kRequests = 500;
constexpr std::size_t kMisses = 500;
// libseccomp 2.5.4 does not know some names, but fewer than this. More would be a bug of an
// importer.
constexpr std::size_t kUnknownNames = 40;
constexpr const char* kLargest = "systrap-everything";

Error broken(const std::string& what, const std::string& why) {
  return make_error(ErrorCode::kInternal, what, why);
}

Result<Policy> load_policy(const std::string& name) {
  const auto text = read_file(kCorpus / "policies" / name);
  if (!text) return text.error();
  return read_policy(*text, name);
}

std::vector<std::string> gvisor_names() {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(kCorpus / "policies" / "gvisor", none))
    if (entry.path().extension() == ".json") out.push_back(entry.path().stem());
  std::ranges::sort(out);
  return out;
}

// Returns why the two are not proven equivalent for the assumed inputs, or "".
std::string complaint(const Program& before, const Program& after,
                      const Assumption& assumption = {}) {
  const Pair pair{before, after};
  Question question(pair);
  question.assumption = assumption;
  const auto proof = dd::prove(question);
  if (!proof) return proof.error().text();
  if (proof->verdict == Verdict::kEquivalent) return "";
  std::string out(verdict_name(proof->verdict));
  if (!proof->detail.empty()) out += ", " + proof->detail;
  if (proof->witness) out += ", for example " + describe(proof->witness->data);
  return out;
}

// Returns the size and how many instructions `inputs` execute: the mean with the kernel's bitmap,
// the mean without it ("uncached"), and the most.
json executed_over(const Program& program, std::span<const SeccompData> inputs) {
  std::map<Arch, std::vector<bool>> cache;
  for (const ArchInfo& info : all_arches()) cache[info.arch] = cacheable(program, info.arch);
  std::size_t total = 0;
  std::size_t filtered = 0;
  std::size_t most = 0;
  for (const SeccompData& data : inputs) {
    const std::size_t count = executed(program, data);
    const auto arch = arch_from_data(data.arch(), data.nr());
    const bool cached = arch && data.nr() < cache[*arch].size() && cache[*arch][data.nr()];
    total += count;
    filtered += cached ? 0 : count;
    most = std::max(most, count);
  }
  const auto calls = static_cast<double>(inputs.size());
  return {{"size", program.size()},
          {"executed", static_cast<double>(filtered) / calls},
          {"uncached", static_cast<double>(total) / calls},
          {"most", most}};
}

// Returns how many system calls the kernel answers from its bitmap for `before` but not for
// `after`, and the reverse.
json cache_change(const Program& before, const Program& after, Arch arch) {
  const auto old_bits = cacheable(before, arch);
  const auto new_bits = cacheable(after, arch);
  int lost = 0;
  int gained = 0;
  for (std::size_t nr = 0; nr < old_bits.size(); ++nr) {
    lost += old_bits[nr] && !new_bits[nr] ? 1 : 0;
    gained += !old_bits[nr] && new_bits[nr] ? 1 : 0;
  }
  return {{"lost", lost}, {"gained", gained}};
}

Result<json> beside_gvisor(const std::string& name, std::span<const SyscallCount> profile) {
  const auto policy = load_policy("gvisor/" + name + ".json");
  if (!policy) return policy.error();
  const auto theirs = load_program("gvisor/" + name + ".after.bpf");
  if (!theirs) return theirs.error();
  const Program compiled = compile(*policy);
  const Program ours = optimize(*policy).program;
  const auto inputs = derive_cases(*policy).inputs;
  json out{{"name", name}, {"compiled", compiled.size()}};
  for (const auto& [whose, program] : {std::pair("gvisor", &*theirs), std::pair("ours", &ours)}) {
    if (const auto wrong = complaint(compiled, *program); !wrong.empty())
      return broken(whose, "not proven equivalent to the policy: " + wrong);
    const auto costs = profile_cost(*program, Arch::kX86_64, profile, inputs);
    out[whose] = {{"size", program->size()},
                  {"weighted", weighted_mean(costs)},
                  {"uncached", weighted_mean_uncached(costs)}};
  }
  out["cache_gvisor"] = cache_change(*theirs, ours, Arch::kX86_64);
  out["cache_compiled"] = cache_change(compiled, ours, Arch::kX86_64);
  return out;
}

// Returns the names whose rules have no effect in `program` on any architecture. The library that
// made the program does not know these names.
std::set<std::string> without_effect(const Policy& policy, const Program& program,
                                     std::span<const SeccompData> inputs) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> decided;
  for (const SeccompData& data : inputs)
    if (run(program, data) != policy.default_action) decided.emplace(data.arch(), data.nr());
  std::set<std::string> out;
  std::set<std::string> known;
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules)
      (decided.contains({arch_info(entry.arch).audit, entry.nr}) ? known : out)
          .emplace(syscall_name(entry.arch, entry.nr));
  std::erase_if(out, [&](const std::string& name) { return known.contains(name); });
  return out;
}

struct Restricted {
  Policy policy;
  std::size_t left_out = 0;  // number of names
  std::string assumed = "true";
};

Result<Restricted> profile_as_compiled(const std::string& profile, Arch arch,
                                       const Program& program) {
  const auto text = read_file(kCorpus / "policies" / "oci" / profile);
  if (!text) return text.error();
  OciOptions options;
  options.arch = arch;
  auto import = import_oci(*text, profile, options);
  if (!import) return import.error();
  Restricted out{std::move(import->policy)};
  const auto unknown = without_effect(out.policy, program, derive_cases(out.policy).inputs);
  if (unknown.size() >= kUnknownNames)
    return broken(profile, std::to_string(unknown.size()) + " names have no effect, " +
                               std::to_string(kUnknownNames) + " are too many");
  out.left_out = unknown.size();
  for (RuleSet& set : out.policy.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule& entry) {
      return unknown.contains(std::string(syscall_name(entry.arch, entry.nr)));
    });
  return out;
}

SeccompData x86_64_call(std::uint32_t nr) {
  SeccompData data;
  data.set_arch(AUDIT_ARCH_X86_64);
  data.set_nr(nr);
  return data;
}

// Returns the policy of a filter that decides only by the number. If x32 is not listed, libseccomp
// kills all numbers from 0x40000000 on except -1, not only those with the x32 bit. Therefore the
// comparison assumes nr < 0x80000000.
Restricted allow_list_of(const Program& program) {
  constexpr std::uint32_t kNumbers = 1024;
  Policy out;
  out.arches = {Arch::kX86_64};
  out.default_action = run(program, x86_64_call(kNumbers));
  out.bad_arch_action = run(program, SeccompData());
  out.x32_action = run(program, x86_64_call(kX32Bit));
  RuleSet set;
  set.action = SECCOMP_RET_ALLOW;
  for (std::uint32_t nr = 0; nr < kNumbers; ++nr)
    if (run(program, x86_64_call(nr)) == set.action) set.rules.push_back({Arch::kX86_64, nr, {}});
  out.rule_sets = {set};
  return {std::move(out), 0, "nr < 0x80000000"};
}

// An empty `profile` means that the rules are read from the filter.
Result<json> beside_libseccomp(const std::string& name, const std::string& profile, Arch arch) {
  const auto linear = load_program("libseccomp/" + name + ".linear.bpf");
  if (!linear) return linear.error();
  const auto tree = load_program("libseccomp/" + name + ".tree.bpf");
  if (!tree) return tree.error();
  const auto rules = profile.empty() ? Result<Restricted>(allow_list_of(*linear))
                                     : profile_as_compiled(profile, arch, *linear);
  if (!rules) return rules.error();
  const auto assumed = parse_assumption(rules->assumed, arch);
  if (!assumed) return assumed.error();
  const Program compiled = compile(rules->policy);
  const Program ours = optimize(rules->policy).program;
  const auto inputs = derive_cases(rules->policy).inputs;
  json out{{"name", name},
           {"left_out", rules->left_out},
           {"assumed", rules->assumed},
           {"inputs", inputs.size()}};
  for (const auto& [whose, program] :
       {std::pair("linear", &*linear), std::pair("tree", &*tree), std::pair("ours", &ours)}) {
    if (const auto wrong =
            complaint(compiled, *program, program == &ours ? Assumption() : *assumed);
        !wrong.empty())
      return broken(whose, "not proven equivalent to the policy: " + wrong);
    out[whose] = executed_over(*program, inputs);
  }
  return out;
}

Rule equals(int field, std::uint64_t value) {
  Rule out;
  out.kind = Rule::Kind::kArgs;
  Matcher& matcher = out.fields[static_cast<std::size_t>(field)];
  matcher.op = Matcher::Op::kEq;
  matcher.value = value;
  return out;
}

std::vector<std::uint32_t> scattered(Random& random, std::size_t count) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> out;
  while (out.size() < count)
    if (const std::uint32_t value = random.word(); seen.insert(value).second) out.push_back(value);
  return out;
}

Policy with_rules(std::vector<SyscallRule> rules) {
  Policy out;
  out.arches = {Arch::kX86_64};
  out.default_action = SECCOMP_RET_ERRNO | 1;
  out.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
  out.rule_sets = {{SECCOMP_RET_ALLOW, false, std::move(rules)}};
  return out;
}

constexpr std::uint32_t kIoctl = 16;  // x86_64

Policy ioctl_policy(std::span<const std::uint32_t> requests) {
  Rule any;
  any.kind = Rule::Kind::kAnyOf;
  for (const std::uint32_t request : requests) any.children.push_back(equals(1, request));
  return with_rules({{Arch::kX86_64, kIoctl, std::move(any)}});
}

// Returns a policy for `count` system calls, each with one value of its first argument.
Policy calls_policy(std::size_t count) {
  Random random(count);
  const auto values = scattered(random, count);
  std::vector<SyscallRule> rules;
  rules.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    rules.push_back({Arch::kX86_64, static_cast<std::uint32_t>(i), equals(0, values[i])});
  return with_rules(std::move(rules));
}

Result<json> requests(const std::string& name, std::span<const Pass* const> passes) {
  Random random(1);
  const auto values = scattered(random, kRequests + kMisses);
  const Policy policy = ioctl_policy(std::span(values).first(kRequests));
  const Program ours = optimize(policy, passes).program;
  if (const auto wrong = complaint(compile(policy), ours); !wrong.empty())
    return broken(name, "not proven equivalent to the policy: " + wrong);
  std::vector<SeccompData> calls;
  for (const std::uint32_t value : values) {
    calls.push_back(x86_64_call(kIoctl));
    calls.back().set_field(1, value, Endian::kLittle);
  }
  json out{{"name", name}};
  out.update(executed_over(ours, calls));
  return out;
}

// Adds the row. In case of an error, adds its name and the error.
void add_row(json& rows, const std::string& name, const Result<json>& row) {
  rows.push_back(row ? *row : json{{"name", name}, {"error", row.error().text()}});
}

json counts() {
  json out{{"gvisor", json::array()}, {"libseccomp", json::array()}, {"requests", json::array()}};
  const std::string profile_name = "postgres.txt";
  const auto text = read_file(kCorpus / "profiles" / profile_name);
  const auto profile =
      text ? read_profile(*text, profile_name) : Result<std::vector<SyscallCount>>(text.error());
  for (const std::string& name : gvisor_names())
    add_row(out["gvisor"], name,
            profile ? beside_gvisor(name, *profile) : Result<json>(profile.error()));

  struct Filter {
    const char* name;
    const char* profile;
    Arch arch;
  };
  for (const auto& [name, oci, arch] :
       {Filter{"docker-x86_64", "docker-default.json", Arch::kX86_64},
        Filter{"docker-aarch64", "docker-default.json", Arch::kAarch64},
        Filter{"podman-x86_64", "podman-default.json", Arch::kX86_64},
        Filter{"allow306", "", Arch::kX86_64}})
    add_row(out["libseccomp"], name, beside_libseccomp(name, oci, arch));

  auto without = standard_passes();
  std::erase(without, find_pass("value-trees"));
  add_row(out["requests"], "without", requests("without", without));
  add_row(out["requests"], "with", requests("with", standard_passes()));
  return out;
}

template <class Work>
void add(const std::string& name, const Result<Policy>& policy, const Work& work) {
  benchmark::RegisterBenchmark(name.c_str(), [policy, work](benchmark::State& state) {
    if (!policy) {
      state.SkipWithError(policy.error().text().c_str());
      return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(work(*policy));
  })->Unit(benchmark::kMicrosecond);
}

void add_times() {
  const auto whole = [](const Policy& policy) { return optimize(policy); };
  for (const std::string& name : gvisor_names())
    add("optimize/" + name, load_policy("gvisor/" + name + ".json"), whole);

  // Each of the three kinds of passes runs on the result of the previous one.
  const auto largest = load_policy(std::string("gvisor/") + kLargest + ".json");
  const auto passes = standard_passes();
  const Policy simple = largest ? simplify(*largest, passes).policy : Policy();
  const Program laid_out = largest ? render(lay_out(simple, passes)) : Program();
  add("split/rules", largest, [passes](const Policy& policy) { return simplify(policy, passes); });
  add("split/layout", largest,
      [passes, simple](const Policy&) { return render(lay_out(simple, passes)); });
  add("split/bytecode", largest,
      [passes, laid_out](const Policy&) { return optimize(laid_out, passes); });

  for (std::size_t count = 64; count <= 4096; count *= 2) {
    Random random(count);
    add("growth/calls/" + std::to_string(count), calls_policy(count), whole);
    add("growth/requests/" + std::to_string(count), ioctl_policy(scattered(random, count)), whole);
  }
}

}  // namespace
}  // namespace secequiv

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--counts") == 0) {
    std::cout << secequiv::counts().dump(1) << "\n";
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  secequiv::add_times();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

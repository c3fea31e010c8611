#include "fuzz/targets/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "fuzz/targets/evaluation_bytes.h"
#include "fuzz/targets/readers.h"
#include "harness/base/bytes.h"
#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "harness/coverage/state.h"
#include "harness/generate/policy.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/import/import.h"
#include "harness/optimize/precompile.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/diff.h"
#include "harness/report/json.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/vector_file.h"

namespace secequiv::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kGenerated = 64;  // for each kind
// libFuzzer would spend most changes on larger seeds, and each of its runs would be slow.
constexpr std::size_t kLargestProgram = 96;    // instructions
constexpr std::size_t kLargestText = 1 << 13;  // bytes

struct File {
  std::string name;  // path within the corpus, with '-' for '/'
  std::string bytes;
};

// Returns the files under a folder, sorted by name.
Result<std::vector<File>> files_under(const fs::path& corpus, const char* folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(corpus / folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (at->is_regular_file()) paths.push_back(at->path());
  if (error) return make_error(ErrorCode::kIo, (corpus / folder).string(), error.message());
  std::ranges::sort(paths);
  std::vector<File> out;
  for (const fs::path& path : paths) {
    ASSIGN_OR_RETURN(auto bytes, read_file(path.string()));
    std::string name = path.lexically_relative(corpus).string();
    std::ranges::replace(name, '/', '-');
    out.push_back({std::move(name), std::move(bytes)});
  }
  return out;
}

class Maker {
 public:
  explicit Maker(std::string corpus) : corpus_(std::move(corpus)) {}

  Result<Seeds> make() {
    for (const auto step :
         {&Maker::take_programs, &Maker::take_vectors, &Maker::take_policies, &Maker::take_texts,
          &Maker::take_regress, &Maker::take_pair, &Maker::generate})
      RETURN_IF_ERROR((this->*step)());
    add_written();
    add_words();
    for (const char* target : {"fuzz_program", "fuzz_plugin", "fuzz_semantics", "fuzz_check"})
      out_[target].options = {{"max_len", 8192}, {"timeout", 25}};
    out_["fuzz_check"].options["max_len"] = 40000;  // more than 4096 instructions
    for (const char* target : {"fuzz_policy", "fuzz_parsers"})
      out_[target].options = {{"max_len", 32768}, {"timeout", 25}};
    return std::move(out_);
  }

 private:
  void add(const char* target, const std::string& name, const std::string& bytes) {
    out_[target].files[name] = bytes;
  }

  void add_program(const std::string& name, const Program& program) {
    const std::string raw = write_program(program, Form::kRaw);
    if (program.size() <= kLargestProgram || program.size() > kMaxInsns)
      add("fuzz_check", name, raw);
    if (refusal_of(program) || program.size() > kLargestProgram) return;
    add("fuzz_program", name, raw);
    add("fuzz_plugin", name, raw);
    Random random(program.size());
    add("fuzz_semantics", name, write_evaluations({program, random_inputs(random, program, 4)}));
  }

  void add_policy(const std::string& name, const std::string& text) {
    if (text.size() <= kLargestText && read_policy(text, name)) add("fuzz_policy", name, text);
  }

  void add_text(const std::string& reader, const std::string& name, const std::string& bytes) {
    if (bytes.size() > kLargestText) return;
    const auto all = readers();
    const auto at = std::ranges::find(all, reader, &Reader::name);
    add("fuzz_parsers", reader + "-" + name,
        std::string{kOneReader, static_cast<char>(at - all.begin())} + bytes);
  }

  Status take_programs() {
    ASSIGN_OR_RETURN(const auto files, files_under(corpus_, "programs"));
    for (const File& file : files)
      if (file.name.ends_with(".bpf"))
        if (const auto program = read_program(file.bytes, file.name, Form::kRaw))
          add_program(file.name, *program);
    return Ok{};
  }

  Status take_vectors() {
    ASSIGN_OR_RETURN(const auto files, files_under(corpus_, "vectors"));
    for (const File& file : files) {
      add_text("vectors", file.name, file.bytes);
      ASSIGN_OR_RETURN(const auto vectors, parse_vectors(file.bytes, file.name));
      for (const Vector& vector : vectors)
        for (std::size_t i = 0; i < vector.programs.size(); ++i)
          add_program(fmt::format("{}-{}-{}", file.name, vector.line, i), vector.programs[i]);
    }
    return Ok{};
  }

  Status take_policies() {
    ASSIGN_OR_RETURN(const auto files, files_under(corpus_, "policies"));
    for (const File& file : files) {
      if (!file.name.ends_with(".json")) continue;
      add_policy(file.name, file.bytes);
      add_text(file.name.find("oci") == std::string::npos ? "policy" : "oci", file.name,
               file.bytes);
      if (const auto policy = read_policy(file.bytes, file.name)) add_of_policy(file.name, *policy);
    }
    // Policies in formats of other projects, each format in a folder with its name.
    for (const char* format : {"oci", "seccompiler", "minijail", "minijail-compiler", "pfc"}) {
      ASSIGN_OR_RETURN(const auto foreign,
                       files_under(corpus_, ("imports/" + std::string(format)).c_str()));
      for (const File& file : foreign)
        if (is_policy(file.bytes)) add_text(format, file.name, file.bytes);
    }
    return Ok{};
  }

  // Adds the other texts that can be made from a policy.
  void add_of_policy(const std::string& name, const Policy& policy) {
    const Program program = compile(policy);
    add_program(name, program);
    if (const auto precompiled = compile_with_names(policy, compile))
      add_text("symbolic", name, write_symbolic(*precompiled));
    for (const RuleSet& set : policy.rule_sets)
      if (!set.rules.empty()) add_text("rule", name, write_rule(set.rules.front().rule));
  }

  Status take_texts() {
    auto files = files_under(corpus_, "seeds");
    const auto profiles = files_under(corpus_, "profiles");
    if (!files) return files.error();
    if (!profiles) return profiles.error();
    for (const File& file : *files)
      if (file.name.find("parsers") != std::string::npos)
        add("fuzz_parsers", file.name, file.bytes);
    for (const File& file : *profiles) add_text("profile", file.name, file.bytes);
    return Ok{};
  }

  // Adds the regression inputs of each target. The parsers also get all readable files of the other
  // targets.
  Status take_regress() {
    ASSIGN_OR_RETURN(const auto files, files_under(corpus_, "regress"));
    for (const File& file : files) {
      for (const char* target :
           {"fuzz_program", "fuzz_policy", "fuzz_semantics", "fuzz_check", "fuzz_plugin"})
        if (file.name.starts_with(fmt::format("regress-{}-", std::string_view(target).substr(5))))
          add(target, file.name, file.bytes);
      if (file.name.starts_with("regress-p") && file.bytes.size() <= kLargestText)
        add("fuzz_parsers", file.name, file.bytes);
      add_policy(file.name, file.bytes);
      if (const auto program = read_program(file.bytes, file.name); program && program->size() > 1)
        add_program(file.name, *program);
    }
    return Ok{};
  }

  Status generate() {
    Random random(1);
    for (std::size_t i = 0; i < kGenerated; ++i) {
      const Program program = generate_program(random, {.length = 4 + i});
      add_program(fmt::format("generated-{}", i), program);
      // The last shape, long policies, would slow the targets down.
      const auto shape = static_cast<PolicyShape>(i % (kPolicyShapes - 1));
      const std::string text = write_policy(generate_policy(random, shape));
      add_policy(fmt::format("generated-{}.json", i), text);
      if (i < kPolicyShapes) add_text("policy", fmt::format("generated-{}.json", i), text);
    }
    return Ok{};
  }

  // Adds small files of kinds that the corpus does not contain.
  void add_written() {
    const Program program = {
        {kLdWAbs, 0, 0, 0}, {kTax, 0, 0, 0}, {kJeqK, 1, 0, 39}, {kDivX, 0, 0, 0}, {kRetA, 0, 0, 0}};
    add_text("coverage", "fresh", write_coverage(CoverageMap(program)));
    add_text("inputs", "two", write_inputs({SeccompData{}, SeccompData{}}));
    add_text("profile", "strace",
             "% time     seconds  usecs/call     calls    errors syscall\n"
             "------ ----------- ----------- --------- --------- ----------------\n"
             " 98.00    0.000100          10        10         1 read\n"
             "------ ----------- ----------- --------- --------- ----------------\n"
             "100.00    0.000100          10        10         1 total\n");
    add_text("rewrites", "code",
             "rule r\n source: s\n expect: refuted exit\n where: popcount($m) == 1 && $i != 3\n"
             " live: X, M[2]\n live yes: none\n before:\n st M[$i]\n and #($m & ~1)\n"
             " jeq #$m, yes, l\n l: ret a\n after:\n ld [$o]\n jset #$m, yes, no\n");
    add_text("rewrites", "family",
             "rule f\n for: n in 0..3, m in 1..2\n where: all j < m: $S[j] => $P[0,j]\n"
             " before: any i < n: all j < m: $P[i,j] || wide([4], $a) <s 5\n after: any_of($q)\n");
    add_text("profile", "json", "{\"futex\": 870063, \"read\": 1}");
    add_text("profile", "json_list", R"([{"name": "futex", "calls": 870063}])");
    add_text("oci", "small", R"({
  "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
  "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]}],
  "syscalls": [
    {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
    {"names": ["personality"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "4.8"},
     "args": [{"index": 0, "value": 8, "valueTwo": 2, "op": "SCMP_CMP_MASKED_EQ"}]}
  ]
})");
    add_text("assumption", "arches", "arch == x86_64 && nr in {read, write} || arch in {aarch64}");
    add_text("assumption", "fields", "!(arg0.hi == 0 && arg1 & 0x7 == 2) && ip not in {1..2, 9}");
    add_text("property", "clauses",
             "# comment\nwhen nr == socket && arg0.lo == AF_ALG: refused\nallowed: read, write\n"
             "always: arch in {x86_64} or killed\n");
    DiffReport report;
    report.question.before = report.question.after = {program};
    Change change{{0x7fff0000, 0x7fff0000}, {0x50001, 0x50000}, {}};
    change.where = {{{{{0, 39, false, {0, 0}, {{39, 39}}, {}}}, "1"}}, "1", "1"};
    report.difference = {{change}, "1"};
    add_text("expectation", "one", render(stored_json(report)));
    const std::string raw = write_program(program, Form::kRaw);
    add_text("frames", "optimize", "O" + raw);
    add_text("frames", "compile", "C{}");
    add_text("frames", "evaluate", std::string("E\x05\0\0\0", 5) + raw + std::string(64, '\0'));
    for (const char* name : {"read", "amd64", "errno(EPERM)", "O_RDWR|O_CREAT", "6.1.2-rc1", "-1"})
      add_text("names", name, name);
  }

  // Makes dictionaries. Those for programs contain instructions and common constants of filters.
  void add_words() {
    std::set<std::string> code;
    for (const InsnInfo& info : insn_table()) code.insert(word_bytes(info.code));
    for (const ArchInfo& info : all_arches()) code.insert(word_bytes(info.audit));
    for (const std::uint32_t value :
         {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO, SECCOMP_RET_USER_NOTIF,
          SECCOMP_RET_TRACE, SECCOMP_RET_LOG, SECCOMP_RET_ALLOW, kX32Bit, 0xffffffffu})
      code.insert(word_bytes(value));
    for (const char* target : {"fuzz_program", "fuzz_plugin", "fuzz_semantics", "fuzz_check"})
      out_[target].dictionary = code;
    std::set<std::string> text;
    for (const auto& [target, seeds] : out_)
      if (target == "fuzz_policy" || target == "fuzz_parsers")
        for (const auto& [name, bytes] : seeds.files) take_words(bytes, text);
    for (const SyscallEntry& entry : arch_info(Arch::kX86_64).syscalls)
      text.insert(std::string(entry.name));
    for (const ArchInfo& info : all_arches()) text.insert(std::string(info.name));
    out_["fuzz_policy"].dictionary = text;
    for (const InsnInfo& info : insn_table()) text.insert(std::string(info.mnemonic));
    for (const char* sign : {"&&", "||", "==", "!=", "<=", "in {", "not in {", "..", "&", "[0]",
                             "#0x", "M[0]", "x, ", ".repeat", "BPF_STMT(", "BPF_JUMP("})
      text.insert(sign);
    out_["fuzz_parsers"].dictionary = std::move(text);
  }

  // Collects the keys of JSON and the values that are words.
  static void take_words(std::string_view bytes, std::set<std::string>& out) {
    for (std::size_t at = bytes.find('"'); at != bytes.npos;) {
      const std::size_t end = bytes.find('"', at + 1);
      if (end == bytes.npos) return;
      const std::string_view quoted = bytes.substr(at, end + 1 - at);
      if (quoted.size() > 3 && quoted.size() < 24 &&
          std::ranges::all_of(quoted.substr(1, quoted.size() - 2),
                              [](unsigned char c) { return std::isalpha(c) || c == '_'; }))
        out.insert(std::string(quoted));
      at = bytes.find('"', end + 1);
    }
  }

  Status take_pair() {
    std::array<std::string, 3> texts;
    const std::array<const char*, 3> names = {"programs/gvisor/systrap.before.bpf",
                                              "programs/gvisor/systrap.after.bpf",
                                              "policies/gvisor/systrap.json"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      ASSIGN_OR_RETURN(texts[i], read_file((corpus_ / names[i]).string()));
    }
    ASSIGN_OR_RETURN(auto seeds, pair_seeds(texts[0], texts[1], texts[2]));
    out_["fuzz_pair"] = std::move(seeds);
    return Ok{};
  }

  fs::path corpus_;
  Seeds out_;
};

}  // namespace

Result<Seeds> make_seeds(const std::string& corpus) { return Maker(corpus).make(); }

std::string word_bytes(std::uint32_t word) {
  std::string out;
  append_bytes(out, word);
  return out;
}

std::string dictionary_entry(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + "\"";
}

Status store_seeds(const Seeds& seeds, const std::string& folder) {
  for (const auto& [target, given] : seeds) {
    const fs::path base = fs::path(folder) / target;
    const std::string corpus = base.string() + "_seed_corpus";
    std::error_code error;
    fs::create_directories(corpus, error);
    if (error) return make_error(ErrorCode::kIo, corpus, error.message());
    for (const auto& [name, bytes] : given.files)
      RETURN_IF_ERROR(write_file((fs::path(corpus) / name).string(), bytes, false));
    for (const auto& [name, bytes] : given.data)
      RETURN_IF_ERROR(write_file((fs::path(folder) / name).string(), bytes));
    std::string words;
    for (const std::string& word : given.dictionary) words += dictionary_entry(word) + "\n";
    std::string options = "[libfuzzer]\n";
    for (const auto& [name, value] : given.options)
      options += fmt::format("{} = {}\n", name, value);
    if (!given.dictionary.empty()) {
      options += fmt::format("dict = {}.dict\n", target);
      RETURN_IF_ERROR(write_file(base.string() + ".dict", words));
    }
    RETURN_IF_ERROR(write_file(base.string() + ".options", options));
  }
  return Ok{};
}

}  // namespace secequiv::fuzz

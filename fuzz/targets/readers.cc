#include "fuzz/targets/readers.h"

#include <fmt/format.h>

#include <array>

#include "fuzz/targets/round_trip.h"
#include "harness/adapter/frames.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "harness/coverage/listing.h"
#include "harness/coverage/state.h"
#include "harness/import/import.h"
#include "harness/import/read_profile.h"
#include "harness/inputs/cases.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/diff.h"
#include "harness/report/expectation.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/assumption.h"
#include "harness/seccomp/c_names.h"
#include "harness/seccomp/property.h"
#include "harness/seccomp/vector_file.h"
#include "verify/rules/rule.h"

namespace secequiv::fuzz {
namespace {

// Returns what is wrong with an answer: an error has no message, or a value violates a property,
// whose name `holds` returns.
template <class T, class Holds>
Reading answered(const Result<T>& result, const Holds& holds) {
  if (result) return {true, holds(*result)};
  return {false, result.error().detail.empty() ? "an error has no message" : ""};
}

// If a reader has a writer, the written text must be readable, and writing the result again must
// give the same text.
template <class T, class Read, class Write>
std::string written_again(const T& value, const Read& read, const Write& write) {
  const std::string text = write(value);
  const auto again = read(text);
  if (!again) return "the written text cannot be read: " + again.error().text();
  if (write(*again) != text) return "the written text reads back as a different value";
  return {};
}

Reading any_form(std::string_view bytes, Form form) {
  const auto program = read_program(bytes, "input", form, c_names(Arch::kX86_64));
  return answered(program, [&](const Program& it) -> std::string {
    if (const auto refusal = refusal_of(it, LengthRule::kUnlimited);
        refusal && describe(*refusal, it).empty())
      return "a refusal has no message";
    if (form != detect_form(bytes) && bytes.size() > 4096) return {};
    return round_trip_failure(it);
  });
}
template <Form kForm>
Reading program(std::string_view bytes) {
  return any_form(bytes, kForm);
}

std::string examine(const Policy& policy) {
  std::string wrong = written_again(
      policy, [](const std::string& text) { return read_policy(text, "written"); }, write_policy);
  if (!wrong.empty()) return wrong;
  const Program program = compile(policy);
  if (refusal_of(program, LengthRule::kUnlimited))
    return "the kernel would refuse a compiled policy";
  if (program.size() > 20000) return {};
  for (const SeccompData& data : derive_cases(policy, {50, 500}).inputs)
    if (run(program, data) != decide(policy, data))
      return "a compiled policy and the policy decide differently";
  return {};
}

Reading policy(std::string_view bytes) { return answered(read_policy(bytes, "input"), examine); }

Reading oci(std::string_view bytes) {
  return answered(import_oci(bytes, "input", OciOptions{}),
                  [](const OciImport& import) { return examine(import.policy); });
}

template <PolicyFormat kFormat>
Reading foreign(std::string_view bytes) {
  (void)is_policy(bytes);
  return answered(import_policy(bytes, "input", kFormat, ImportOptions{}),
                  [](const Import& import) { return examine(import.policy); });
}

Reading rule(std::string_view bytes) {
  return answered(read_rule(bytes, "input"), [](const Rule& it) {
    return written_again(
        it, [](const std::string& text) { return read_rule(text, "written"); }, write_rule);
  });
}

Reading property(std::string_view bytes) {
  const auto read = [](std::string_view text) {
    return parse_property(text, "written", Arch::kX86_64);
  };
  return answered(read(bytes), [&](const Property& it) {
    return written_again(it, read, [](const Property& one) {
      std::string out;
      for (const Property::Clause& clause : one.clauses) out += clause.text + "\n";
      return out;
    });
  });
}

Reading assumption(std::string_view bytes) {
  return answered(parse_assumption(bytes, Arch::kX86_64), [](const Assumption& it) -> std::string {
    const std::string text = describe(it);
    for (const Arch arch : {Arch::kX86_64, Arch::kAarch64}) {
      const auto again = parse_assumption(text, arch);
      if (!again) return "the written text cannot be read: " + again.error().text();
      for (std::uint32_t nr = 0; nr < 8; ++nr)
        for (const Endian endian : {Endian::kLittle, Endian::kBig}) {
          SeccompData data;
          data.words.fill(nr * 0x11111111);
          data.set_nr(nr);
          if (holds(it, data, endian) != holds(*again, data, endian))
            return "the written text has a different meaning";
        }
    }
    return {};
  });
}

Reading expectation(std::string_view bytes) {
  const auto expected = read_expectation(bytes, "input");
  if (!expected) return answered(expected, [](const auto&) { return std::string(); });
  const Program program = {Insn{kRetK, 0, 0, 0}};
  DiffReport found;
  found.question.before = found.question.after = {program};
  found.difference = {{}, "0"};
  found.verdict = Verdict::kEquivalent;
  return answered(unexpected(*expected, "input", stored_json(found), Arch::kX86_64),
                  [](const std::vector<UnexpectedRegion>&) { return std::string(); });
}

Reading profile(std::string_view bytes) {
  return answered(read_profile(bytes, "input"), [](const std::vector<SyscallCount>& it) {
    std::string lines;
    for (const auto& [name, calls] : it) {
      (void)profile_nr(Arch::kX86_64, name);
      lines += fmt::format("{} {}\n", name, calls);
    }
    (void)unknown_calls(it, Arch::kAarch64);
    return std::string();
  });
}

// Reads assembly with names in place of numbers.
Reading symbolic(std::string_view bytes) {
  const auto read = [](std::string_view text) { return read_symbolic(text, "input", Form::kAsm); };
  return answered(read(bytes), [&](const SymbolicProgram& it) {
    return written_again(it, read, [](const SymbolicProgram& one) { return write_symbolic(one); });
  });
}

// Reads the coverage of a program that has every kind of obligation.
Reading coverage(std::string_view bytes) {
  static const Program program = {
      {kLdWAbs, 0, 0, 0}, {kTax, 0, 0, 0}, {kJeqK, 1, 0, 39}, {kDivX, 0, 0, 0}, {kRetA, 0, 0, 0}};
  const auto read = [](std::string_view text) -> Result<CoverageMap> {
    CoverageMap map(program);
    RETURN_IF_ERROR(read_coverage(text, "input", map));
    return map;
  };
  return answered(read(bytes), [&](const CoverageMap& it) {
    (void)listing(it, [](const Obligation&) { return false; });
    return written_again(it, read, write_coverage);
  });
}

Reading inputs(std::string_view bytes) {
  return answered(read_inputs(bytes, "input"), [&](const std::vector<SeccompData>& it) {
    return std::string(write_inputs(it) == bytes ? ""
                                                 : "the written bytes differ from the bytes read");
  });
}

Reading vectors(std::string_view bytes) {
  return answered(parse_vectors(bytes, "input"), [](const std::vector<Vector>& it) {
    for (const Vector& vector : it)
      for (const std::string& wrong : check_vector(vector))
        if (wrong.empty()) return std::string("a vector fails without a message");
    return std::string();
  });
}

// Decodes a request or answer. Encoding its content again must give the same bytes.
Reading frames(std::string_view bytes) {
  if (bytes.size() >= kLengthBytes) (void)frame_length(bytes);
  const Reading request = answered(decode_request(bytes), [&](const Request& it) {
    std::string again(bytes);
    if (it.kind == RequestKind::kOptimize) again = optimize_request(it.program);
    if (it.kind == RequestKind::kStages) again = stages_request(it.program);
    if (it.kind == RequestKind::kCompile) again = compile_request(it.policy);
    if (it.kind == RequestKind::kEvaluate) again = evaluate_request(it.program, it.inputs);
    return std::string(again == bytes ? "" : "a request is encoded differently");
  });
  const Reading stages = answered(decode_stages(bytes), [&](const auto& it) {
    return std::string(stages_body(it) == bytes ? "" : "stages are encoded differently");
  });
  const Reading program = answered(decode_program(bytes), [&](const Program& it) {
    return std::string(write_program(it, Form::kRaw) == bytes ? "" : "a program changes");
  });
  const Reading values = answered(decode_values(bytes, bytes.size() / 4), [&](const auto& it) {
    return std::string(values_body(it) == bytes ? "" : "values are encoded differently");
  });
  return {request.read, request.wrong + stages.wrong + program.wrong + values.wrong};
}

// Reads names and numbers as on a command line or in a policy.
Reading names(std::string_view bytes) {
  if (bytes.size() > 64) return {};
  Reading out{is_kernel_version(bytes) || arch_from_name(bytes), {}};
  if (const auto form = form_from_name(bytes); form && form_name(*form) != bytes)
    out.wrong = "the name of a form changes";
  if (parse_unsigned(bytes) && !parse_number(bytes))
    out.wrong = "parse_number refuses an unsigned number";
  if (const std::string shown = printable(bytes, true); printable(shown, true) != shown)
    out.wrong = "printable() changes its own output";
  if (const auto action = parse_action(bytes)) (void)describe_action(*action);
  for (const std::string& similar : similar_syscalls(Arch::kX86_64, bytes))
    if (!syscall_nr(Arch::kX86_64, similar)) out.wrong = "a proposed name does not exist";
  for (const ArchInfo& info : all_arches()) {
    (void)constant_value(info.arch, bytes);
    const auto nr = syscall_nr(info.arch, bytes);
    if (nr && syscall_name(info.arch, *nr).empty()) out.wrong = "a call's number has no name";
    const Reading value =
        answered(parse_value(bytes, info.arch), [](auto) { return std::string(); });
    out.read = out.read || nr || value.read;
    if (!value.wrong.empty()) out.wrong = value.wrong;
  }
  return out;
}

// Reads rewrites. Both sides of a rule must run without a fault for some values, and may differ
// only in ways that the rule permits.
Reading rewrites(std::string_view bytes) {
  return answered(rules::parse_rules(bytes, "input"), [](const std::vector<rules::Rewrite>& all) {
    for (const rules::Rewrite& each : all) {
      const auto again = rules::parse_rules(each.text, "again");
      if (!again || again->size() != 1 || again->front().exits != each.exits)
        return std::string("a single rule reads back as a different one");
      const auto members = rules::instances(each);
      if (!members && members.error().detail.empty()) return std::string("an error has no message");
      if (!members || members->size() > 16) continue;
      for (const rules::Instance& member : *members) {
        rules::Assignment values;
        values.symbols.assign(member.symbols.size(), 1);
        const auto found = rules::replay(member, values);
        if (found && found->kind == rules::Deviation::kNone)
          return std::string("a counterexample has no kind");
      }
    }
    return std::string();
  });
}

constexpr std::array kReaders = {
    Reader{"raw", program<Form::kRaw>},
    Reader{"raw-be", program<Form::kRawBigEndian>},
    Reader{"asm", program<Form::kAsm>},
    Reader{"ddd", program<Form::kDecimal>},
    Reader{"c", program<Form::kC>},
    Reader{"policy", policy},
    Reader{"oci", oci},
    Reader{"rule", rule},
    Reader{"assumption", assumption},
    Reader{"expectation", expectation},
    Reader{"profile", profile},
    Reader{"symbolic", symbolic},
    Reader{"coverage", coverage},
    Reader{"inputs", inputs},
    Reader{"vectors", vectors},
    Reader{"frames", frames},
    Reader{"names", names},
    Reader{"rewrites", rewrites},
    Reader{"seccompiler", foreign<PolicyFormat::kSeccompiler>},
    Reader{"minijail", foreign<PolicyFormat::kMinijail>},
    Reader{"minijail-compiler", foreign<PolicyFormat::kMinijailCompiler>},
    Reader{"pfc", foreign<PolicyFormat::kPfc>},
    Reader{"property", property},
};

std::string failure_of(const Reader& reader, std::string_view bytes, std::string_view denied) {
  const Reading reading = reader.read(bytes);
  const std::string wrong = reading.read && reader.name == denied
                                ? "it accepts input that it must refuse"
                                : reading.wrong;
  return wrong.empty() ? wrong : fmt::format("{}: {}", reader.name, wrong);
}

}  // namespace

std::span<const Reader> readers() { return kReaders; }

std::string reader_failure(std::string_view bytes, std::string_view denied) {
  if (bytes.size() >= 2 && bytes[0] == kOneReader)
    return failure_of(kReaders[static_cast<std::uint8_t>(bytes[1]) % kReaders.size()],
                      bytes.substr(2), denied);
  for (const Reader& reader : kReaders)
    if (std::string out = failure_of(reader, bytes, denied); !out.empty()) return out;
  return {};
}

}  // namespace secequiv::fuzz

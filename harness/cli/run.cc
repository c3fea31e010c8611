// `run`: emulate one system call, with the trace if wanted.
#include <fmt/format.h>

#include <set>

#include "harness/bpf/check.h"
#include "harness/cli/common.h"
#include "harness/compare/pair.h"
#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv::cli {
namespace {

struct RunJob {
  Options options;
  std::vector<std::string> inputs;
  std::string arch = "x86_64";  // of the call
  std::string nr = "0";
  std::string ip = "0";
  std::vector<std::string> args;   // "0=3"
  std::vector<std::string> words;  // all sixteen, instead of the fields
  bool trace = false;
};

Result<SeccompData> read_data(const RunJob& job) {
  SeccompData data;
  if (!job.words.empty()) {
    if (job.words.size() != data.words.size())
      return make_error(ErrorCode::kUsage, "--words",
                        fmt::format("expected 16 words, found {}", job.words.size()));
    for (std::size_t i = 0; i < data.words.size(); ++i) {
      auto value = parse_u64(job.words[i], "--words");
      if (!value) return value.error();
      if (*value > 0xffffffff)
        return make_error(ErrorCode::kUsage, "--words",
                          fmt::format("{} does not fit 32 bits", job.words[i]));
      data.words[i] = static_cast<std::uint32_t>(*value);
    }
    return data;
  }
  auto arch = arch_from_name(job.arch);
  std::uint32_t audit = arch ? arch_info(*arch).audit : 0;
  if (!arch) {
    auto number = parse_u64(job.arch, "--arch");
    if (!number || *number > 0xffffffff)
      return make_error(
          ErrorCode::kUsage, "--arch",
          fmt::format("expected an architecture's name or a 32-bit AUDIT_ARCH value, found '{}'",
                      job.arch));
    audit = static_cast<std::uint32_t>(*number);
    arch = arch_from_data(audit, 0);
  }
  auto nr = parse_nr(job.nr, arch);
  if (!nr) return nr.error();
  data.set_nr(*nr);
  data.set_arch(audit);
  const Endian endian = endian_of(data.arch());
  auto ip = parse_u64(job.ip, "--ip");
  if (!ip) return ip.error();
  data.set_field(kIpField, *ip, endian);
  std::set<char> seen;
  for (const std::string& arg : job.args) {
    if (arg.size() < 3 || arg[1] != '=' || arg[0] < '0' || arg[0] > '5')
      return make_error(ErrorCode::kUsage, "--arg",
                        fmt::format("expected INDEX=VALUE with INDEX 0 to 5, found '{}'", arg));
    if (!seen.insert(arg[0]).second)
      return make_error(ErrorCode::kUsage, "--arg",
                        fmt::format("argument {} is given twice, last as '{}'", arg[0], arg));
    const auto value = parse_value(arg.substr(2), arch.value_or(Arch::kX86_64));
    if (!value) return make_error(ErrorCode::kUsage, "--arg", value.error().detail);
    data.set_field(arg[0] - '0', *value, endian);
  }
  return data;
}

int emulate(RunJob& job) {
  auto data = read_data(job);
  if (!data) return report(data.error(), job.options);
  if (job.options.arch.empty())
    job.options.arch = arch_info(arch_from_data(data->arch(), 0).value_or(Arch::kX86_64)).name;
  std::vector<Source> sources;
  for (const std::string& path : job.inputs) {
    auto source = load_source(path, job.options);
    if (!source) return report(source.error(), job.options);
    if (const auto refusal = check(source->program, LengthRule::kUnlimited))
      return report(
          make_error(ErrorCode::kRejected, source->name, describe(*refusal, source->program)),
          job.options);
    note_length(source->name, source->program);
    sources.push_back(std::move(*source));
  }
  std::vector<ProgramView> stack(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) stack[i] = sources[i].program;
  const std::uint32_t result = run_stack(stack, data->words);
  nlohmann::ordered_json document{{"schema", "secequiv.run/1"},
                                  {"data", to_json(*data)},
                                  {"filters", nlohmann::ordered_json::array()}};
  std::string text = describe(*data) + "\n";
  for (const Source& source : sources) {
    const Trace steps = trace(source.program, data->words);
    auto row = to_json(steps);
    row["name"] = source.name;
    if (!job.trace) row.erase("steps");
    document["filters"].push_back(std::move(row));
    if (job.trace) text += source.name + "\n" + trace_text(source.program, steps);
    if (sources.size() > 1)
      text += fmt::format("{}: {:#010x} {}\n", source.name, steps.result,
                          describe_action(steps.result));
  }
  document["result"] = {{"value", fmt::format("{:#010x}", result)},
                        {"action", describe_action(result)}};
  text += fmt::format("{:#010x} {}\n", result, describe_action(result));
  return print(job.options.json ? render(document) : text);
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "run", "Emulate one system call through a filter, or through a stack of filters");
  auto job = std::make_shared<RunJob>();
  sub->add_option("input", job->inputs, "Programs or policies, newest first; - for standard input")
      ->required();
  auto* nr = sub->add_option("--nr", job->nr, "System call name or number")->capture_default_str();
  auto* arch =
      sub->add_option("--arch", job->arch, "Architecture of the call: name or AUDIT_ARCH value")
          ->capture_default_str();
  auto* ip = sub->add_option("--ip", job->ip, "Instruction pointer")->capture_default_str();
  auto* arg = sub->add_option(
      "--arg", job->args, "INDEX=VALUE: numbers and names of constants joined by |; repeatable");
  sub->add_option("--words", job->words,
                  "All sixteen 32-bit words of seccomp_data instead, comma-separated")
      ->delimiter(',')
      ->excludes(nr)
      ->excludes(arch)
      ->excludes(ip)
      ->excludes(arg);
  job->options.arch.clear();
  sub->add_option("--host-arch", job->options.arch,
                  "Architecture (name) of the host, for OCI profiles and __NR_ names in C "
                  "(default: that of the call)")
      ->check(architecture());
  job->options.add_profile(*sub);
  sub->add_flag("--trace", job->trace, "Show every instruction executed");
  job->options.add_input(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = emulate(*job); });
}

}  // namespace secequiv::cli

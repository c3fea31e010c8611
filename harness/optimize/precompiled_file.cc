#include "harness/optimize/precompiled_file.h"

#include <fmt/format.h>

#include "harness/policy/json.h"
#include "harness/policy/json_util.h"

namespace secequiv {
namespace {

constexpr std::string_view kSchema = "secequiv.precompiled/1";

Status has_keys(const JsonCursor& at, std::initializer_list<std::string_view> keys) {
  if (auto s = at.object_with(keys); !s) return s;
  for (const std::string_view key : keys)
    if (!at.has(std::string(key).c_str()))
      return at.fail(fmt::format("the key '{}' is missing", key));
  return Ok{};
}

// [code, jt, jf, k]
Result<Insn> read_insn(const JsonCursor& at) {
  static constexpr std::string_view kWhat = "an array of four numbers: code, jt, jf, k";
  if (!at.value().is_array() || at.value().size() != 4) return at.expected(kWhat);
  std::uint32_t fields[4] = {};
  static constexpr std::uint32_t kLargest[4] = {0xffff, 0xff, 0xff, 0xffffffff};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string what = fmt::format("a number from 0 to {}", kLargest[i]);
    auto field = at.at(i).number32(what);
    if (!field) return field.error();
    if (*field > kLargest[i]) return at.at(i).expected(what);
    fields[i] = *field;
  }
  return Insn{static_cast<std::uint16_t>(fields[0]), static_cast<std::uint8_t>(fields[1]),
              static_cast<std::uint8_t>(fields[2]), fields[3]};
}

Result<Precompiled::Variable> read_variable(const JsonCursor& at) {
  if (auto s = has_keys(at, {"name", "value", "places"}); !s) return s.error();
  auto name = at.at("name").string("a variable's name");
  if (!name) return name.error();
  auto value = at.at("value").number32("a number from 0 to 2^32-1");
  if (!value) return value.error();
  Precompiled::Variable out{std::move(*name), *value, {}};
  const JsonCursor places = at.at("places");
  if (auto s = places.array("an array of instruction numbers"); !s) return s.error();
  for (std::size_t i = 0; i < places.value().size(); ++i) {
    auto place = places.at(i).number32("an instruction's number, from 0");
    if (!place) return place.error();
    out.places.push_back(*place);
  }
  return out;
}

// Where in the document a fault is.
JsonCursor fault_at(const JsonCursor& root, const PrecompiledFault& fault) {
  if (!fault.variable) return root.at("program");
  const JsonCursor variable = root.at("variables").at(*fault.variable);
  return fault.place ? variable.at("places").at(*fault.place) : variable.at("name");
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<Precompiled> read_precompiled(std::string_view text, const std::string& name) {
  auto document = parse_json(text, name);
  if (!document) return document.error();
  const JsonCursor root(*document, name);
  if (auto s = has_keys(root, {"schema", "policy", "variables", "program"}); !s) return s.error();
  if (root.value()["schema"] != kSchema)
    return root.at("schema").expected(fmt::format("\"{}\"", kSchema));
  auto policy = root.at("policy").string("the policy's name");
  if (!policy) return policy.error();
  Precompiled out;
  out.policy = std::move(*policy);
  const JsonCursor variables = root.at("variables");
  if (auto s = variables.array("an array of variables"); !s) return s.error();
  for (std::size_t i = 0; i < variables.value().size(); ++i) {
    auto variable = read_variable(variables.at(i));
    if (!variable) return variable.error();
    out.variables.push_back(std::move(*variable));
  }
  const JsonCursor program = root.at("program");
  if (auto s = program.array("an array of instructions"); !s) return s.error();
  for (std::size_t i = 0; i < program.value().size(); ++i) {
    auto insn = read_insn(program.at(i));
    if (!insn) return insn.error();
    out.program.push_back(*insn);
  }
  if (const auto fault = find_fault(out)) return fault_at(root, *fault).fail(fault->detail);
  return out;
}

std::string write_precompiled(const Precompiled& precompiled) {
  std::vector<std::string> variables;
  variables.reserve(precompiled.variables.size());
  for (const Precompiled::Variable& v : precompiled.variables)
    variables.push_back(fmt::format(R"(  {{"name": {}, "value": {}, "places": [{}]}})",
                                    quoted(v.name), v.value, fmt::join(v.places, ", ")));
  std::vector<std::string> program;
  program.reserve(precompiled.program.size());
  for (const Insn& in : precompiled.program)
    program.push_back(fmt::format("  [{}, {}, {}, {}]", in.code, in.jt, in.jf, in.k));
  const auto list = [](const std::vector<std::string>& rows) {
    return rows.empty() ? std::string("[]") : fmt::format("[\n{}\n ]", fmt::join(rows, ",\n"));
  };
  return fmt::format(
      "{{\n \"schema\": \"{}\",\n \"policy\": {},\n \"variables\": {},\n \"program\": {}\n}}\n",
      kSchema, quoted(precompiled.policy), list(variables), list(program));
}

}  // namespace secequiv

#include "verify/rules/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/bpf/liveness.h"

namespace secequiv::rules {
namespace {

constexpr std::size_t kMaxConstants = 5;
constexpr std::size_t kMaxOthers = 3;
constexpr std::array<std::string_view, 6> kExitNames = {"yes",   "no",     "far",
                                                        "third", "fourth", "fifth"};

// Names equal operands by the same symbol.
class Operands {
 public:
  explicit Operands(Window& out) : out_(out) {}

  // Returns the symbol, or "" if there are too many.
  std::string name(std::uint32_t value, Role role) {
    const auto known = std::ranges::find(seen_, std::pair(value, role), &Seen::operand);
    if (known != seen_.end()) return known->name;
    auto& names = role == Role::kPlain    ? out_.constants
                  : role == Role::kOffset ? out_.offsets
                                          : out_.slots;
    if (names.size() == (role == Role::kPlain ? kMaxConstants : kMaxOthers)) return "";
    const char first = role == Role::kPlain ? 'a' : role == Role::kOffset ? 'o' : 'i';
    names.push_back(fmt::format("${}", static_cast<char>(first + static_cast<char>(names.size()))));
    out_.values.symbols.push_back(value);
    seen_.push_back({{value, role}, names.back()});
    return names.back();
  }

 private:
  struct Seen {
    std::pair<std::uint32_t, Role> operand;
    std::string name;
  };
  Window& out_;
  std::vector<Seen> seen_;
};

// Returns the role of an instruction's operand, or nothing if it has none.
std::optional<Role> role_of(std::uint16_t code) {
  switch (insn_info(code)->operand) {
    case Operand::Imm:
    case Operand::CondImm:
      return Role::kPlain;
    case Operand::Abs:
      return Role::kOffset;
    case Operand::Mem:
      return Role::kIndex;
    default:
      return std::nullopt;
  }
}

// Returns statements about symbols, the strongest first.
std::vector<std::string> statements(const Window& window) {
  constexpr std::array kSets = {"popcount({0} ^ {1}) == 1"};
  constexpr std::array kValues = {"{0} == 0", "{0} == 0xffffffff"};
  constexpr std::array kNeighbours = {"{0} + 2 == {1}", "{1} + 2 == {0}", "{0} + 1 == {1}",
                                      "{1} + 1 == {0}", "~{0} == {1}"};
  constexpr std::array kBits = {"popcount({0}) == 1", "{0} & ({0} + 1) == 0"};
  constexpr std::array kWeakPairs = {"{0} & {1} == 0", "{0} & ~{1} == 0", "{1} & ~{0} == 0",
                                     "{0} & {1} != 0", "{0} & ~{1} != 0", "{1} & ~{0} != 0",
                                     "{0} <u {1}",     "{1} <u {0}",      "{0} != {1}"};
  constexpr std::array kWeak = {"{0} <u 32", "{0} != 0xffffffff", "{0} != 0"};
  std::vector<std::string> out;
  const auto& names = window.constants;
  const auto singles = [&](const auto& patterns) {
    for (const std::string& name : names)
      for (const char* pattern : patterns) out.push_back(fmt::format(fmt::runtime(pattern), name));
  };
  const auto pairs = [&](const auto& patterns) {
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = i + 1; j < names.size(); ++j)
        for (const char* pattern : patterns)
          out.push_back(fmt::format(fmt::runtime(pattern), names[i], names[j]));
  };
  if (names.size() == 4)
    out.push_back(fmt::format("{} ^ {} == {} ^ {}", names[0], names[1], names[2], names[3]));
  pairs(kSets);
  singles(kValues);
  pairs(kNeighbours);
  singles(kBits);
  pairs(kWeakPairs);
  singles(kWeak);
  for (const auto* others : {&window.offsets, &window.slots})
    for (std::size_t i = 0; i < others->size(); ++i)
      for (std::size_t j = i + 1; j < others->size(); ++j)
        out.push_back(fmt::format("{} != {}", (*others)[i], (*others)[j]));
  return out;
}

std::string live_text(Live live) {
  if (live == kLiveAll) return "all";
  constexpr Live kM = kLiveAll & ~(kLiveA | kLiveX);
  std::vector<std::string> out;
  for (Live bit = kLiveA; bit < kLiveAll; bit <<= 1) {
    if ((live & bit) == 0) continue;
    if (bit >= kLiveM && (live & kM) == kM) {
      out.emplace_back("M");
      break;
    }
    out.push_back(live_name(bit));
  }
  return out.empty() ? "none" : fmt::format("{}", fmt::join(out, ", "));
}

// Returns the registers and words of M[] that the code does not mention, which it therefore keeps.
Live untouched(ProgramView code) {
  std::uint32_t touched = secequiv::kLiveA;
  for (const Insn& in : code) touched |= access_of(in).reads | access_of(in).writes;
  return kLiveAll & ~live_of(touched);
}

}  // namespace

Result<ReadRule> read_rule(const std::string& text) {
  ASSIGN_OR_RETURN(auto rules, parse_rules(text, "a found rule"));
  ReadRule out{std::move(rules), {}};
  ASSIGN_OR_RETURN(out.members, instances(out.rules.front()));
  return out;
}

std::string rule_line(std::uint16_t code, const std::string& operand,
                      const std::vector<std::string>& targets) {
  const InsnInfo& info = *insn_info(code);
  const bool simple = operand.find_first_of(" ~-(") == std::string::npos;
  std::string out(info.mnemonic);
  switch (info.operand) {
    case Operand::Imm:
    case Operand::CondImm:
      out += fmt::format(" #{}", simple ? operand : "(" + operand + ")");
      break;
    case Operand::Abs:
      out += fmt::format(" [{}]", operand);
      break;
    case Operand::Mem:
      out += fmt::format(" M[{}]", operand);
      break;
    case Operand::Len:
      out += " #len";
      break;
    case Operand::Reg:
    case Operand::CondReg:
      out += " x";
      break;
    default:
      break;
  }
  if (!targets.empty())
    out += fmt::format("{}{}", code == kJa ? " " : ", ", fmt::join(targets, ", "));
  return out;
}

std::string Window::rule(const Claim& claim, const std::string& after) const {
  std::string out = fmt::format("rule {}\n", claim.name);
  if (!claim.source.empty()) out += fmt::format("  source: {}\n", claim.source);
  for (const std::string& fact : claim.facts) out += fmt::format("  where: {}\n", fact);
  // Control never leaves a window through "next" if its last instruction is a jump.
  const std::size_t first = is_jump(Insn{codes.back(), 0, 0, 0}) ? 1 : 0;
  const bool same =
      std::all_of(claim.live.begin() + static_cast<std::ptrdiff_t>(first), claim.live.end(),
                  [&](Live each) { return each == claim.live[first]; });
  if (same && claim.live[first] != kLiveAll)
    out += fmt::format("  live: {}\n", live_text(claim.live[first]));
  for (std::size_t exit = first; exit < exits.size() && !same; ++exit)
    if (claim.live[exit] != kLiveAll)
      out += fmt::format("  live {}: {}\n", exits[exit], live_text(claim.live[exit]));
  return out + fmt::format("  before:\n{}  after:\n{}", before, after);
}

std::string Window::key() const { return rule({"", "", facts, live}, ""); }

void Window::state_facts() {
  const auto read = read_rule(rule({"t", "", {}, live}, before));
  if (!read) return;
  SymbolWidths widths;
  for (const Symbol& symbol : read->member().symbols) widths[symbol.name] = symbol.width;
  for (std::string& fact : statements(*this)) {
    const auto parsed = parse_expr(fact, kTruth, widths, "a statement");
    if (parsed && value_of(*parsed, read->member(), values) != 0) facts.push_back(std::move(fact));
  }
}

std::optional<Window> window_at(const Scene& scene, std::size_t pc, std::size_t size) {
  const ProgramView code = scene.program().subspan(pc, size);
  if (!scene.single_entry(pc, size)) return std::nullopt;
  Window out;
  out.size = size;
  out.exits = {"next"};
  std::vector<std::size_t> places = {pc + size};
  std::vector<std::string> labels(size);
  Operands operands(out);
  const auto target = [&](std::size_t to) -> std::string {
    if (to < pc + size) return labels[to - pc] = fmt::format("l{}", to - pc);
    for (std::size_t exit = is_jump(code.back()) ? 1 : 0; exit < places.size(); ++exit)
      if (scene.same_place(places[exit], to)) return out.exits[exit];
    if (places.size() > kExitNames.size()) return "";
    out.exits.emplace_back(kExitNames[places.size() - 1]);
    places.push_back(to);
    return out.exits.back();
  };
  for (std::size_t i = 0; i < size; ++i) {
    const Insn& in = code[i];
    if (is_ret(in) || in.code == kDivX) return std::nullopt;
    if (i > 0 && is_jump(code[i - 1]) && labels[i].empty()) return std::nullopt;  // unreachable
    std::string operand;
    if (const auto role = role_of(in.code)) {
      operand = operands.name(in.k, *role);
      if (operand.empty()) return std::nullopt;
    }
    std::vector<std::string> targets;
    if (is_jump(in)) targets.push_back(target(jump_target(pc + i, in, true)));
    if (is_conditional(in)) targets.push_back(target(jump_target(pc + i, in, false)));
    if (std::ranges::find(targets, "") != targets.end()) return std::nullopt;
    out.before += fmt::format("    {}{}\n", labels[i].empty() ? "" : labels[i] + ": ",
                              rule_line(in.code, operand, targets));
    out.codes.push_back(in.code);
  }
  const Live kept = untouched(code);
  for (const std::size_t place : places) out.live.push_back(scene.live(place) | kept);
  if (is_jump(code.back())) out.live[0] = kLiveAll;  // not an exit
  return out;
}

}  // namespace secequiv::rules

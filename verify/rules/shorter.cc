#include "verify/rules/shorter.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "harness/base/random.h"
#include "harness/bpf/liveness.h"

namespace secequiv::rules {
namespace {

constexpr std::size_t kRandomPoints = 16;

// Receives where one instruction leads. Candidates contain no RET and no DIV|X.
struct OneStep {
  bool taken = false;
  void next() {}
  void jump(std::uint32_t) {}
  void branch(bool condition, std::uint32_t, std::uint32_t) { taken = condition; }
  void ret(std::uint32_t) {}
  static bool exit_if_zero(std::uint32_t divisor) { return divisor == 0; }
};

bool same_state(const Machine<Concrete>& a, const Machine<Concrete>& b, Live live) {
  if ((live & kLiveA) != 0 && a.a != b.a) return false;
  if ((live & kLiveX) != 0 && a.x != b.x) return false;
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    if ((live & kLiveM << k) != 0 && a.m[k] != b.m[k]) return false;
  return true;
}

}  // namespace

// A tree of code: nothing, a plain instruction, or a test. `exit` is where a leaf goes.
struct Shorter::Node {
  std::optional<Choice> choice;
  std::size_t exit = 0;
  bool jumps = false;           // a leaf that needs a jump to its exit
  std::unique_ptr<Node> next;   // after a plain instruction, or if a test holds
  std::unique_ptr<Node> other;  // if a test does not hold
};

Shorter::Shorter(const Window& window, std::size_t max_tries)
    : window_(window), max_tries_(max_tries) {
  auto read = read_rule(window.rule({"t", "", {}, window.live}, window.before));
  if (!read) return;  // window_at() has read the same rule
  read_ = std::move(*read);
  add_operands();
  add_choices();
  add_points(window.values, true);
}

void Shorter::learn(const Assignment& counterexample) { add_points(counterexample, false); }

std::size_t Shorter::add_operand(std::string text) {
  SymbolWidths widths;
  for (const Symbol& symbol : read_.member().symbols) widths[symbol.name] = symbol.width;
  std::size_t parts = 100;
  if (const auto parsed = parse_expr(text, kWord, widths, "an operand"))
    if (auto value = written_out(*parsed, {}, "an operand", parts))
      pool_.push_back({std::move(text), std::move(*value)});
  return pool_.size() - 1;
}

bool Shorter::uses(std::initializer_list<std::uint16_t> codes) const {
  return std::ranges::find_first_of(window_.codes, codes) != window_.codes.end();
}

void Shorter::add_operands() {
  const auto& names = window_.constants;
  for (const std::string& a : names) add_operand(a);
  for (const char* form : {"{} + 1", "{} - 1", "~{}", "-{}"})
    for (const std::string& a : names) add_operand(fmt::format(fmt::runtime(form), a));
  for (const char* number : {"0", "0xffffffff", "1"}) add_operand(number);
  simple_ = pool_.size();
  std::vector<const char*> forms = {"{0} | {1}",  "{0} & {1}", "{0} ^ {1}",    "{0} + {1}",
                                    "{0} - {1}",  "{1} - {0}", "~({0} | {1})", "~({0} ^ {1})",
                                    "{0} & ~{1}", "{1} & ~{0}"};
  if (uses({kMulK})) forms.push_back("{0} * {1}");
  if (uses({kLshK, kRshK}))
    forms.insert(forms.end(), {"{0} << {1}", "{1} << {0}", "{0} >> {1}", "{1} >> {0}"});
  for (const char* form : forms)
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = i + 1; j < names.size(); ++j)
        add_operand(fmt::format(fmt::runtime(form), names[i], names[j]));
}

void Shorter::add_choices() {
  const std::size_t constants = window_.constants.size();
  const auto access = [](std::uint16_t code) { return access_of(Insn{code, 0, 0, 0}); };
  const bool x = std::ranges::any_of(window_.codes, [&](std::uint16_t code) {
    return ((access(code).reads | access(code).writes) & secequiv::kLiveX) != 0;
  });
  const auto add = [&](std::vector<Choice>& to, std::uint16_t code, std::size_t operands) {
    for (std::size_t i = 0; i < operands; ++i) to.push_back({code, i});
  };
  const std::size_t all = pool_.size();
  for (std::size_t i = 0; i < all; ++i)
    for (const std::uint16_t code : {kJeqK, kJgtK, kJgeK, kJsetK}) tests_.push_back({code, i});
  if (x)
    for (const std::uint16_t code : {kJeqX, kJgtX, kJgeX, kJsetX}) tests_.push_back({code, {}});
  for (const auto& [names, codes] :
       {std::pair{&window_.offsets, std::vector<std::uint16_t>{kLdWAbs}},
        std::pair{&window_.slots, x ? std::vector<std::uint16_t>{kLdMem, kSt, kLdxMem, kStx}
                                    : std::vector<std::uint16_t>{kLdMem, kSt}}})
    for (const std::string& name : *names) {
      const std::size_t operand = add_operand(name);
      for (const std::uint16_t code : codes) plain_.push_back({code, operand});
    }
  if (x) {
    plain_.push_back({kTax, {}});
    plain_.push_back({kTxa, {}});
    add(plain_, kLdxImm, simple_);
  }
  // Code that must keep A, and never changes it, would have to undo its own changes.
  const bool keeps_a = std::ranges::none_of(window_.codes, [&](std::uint16_t code) {
    return (access(code).writes & secequiv::kLiveA) != 0;
  });
  if (!keeps_a || std::ranges::any_of(read_.member().rule->live,
                                      [](Live live) { return (live & kLiveA) == 0; })) {
    for (const std::uint16_t code : {kAndK, kAddK, kOrK, kXorK}) add(plain_, code, all);
    add(plain_, kSubK, constants);
    if (uses({kLshK, kRshK, kMulK, kDivK}))
      for (const std::uint16_t code : {kLshK, kRshK}) add(plain_, code, all);
    if (uses({kMulK})) add(plain_, kMulK, all);
    if (uses({kDivK})) add(plain_, kDivK, all);
    if (uses({kNeg, kSubK, kSubX})) plain_.push_back({kNeg, {}});
    if (x)
      for (const std::uint16_t code : {kAddX, kSubX, kAndX, kOrX, kXorX, kMulX, kLshX, kRshX})
        if ((code != kMulX || uses({kMulX})) && ((code != kLshX && code != kRshX) || uses({code})))
          plain_.push_back({code, {}});
    add(plain_, kLdImm, simple_);
  }
}

std::uint32_t Shorter::operand_at(const Choice& choice, std::size_t valuation) const {
  return choice.operand ? valuations_[valuation][*choice.operand] : 0;
}

void Shorter::add_points(const Assignment& values, bool many) {
  const Instance& instance = read_.member();
  const auto& before = std::get<Fragment>(instance.before);
  const Program code = instantiate(before, instance, values);
  std::vector<std::uint32_t> pool;
  pool.reserve(pool_.size());
  for (const Term& operand : pool_)
    pool.push_back(static_cast<std::uint32_t>(value_of(operand.value, instance, values)));
  std::vector<std::uint32_t> corners(pool.begin(),
                                     pool.begin() + static_cast<std::ptrdiff_t>(simple_));
  corners.push_back(0x80000000);
  std::ranges::sort(corners);
  corners.erase(std::ranges::unique(corners).begin(), corners.end());

  Random random(starts_.size() + 1);
  const std::size_t valuation = valuations_.size();
  valuations_.push_back(std::move(pool));
  const auto add = [&](Assignment from) {
    from.symbols = values.symbols;
    const Ending wanted = end_of_code(code, before.size, from);
    points_.push_back({from.entry, starts_.size()});
    starts_.push_back({valuation, from.input, wanted});
  };
  const auto some_state = [&] {
    Assignment out;
    const auto word = [&] { return random.one_in(3) ? random.word() : random.pick(corners); };
    out.entry.a = word();
    out.entry.x = word();
    for (std::uint32_t& each : out.entry.m) each = word();
    for (std::uint32_t& each : out.input.words) each = word();
    return out;
  };
  add(values);
  if (many) {
    for (const std::uint32_t corner : corners) {
      Assignment from = some_state();
      from.entry.a = corner;
      add(from);
      from = some_state();
      from.entry.x = corner;
      for (const std::string& offset : window_.offsets) {
        const auto at = std::ranges::find(instance.symbols, offset.substr(1), &Symbol::name);
        from.input.words[values.symbols[static_cast<std::size_t>(at - instance.symbols.begin())] /
                         4 % 16] = corner;
      }
      add(from);
    }
  }
  for (std::size_t i = 0; i < (many ? kRandomPoints : kRandomPoints / 2); ++i) add(some_state());
  keep_distinct();
}

// Two operands with the same values at all points make the same candidates.
void Shorter::keep_distinct() {
  std::set<std::vector<std::uint32_t>> seen;
  distinct_.clear();
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    std::vector<std::uint32_t> values;
    values.reserve(valuations_.size());
    for (const auto& valuation : valuations_) values.push_back(valuation[i]);
    const bool is_name = pool_[i].value.op == Op::kSymbol;
    distinct_.push_back(seen.insert(std::move(values)).second || is_name ? 1 : 0);
  }
}

std::optional<std::size_t> Shorter::done(const Points& points) const {
  const std::size_t exit = *starts_[points.front().number].wanted.exit;
  const Live live = read_.member().rule->live[exit];
  for (const Point& point : points) {
    const Ending& wanted = starts_[point.number].wanted;
    if (wanted.exit != exit || !same_state(point.state, wanted.state, live)) return std::nullopt;
  }
  return exit;
}

bool Shorter::run(const Choice& choice, Points& points, std::vector<std::uint8_t>* taken) {
  for (Point& point : points) {
    const Start& start = starts_[point.number];
    const Insn in{choice.code, 0, 0, operand_at(choice, start.valuation)};
    if ((in.code == kLshK || in.code == kRshK) && in.k >= 32) return false;
    if (in.code == kDivK && in.k == 0) return false;
    Concrete domain{start.input.words.data()};
    OneStep control;
    step(domain, in, point.state, control);
    if (taken != nullptr) taken->push_back(control.taken ? 1 : 0);
  }
  return true;
}

std::unique_ptr<Shorter::Node> Shorter::solve_test(const Points& points, std::size_t length,
                                                   bool last) {
  std::vector<std::uint8_t> taken;
  Points copy = points;
  for (const Choice& choice : tests_) {
    if (choice.operand && distinct_[*choice.operand] == 0) continue;
    if (++tries_ > max_tries_) return nullptr;
    taken.clear();
    run(choice, copy, &taken);  // a test changes no state
    Points sides[2];
    for (std::size_t i = 0; i < points.size(); ++i) sides[taken[i]].push_back(points[i]);
    if (sides[0].empty() || sides[1].empty()) continue;
    const bool leaf[2] = {done(sides[0]).has_value(), done(sides[1]).has_value()};
    if (length == 1 && !(leaf[0] && leaf[1])) continue;
    // If both sides have code, the code of the true side comes last.
    for (std::size_t part = 0; part < length; ++part) {
      auto yes = solve(sides[1], part, last, false);
      if (!yes) continue;
      auto no = solve(sides[0], length - 1 - part, last && leaf[1], false);
      if (!no) break;
      return std::make_unique<Node>(Node{choice, 0, false, std::move(yes), std::move(no)});
    }
  }
  return nullptr;
}

std::unique_ptr<Shorter::Node> Shorter::solve_plain(const Points& points, std::size_t length,
                                                    bool last) {
  for (const Choice& choice : plain_) {
    if (choice.operand && distinct_[*choice.operand] == 0) continue;
    if (++tries_ > max_tries_) return nullptr;
    Points after = points;
    if (!run(choice, after, nullptr)) continue;
    if (std::ranges::equal(after, points, [](const Point& a, const Point& b) {
          return same_state(a.state, b.state, kLiveAll);
        }))
      continue;
    if (auto next = solve(after, length - 1, last, true))
      return std::make_unique<Node>(Node{choice, 0, false, std::move(next), nullptr});
  }
  return nullptr;
}

std::unique_ptr<Shorter::Node> Shorter::solve(const Points& points, std::size_t length, bool last,
                                              bool falls) {
  if (const auto exit = done(points)) {
    const bool jumps = falls && !(last && read_.member().rule->exits[*exit] == "next");
    if (!jumps || length > 0)
      return std::make_unique<Node>(Node{std::nullopt, *exit, jumps, nullptr, nullptr});
  }
  if (length == 0 || exhausted()) return nullptr;
  std::uint64_t exits = 0;
  std::uint64_t hash = length * 4 + (last ? 2 : 0) + (falls ? 1 : 0);
  const auto mix = [&](std::uint64_t word) { hash = Random(hash ^ word).next(); };
  for (const Point& point : points) {
    exits |= std::uint64_t{1} << *starts_[point.number].wanted.exit;
    mix(point.number << 32 | point.state.a);
    mix(point.state.x);
    if (window_.slots.empty()) continue;
    for (const std::uint32_t word : point.state.m) mix(word);
  }
  const auto tests = static_cast<std::size_t>(std::popcount(exits)) - 1;
  if (tests > length || !failed_.insert(hash).second) return nullptr;
  std::unique_ptr<Node> out;
  if (tests > 0) out = solve_test(points, length, last);
  if (!out && tests < length) out = solve_plain(points, length, last);
  return out;
}

std::optional<std::string> Shorter::find() {
  if (read_.members.empty()) return std::nullopt;
  for (std::size_t length = 0; length < window_.size && !exhausted(); ++length) {
    failed_.clear();
    if (const auto tree = solve(points_, length, true, true)) {
      std::string out;
      int labels = 0;
      write(*tree, "", labels, out);
      return out;
    }
  }
  return std::nullopt;
}

void Shorter::write(const Node& node, std::string label, int& labels, std::string& out) const {
  const auto line = [&](std::uint16_t code, const std::string& operand,
                        const std::vector<std::string>& targets) {
    out += fmt::format("    {}{}\n", label.empty() ? "" : label + ": ",
                       rule_line(code, operand, targets));
  };
  const auto& exits = read_.member().rule->exits;
  if (!node.choice) {
    if (node.jumps) line(kJa, "", {exits[node.exit]});
    return;
  }
  const Choice& choice = *node.choice;
  const std::string operand = choice.operand ? pool_[*choice.operand].text : "";
  if (!node.other) {
    line(choice.code, operand, {});
    return write(*node.next, "", labels, out);
  }
  const auto target = [&](const Node& side) {
    return side.choice ? fmt::format("l{}", ++labels) : exits[side.exit];
  };
  const std::string yes = target(*node.next);
  const std::string no = target(*node.other);
  line(choice.code, operand, {yes, no});
  write(*node.other, no, labels, out);
  write(*node.next, yes, labels, out);
}

}  // namespace secequiv::rules

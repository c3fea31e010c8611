#include "harness/policy/path.h"

#include <algorithm>

namespace secequiv::detail {

struct Path::Tracer {
  const Insn* base;
  std::vector<Visit>& visits;
  std::vector<Memory>* memories;  // gets one copy for each store, because programs seldom use M[]
  Origin a = {};
  Origin x = {};
  bool stored = true;

  void at(const Insn* pc, const Machine<Concrete>& machine) {
    if (memories != nullptr && stored) memories->push_back(machine.m);
    const std::size_t memory = memories == nullptr ? 0 : memories->size() - 1;
    visits.push_back(Visit{static_cast<std::size_t>(pc - base), machine.a, machine.x,
                           static_cast<std::uint32_t>(memory), false, a});
    stored = pc->code == kSt || pc->code == kStx;
    pass(*pc);
  }
  void outcome(const Insn*, bool taken) { visits.back().outcome = taken; }

  void pass(const Insn& in) {
    switch (in.code) {
      case kLdWAbs:
        a = {0xffffffff, in.k / 4};
        break;
      case kAndK:
        a.mask &= in.k;
        break;
      case kTax:
        x = a;
        break;
      case kTxa:
        a = x;
        break;
      case kLdxImm:
      case kLdxLen:
      case kLdxMem:
        x = {};
        break;
      case kSt:
      case kStx:
        break;
      default:
        if (!is_jump(in)) a = {};
        break;
    }
  }
};

Path::Path(ProgramView program) : program_(program), own_(program.size()), other_(program.size()) {
  memory_used_ = std::ranges::any_of(
      program, [](const Insn& in) { return in.code == kLdMem || in.code == kLdxMem; });
}

void Path::follow(const SeccompData& data) {
  data_ = data;
  visits_.clear();
  memories_.clear();
  Machine<Concrete> machine{};
  Tracer tracer{program_.data(), visits_, &memories_};
  result_ = resume(program_, 0, machine, data_, tracer);
  steps_ += visits_.size();
  ++stamp_;
  for (const Visit& visit : visits_) own_[visit.pc] = {stamp_, visit.a, visit.x, result_};
}

const Visit* Path::find(std::size_t pc) const {
  const auto at = std::ranges::find(visits_, pc, &Visit::pc);
  return at == visits_.end() ? nullptr : &*at;
}

Machine<Concrete> Path::machine(std::uint32_t a, const Visit& visit) const {
  return {a, visit.x, memories_[visit.memory]};
}

std::uint32_t Path::result_from(std::size_t pc, std::uint32_t a, const Visit& visit) {
  Concrete domain{data_.words.data()};
  Machine<Concrete> state = machine(a, visit);
  Silent silent;
  RunControl<Silent> control{program_.data() + pc, silent};
  passed_.clear();
  while (!control.done) {
    const auto here = static_cast<std::size_t>(control.pc - program_.data());
    const auto known = [&](const Known& entry) {
      return !memory_used_ && entry.stamp == stamp_ && entry.a == state.a && entry.x == state.x;
    };
    if (known(own_[here]) || known(other_[here])) {
      control.ret(known(own_[here]) ? own_[here].result : other_[here].result);
      break;
    }
    passed_.push_back({here, state.a, state.x});
    step(domain, *control.pc, state, control);
  }
  steps_ += passed_.size() + 1;
  for (const Passed& at : passed_) other_[at.pc] = {stamp_, at.a, at.x, control.result};
  return control.result;
}

std::vector<Visit> Path::visits_from(std::size_t pc, std::uint32_t a, Origin origin,
                                     const Visit& visit) {
  std::vector<Visit> out;
  Machine<Concrete> state = machine(a, visit);
  Tracer tracer{program_.data(), out, nullptr, origin, {}};
  resume(program_, pc, state, data_, tracer);
  steps_ += out.size();
  return out;
}

}  // namespace secequiv::detail

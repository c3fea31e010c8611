// Errors as values. Owns `Error` and `Result<T>`, the only way a library function of this project
// reports failure. It must not know what the errors are about: callers fill in code, position and
// detail; `Error::text()` renders them once, at the edge (the command line, a report, a test).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace secequiv {

// What kind of thing went wrong. The command line maps every code to an exit status (design: 2, 3,
// 4 or 5).
enum class ErrorCode {
  kUsage,        // bad command line or bad combination of options
  kIo,           // a file could not be read or written
  kParse,        // a program's, policy's or vector's text or bytes are malformed
  kPolicy,       // a policy is well-formed but means nothing (unknown syscall, empty any_of, ...)
  kRejected,     // the kernel would refuse the program
  kBudget,       // time, nodes or memory ran out: the answer is unknown
  kUnavailable,  // this machine or this process' rights do not allow it: the answer is unknown
  kAdapter,      // a command under test crashed, hung or answered nonsense
  kInternal,     // an invariant of this tool is broken; always a bug worth reporting
};

// The code's name in reports: "usage", "io", ...
std::string_view error_name(ErrorCode code);

// One failure: what kind, where, and a sentence that says what was expected and what was found.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string where;  // "file", "file:line", "file:line:column", "file: offset N", a JSON pointer;
                      // may be empty
  std::int64_t pc = -1;  // index of the instruction concerned, or -1
  std::string detail;

  // "where: instruction PC: detail", leaving out what is not known, and printable (base/text.h).
  [[nodiscard]] std::string text() const;
};

inline Error make_error(ErrorCode code, std::string where, std::string detail) {
  return Error{code, std::move(where), -1, std::move(detail)};
}

// Either a value or an Error. Test with `if (!r)`, read with `*r`, `r->`, `r.error()`.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// The value of a Result that carries nothing but success.
struct Ok {};
using Status = Result<Ok>;

}  // namespace secequiv

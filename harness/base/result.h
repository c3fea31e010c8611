// Errors as values. Owns `Error` and `Result<T>`, the only way in which library functions of this
// project report failure. It must not know what the errors are about: callers fill in code,
// position and detail. Only the command line, reports and tests turn an error into text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace secequiv {

// The kind of failure. The command line maps every code to an exit status (2, 3, 4 or 5).
enum class ErrorCode {
  kUsage,        // bad command line or bad combination of options
  kIo,           // a file could not be read or written
  kParse,        // a program's, policy's or vector's text or bytes are malformed
  kPolicy,       // a policy is well-formed but has no meaning (unknown syscall, empty any_of, ...)
  kRejected,     // the kernel would refuse the program
  kBudget,       // time, nodes or memory ran out: the answer is unknown
  kUnavailable,  // the machine or missing privileges prevent the work: the answer is unknown
  kAdapter,      // a command under test crashed, hung or gave an invalid answer
  kInternal,     // an invariant of this tool is broken; always a bug worth reporting
};

// Returns the code's name in reports: "usage", "io", ...
std::string_view error_name(ErrorCode code);

// What an error is about: an input or option, or content in the wrong place. Libraries do not
// name options, members or commands, because each interface has its own.
enum class Subject : std::uint8_t {
  kNone,
  kArch,
  kAssumption,
  kAuditRecord,  // where a filter is expected
  kCallArch,
  kCallArgument,
  kCallNumber,
  kCallPointer,
  kCallWords,
  kCertificate,
  kFilter,  // one of several filters in a file
  kKernelVersion,
  kLastPass,
  kNameValues,  // the values of names in programs
  kNotAPolicy,  // a program where a policy is expected
  kPasses,
  kPolicies,
  kProfile,
  kPrograms,
  kRealCalls,
  kRule,
  kStack,  // where one filter is expected
};

// Returns a general name, such as "assumption", for interfaces that have no name of their own.
std::string_view subject_name(Subject subject);

// One failure: its kind, its position, and a sentence with what was expected and what was found.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string where;  // "file", "file:line", "file:line:column", "file: offset N", a JSON pointer;
                      // may be empty
  std::int64_t pc = -1;  // index of the affected instruction, or -1
  std::string detail;
  Subject subject = Subject::kNone;

  // Returns "where: instruction PC: detail" without the parts that are not known. The text is safe
  // to print on a terminal, see printable() in base/text.h.
  [[nodiscard]] std::string text() const;
};

inline Error make_error(ErrorCode code, std::string where, std::string detail,
                        Subject subject = Subject::kNone) {
  return Error{code, std::move(where), -1, std::move(detail), subject};
}

// Returns a kUsage error about `subject`.
inline Error usage_error(Subject subject, std::string detail) {
  return make_error(ErrorCode::kUsage, std::string(subject_name(subject)), std::move(detail),
                    subject);
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

// A Result without a value: success or an error.
struct Ok {};
using Status = Result<Ok>;

}  // namespace secequiv

// Returns the error of the expression, a Result, from this function.
#define RETURN_IF_ERROR(...)                                    \
  do {                                                          \
    if (auto secequiv_result = (__VA_ARGS__); !secequiv_result) \
      return std::move(secequiv_result).error();                \
  } while (false)

// Declares or assigns the value of the expression, a Result, or returns its error from this
// function: ASSIGN_OR_RETURN(const auto file, read_file(path));
#define ASSIGN_OR_RETURN(declaration, ...) \
  SECEQUIV_ASSIGN_OR_RETURN(__COUNTER__, declaration, __VA_ARGS__)
#define SECEQUIV_ASSIGN_OR_RETURN(number, declaration, ...) \
  SECEQUIV_ASSIGN_OR_RETURN_AS(number, declaration, __VA_ARGS__)
#define SECEQUIV_ASSIGN_OR_RETURN_AS(number, declaration, ...)     \
  auto result_##number = (__VA_ARGS__);                            \
  if (!result_##number) return std::move(result_##number).error(); \
  declaration = *std::move(result_##number)

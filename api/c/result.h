// Makes results of the C interface. Owns the parts of a result, its verdict, and how errors become
// results. It must not know any function that makes results.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "analyze/source.h"
#include "api/c/options.h"
#include "api/c/secequiv.h"
#include "harness/base/loaded.h"
#include "harness/base/result.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"

struct secequiv_result {
  int verdict = SECEQUIV_ERROR;
  std::string message;
  std::optional<std::string> json = {};
  std::optional<secequiv::Witness> witness = {};
  std::optional<std::uint32_t> value = {};
  std::optional<secequiv::Source> source = {};  // what was parsed
  std::string notes = {};
};

namespace secequiv::api {

using Outcome = secequiv_result;

int verdict_of(Verdict verdict);

Outcome failed(Error error);

// Reads the options and returns the result of `question(options)`, or the error of either step. It
// never throws. NULL means that memory ran out even for an error.
template <class Question>
secequiv_result* answered(const secequiv_options* options, const Question& question) noexcept {
  const auto answer = [&]() -> Result<Outcome> {
    ASSIGN_OR_RETURN(const auto read, read_options(options));
    return question(read);
  };
  try {
    std::optional<Error> error;
    try {
      Result<Outcome> out = answer();
      if (out) return new secequiv_result(std::move(*out));
      error = out.error();
    } catch (const std::bad_alloc&) {
      error = make_error(ErrorCode::kBudget, {}, "memory ran out");
    } catch (const NotInstalled& missing) {
      error = make_error(ErrorCode::kUnavailable, {}, missing.what());
    } catch (const std::system_error& thrown) {  // a thread could not be started
      error = make_error(ErrorCode::kUnavailable, {}, thrown.what());
    } catch (const std::exception& thrown) {
      error = make_error(ErrorCode::kInternal, {}, thrown.what());
    }
    return new secequiv_result(failed(*error));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace secequiv::api

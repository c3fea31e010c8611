#include "harness/adapter/command.h"

#include <csignal>

#include "harness/adapter/testing.h"

namespace secequiv::adapter_command_test {
namespace {

Answer<Program> optimized(const std::string& command, const Program& program,
                          const AdapterOptions& options = quick_options()) {
  return opened(open_optimizer(command, options))->optimize(program);
}

const Program kProgram = {Insn{kLdWAbs, 0, 0, 4}, Insn{kRetK, 0, 0, 0x12345678}};

TEST(Command, PassesProgramsInEachWayAndForm) {
  const TemporaryFolder folder;
  for (const Form form : {Form::kRaw, Form::kRawBigEndian, Form::kAsm, Form::kDecimal, Form::kC}) {
    AdapterOptions options = quick_options();
    options.form = form;
    for (const char* command : {"cat", "true {}", "cat {in} >{out}", "cp {in} {out}; true {in}",
                                "in=IN; test ${in} = IN && cat"}) {
      const auto answer = optimized(command, kProgram, options);
      EXPECT_TRUE(answer.ok()) << command << ": " << answer.detail;
      EXPECT_EQ(answer.value, kProgram) << command;
      EXPECT_GT(answer.seconds, 0);
    }
    EXPECT_TRUE(folder.empty());
  }
}

TEST(Command, AllowsPlaceholdersBetweenQuotes) {
  EXPECT_EQ(optimized("cat \"{in}\" >'{out}'", kProgram).value, kProgram);
}

TEST(Command, UsesTheGivenFormAndDetectsTheAnswers) {
  AdapterOptions options = quick_options();
  options.form = Form::kAsm;
  EXPECT_TRUE(optimized("grep -q 'ret #' && echo 'ret #7'", returns(9), options).ok());
  EXPECT_EQ(optimized("echo 'ret #7'", returns(9)).value, returns(7));
  EXPECT_EQ(optimized("echo '{ 6, 0, 0, SECCOMP_RET_ALLOW },'", returns(9)).value,
            returns(0x7fff0000));
}

TEST(Command, RefusesAPlaceholderWithoutItsPartner) {
  for (const char* command : {"x {in}", "x {out}", "x {in} {out} {}", " ", "serve:", "serve: "})
    EXPECT_EQ(open_optimizer(command, {}).error().code, ErrorCode::kUsage) << command;
  EXPECT_EQ(open_optimizer("x {in}", {}).error().text(),
            "x {in}: expected {in} and {out} or neither, found only {in}");
  EXPECT_EQ(open_compiler("x {out}", {}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(open_evaluator("x", {}).error().text(),
            "x: expected {program}, which stands for the program's file, found none");
  EXPECT_TRUE(open_optimizer("x ${in} {print}", {}));
}

struct Failing {
  const char* command;
  Outcome outcome;
  const char* detail;
};

TEST(Command, ClassifiesEveryFailure) {
  const TemporaryFolder folder;
  AdapterOptions options = quick_options();
  options.limits.output_bytes = 100000;
  constexpr Failing kFailing[] = {
      {"echo 'no ioctl' >&2; exit 77", Outcome::kUnsupported,
       "it exited with status 77; its standard error ends: no ioctl"},
      {"exit 1", Outcome::kCrashed, "it exited with status 1"},
      {"exit 126", Outcome::kCannotRun, "it exited with status 126"},
      {"exit 127", Outcome::kCannotRun, "it exited with status 127"},
      {"kill -SEGV $$", Outcome::kCrashed, "it was ended by signal 11 (Segmentation fault)"},
      {"exit 139", Outcome::kCrashed,
       "it exited with status 139 (128 + signal 11, Segmentation fault)"},
      {"echo MemoryError >&2; exit 1", Outcome::kExhausted,
       "it exited with status 1; it ran out of memory (limit 4294967296 bytes); its standard "
       "error ends: MemoryError"},
      {"sleep 60", Outcome::kHung, "it was still running after 0.2 s and was killed"},
      {"exec >&-; sleep 60", Outcome::kHung, "it was still running after 0.2 s and was killed"},
      {"sleep 60 & cat", Outcome::kHung, "it was still running after 0.2 s and was killed"},
      {"yes", Outcome::kExhausted, "it wrote more than 100000 bytes and was killed"},
      {"true", Outcome::kGarbage,
       "expected a program on its standard output, but it exited with status 0 and printed "
       "nothing"},
      {"echo; echo oops >&2", Outcome::kGarbage,
       "expected a program on its standard output, but it exited with status 0 and printed "
       "nothing; "
       "its standard error ends: oops"},
      {"head -c 13 /dev/zero", Outcome::kGarbage,
       "its output: offset 8: expected 8 bytes (struct sock_filter), found 5"},
      {"echo 'panic at the disco'", Outcome::kGarbage, nullptr},
      {"true {in} {out}", Outcome::kGarbage,
       "expected a program in the file {out}, but it exited with status 0 and did not write the "
       "file"},
      {"mkdir {out}; true {in}", Outcome::kGarbage,
       "expected a program in the file {out}, but it exited with status 0 and did not write the "
       "file"},
      {"mkfifo {out}; true {in}", Outcome::kGarbage,
       "expected a program in the file {out}, but it exited with status 0 and did not write the "
       "file"},
      {"ln -s /dev/zero {out}; true {in}", Outcome::kGarbage,
       "expected a program in the file {out}, but it exited with status 0 and did not write the "
       "file"},
      {"rm {}", Outcome::kGarbage,
       "expected a program in the file {}, but it exited with status 0 and did not write the file"},
      {"head -c 100001 /dev/zero >{}", Outcome::kExhausted,
       "it wrote 100001 bytes to {}, more than the limit of 100000"},
      {": >{}", Outcome::kGarbage, "{}: expected a program, found an empty file"},
      {"exit 5 {in} {out}", Outcome::kCrashed, nullptr},
  };
  for (const Failing& failing : kFailing) {
    options.limits.seconds = failing.outcome == Outcome::kHung ? 0.2 : 5;
    const auto answer = optimized(failing.command, kProgram, options);
    EXPECT_EQ(outcome_name(answer.outcome), outcome_name(failing.outcome)) << failing.command;
    if (failing.detail != nullptr) EXPECT_EQ(answer.detail, failing.detail) << failing.command;
    EXPECT_FALSE(answer.detail.empty()) << failing.command;
    EXPECT_TRUE(folder.empty()) << failing.command;
  }
}

TEST(Command, ReportsTheCauseOfAFailure) {
  const std::pair<const char*, const char*> kCauses[] = {
      {"exit 1", ""},
      {"exit 1; echo silent", ""},
      {"printf 'Traceback:\\n  g()\\nKeyError: 3\\n\\n' >&2; exit 1",
       "it exited with status 1: KeyError: 3"},
      {"printf 'panic: nil\\nstack 1\\n' >&2; exit 2", "it exited with status 2: panic: nil"},
      {"printf 'odd\\033[2J\\n' >&2; echo; exit 0",
       "it exited with status 0 and printed nothing: odd\\x1b[2J"},
  };
  for (const auto& [command, cause] : kCauses)
    EXPECT_EQ(optimized(command, kProgram).cause, cause) << command;
}

TEST(Command, SurvivesAMissingTemporaryFolder) {
  ::setenv("TMPDIR", "/nonexistent", 1);
  const auto answer = optimized("cp {in} {out}", kProgram);
  ::unsetenv("TMPDIR");
  // Some C++ libraries then fall back to another folder.
  EXPECT_TRUE(answer.ok() || answer.outcome == Outcome::kCrashed) << answer.detail;
}

TEST(Command, ExecutesPlainWordsWithoutTheShell) {
  const auto file_of = [](const std::string& command) {
    return std::filesystem::path(file_of_command(command, {})).filename().string();
  };
  EXPECT_EQ(file_of("grep -c x {}"), "grep");
  EXPECT_EQ(file_of("./any/file {}"), "file");
  // These are a shell builtin, a keyword, a missing program, an assignment and quotes.
  for (const char* command : {"echo ret", "if true", "no-such-tool", "A=1 cat", "'cat' x"})
    EXPECT_EQ(file_of(command), "") << command;
  const AdapterLimits limits;
  // The file is executed only if the words mean the same without the shell.
  EXPECT_EQ(run_command("x a  b", {}, limits, "/bin/echo").value, "a b\n");
  for (const char* command : {"echo $((1 + 1))", "echo 1; echo 2", "echo 1 >&1", "echo 'a'"})
    EXPECT_NE(run_command(command, {}, limits, "/bin/false").value, "") << command;
}

TEST(Command, PassesFilesThatCannotBeExecutedToTheShell) {
  const AdapterLimits limits;
  const auto missing = run_command("./no/such/tool", {}, limits, "./no/such/tool");
  EXPECT_EQ(missing.outcome, Outcome::kCannotRun);
  EXPECT_NE(missing.detail.find("not found"), std::string::npos) << missing.detail;
  const std::string script = testing::TempDir() + "script_without_interpreter";
  std::ofstream(script) << "echo from the script $1\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(run_command(script + " x", {}, limits, script).value, "from the script x\n");
}

TEST(Command, EveryRequestGetsAnEmptyFolder) {
  const TemporaryFolder folder;
  const std::string command =
      "d=$(dirname {}); test \"$(ls -A \"$d\")\" = in || exit 3; mkdir -p \"$d/a/b\"; "
      "touch \"$d/.c\" \"$d/out\"";
  const auto optimizer = opened(open_optimizer(command, quick_options()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(optimizer->optimize(kProgram).ok());
  // A folder with other permissions is not used again.
  const auto spoils = opened(open_optimizer(
      "d=$(dirname {}); test $(stat -c %a \"$d\") = 700 && chmod 755 \"$d\"", quick_options()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(spoils->optimize(kProgram).ok());
}

TEST(Command, LimitsMemory) {
  AdapterOptions options = quick_options();
  options.limits.memory_bytes = std::size_t{256} << 20;
  const std::string python = SECEQUIV_PYTHON " -c ";
  const auto answer = optimized(python + "'bytearray(1 << 29)'", kProgram, options);
  EXPECT_EQ(answer.outcome, Outcome::kExhausted) << answer.detail;
  EXPECT_NE(answer.detail.find("MemoryError"), std::string::npos) << answer.detail;
}

TEST(Command, AcceptsACommandThatIgnoresItsInput) {
  EXPECT_EQ(optimized("echo 'ret #7'", Program(500000)).value, returns(7));
  struct sigaction action{};
  ::sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST(Command, KillsProcessesThatACommandLeavesBehind) {
  const TemporaryFolder folder;
  const auto answer = optimized(R"(sleep 62 >&- 2>&- & echo $! >"$TMPDIR/pid"; cat)", kProgram);
  EXPECT_TRUE(answer.ok()) << answer.detail;
  EXPECT_TRUE(is_gone(folder.number("pid")));
}

TEST(Command, PassesThePolicysNormalFormToCompilers) {
  const auto compiler = opened(open_compiler("grep -q POLICY && echo 'ret #1'", quick_options()));
  EXPECT_EQ(compiler->compile(small_policy("POLICY")).value, returns(1));
  EXPECT_EQ(compiler->compile(small_policy("other")).outcome, Outcome::kCrashed);
  const auto by_file =
      opened(open_compiler("grep -q POLICY {in} && echo 'ret #2' >{out}", quick_options()));
  EXPECT_EQ(by_file->compile(small_policy("POLICY")).value, returns(2));
}

TEST(Command, PassesProgramAndInputsToEvaluators) {
  const TemporaryFolder folder;
  const std::vector<SeccompData> inputs = {SeccompData{7, 1}, SeccompData{8, 2}, SeccompData{9, 3}};
  using Values = std::vector<std::uint32_t>;
  const auto ask = [&](const std::string& command) {
    return opened(open_evaluator(command, quick_options()))->evaluate(returns(5), inputs);
  };
  // The command checks that the program exists and prints the first word of each input.
  const std::string words = "od -An -v -tu4 -w64 | awk '{print $1}'";
  EXPECT_EQ(ask("test $(wc -c <{program}) = 8 && " + words).value, (Values{7, 8, 9}));
  EXPECT_EQ(ask("true {program}; <{inputs} " + words).value, (Values{7, 8, 9}));
  EXPECT_EQ(ask("true {program}; printf '0x7fff0000\\n 4294967295\\r\\n1'").value,
            (Values{0x7fff0000, 0xffffffff, 1}));
  const auto wrong = [&](const std::string& text) {
    const auto answer = ask("true {program}; printf -- '" + text + "'");
    EXPECT_EQ(outcome_name(answer.outcome), "garbage");
    EXPECT_TRUE(answer.value.empty());
    return answer.detail;
  };
  EXPECT_EQ(wrong("1\\n2\\n"), "its output: expected 3 values, one for each input, found 2");
  EXPECT_EQ(wrong("1\\n2\\n3\\n4\\n"),
            "its output:4: expected 3 values, one for each input, found more");
  EXPECT_EQ(wrong("1\\n\\n2\\n3\\n"), "its output:2: expected a number from 0 to 2^32-1, found ''");
  EXPECT_EQ(wrong("1\\n4294967296\\n3\\n"),
            "its output:2: expected a number from 0 to 2^32-1, found '4294967296'");
  EXPECT_EQ(wrong("-1\\n"), "its output:1: expected a number from 0 to 2^32-1, found '-1'");
  EXPECT_EQ(ask("echo {program} >&2; exit 77").outcome, Outcome::kUnsupported);
  EXPECT_TRUE(folder.empty());
}

}  // namespace
}  // namespace secequiv::adapter_command_test

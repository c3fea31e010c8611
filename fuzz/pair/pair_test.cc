// Tests how a session runs, changes and combines records. Tests that a folder keeps one input for
// each edge.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "fuzz/pair/batch.h"
#include "fuzz/pair/corpus.h"
#include "fuzz/pair/session.h"
#include "harness/bpf/testing.h"
#include "harness/seccomp/arch.h"

namespace secequiv::pair::pair_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(std::initializer_list<SeccompData> records) {
  Bytes out(records.size() * kRecordBytes);
  std::size_t at = 0;
  for (const SeccompData& data : records) {
    std::memcpy(out.data() + at, data.words.data(), kRecordBytes);
    at += kRecordBytes;
  }
  return out;
}

// Number 1 takes one edge, and all other numbers take another one. For number 2, the second program
// returns a different value.
const Program kBefore = assemble("ld [0]\njeq #1, one, other\none: ret #1\nother: ret #2\n");
const Program kAfter = assemble(
    "ld [0]\njeq #1, one, next\nnext: jeq #2, two, other\none: ret #1\ntwo: ret #3\nother: ret "
    "#2\n");

struct Ran {
  PairOutcome outcome;
  Bytes marks;
};

class Runner {
 public:
  explicit Runner(bool first_only) : first_only_(first_only) {}
  Ran operator()(const Bytes& bytes) {
    Ran out{{}, Bytes(8)};
    out.outcome = session.run(bytes, Edges{out.marks, seen_, first_only_});
    return out;
  }
  PairSession session{Pair{kBefore, kAfter, Sameness::kRaw}};

 private:
  Bytes seen_ = Bytes(session.edges());
  bool first_only_;
};

TEST(PairSession, MarksOutcomesOfEveryRun) {
  Runner run(false);
  ASSERT_EQ(run.session.edges(), 4U);
  const Bytes of_one = {0, 1, 0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 2; ++i) {
    const Ran ran = run(bytes_of({SeccompData{1}}));
    EXPECT_EQ(ran.marks, of_one);
    EXPECT_EQ(ran.outcome.first, i == 0 ? 1 : 0);
  }
  EXPECT_EQ(run(bytes_of({SeccompData{1}, SeccompData{0}})).marks, (Bytes{1, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(PairSession, MarksOnlyNewOutcomesIfRequested) {
  Runner run(true);
  EXPECT_EQ(run(bytes_of({SeccompData{1}})).marks, (Bytes{0, 1, 0, 0, 0, 0, 0, 0}));
  const Ran again = run(bytes_of({SeccompData{1}}));
  EXPECT_EQ(again.marks, Bytes(8));
  EXPECT_EQ(again.outcome.first, 0);
  const Ran second = run(bytes_of({SeccompData{1}, SeccompData{0}, SeccompData{0}}));
  EXPECT_EQ(second.marks, (Bytes{1, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(second.outcome.first, 0b010);
}

TEST(PairSession, StopsAtTheFirstDifference) {
  Runner run(false);
  EXPECT_FALSE(run(bytes_of({SeccompData{1}, SeccompData{0}})).outcome.witness);
  const Ran ran = run(bytes_of({SeccompData{1}, SeccompData{2}, SeccompData{0}}));
  ASSERT_TRUE(ran.outcome.witness);
  EXPECT_EQ(ran.outcome.witness->data.nr(), 2U);
  EXPECT_EQ(ran.outcome.witness->before, 2U);
  EXPECT_EQ(ran.outcome.witness->after, 3U);
  // The missing bytes of an incomplete record count as zeros.
  EXPECT_TRUE(run({2}).outcome.witness);
  EXPECT_FALSE(run({}).outcome.witness);
}

TEST(PairSession, RunsAtMostSixteenRecords) {
  Runner run(false);
  Bytes bytes((kMaxRecords + 1) * kRecordBytes);
  bytes[kMaxRecords * kRecordBytes] = 2;
  EXPECT_FALSE(run(bytes).outcome.witness);
  bytes[(kMaxRecords - 1) * kRecordBytes] = 2;
  EXPECT_TRUE(run(bytes).outcome.witness);
}

TEST(PairSession, MutationUsesTheWholeCapacity) {
  const PairSession session(Pair{kBefore, kAfter, Sameness::kRaw});
  for (const std::size_t room : {std::size_t{1}, std::size_t{4}, std::size_t{64}, std::size_t{100},
                                 std::size_t{1024}, std::size_t{5000}}) {
    Bytes bytes(room, 0xee);
    const std::size_t size = session.mutate(bytes.data(), 0, room, 1);
    EXPECT_EQ(size, std::min(room, kMaxBytes)) << room;
    Bytes again(room, 0xdd);
    EXPECT_EQ(session.mutate(again.data(), 0, room, 1), size);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                           again.begin()));
  }
}

TEST(PairSession, MutationReachesEveryEdgeFromAnEmptyInput) {
  Runner run(false);
  Bytes bytes(kMaxBytes);
  std::size_t size = 0;
  bool found = false;
  for (std::uint64_t seed = 0; seed < 100 && !found; ++seed) {
    size = run.session.mutate(bytes.data(), size, bytes.size(), seed);
    found = run(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)))
                .outcome.witness.has_value();
  }
  EXPECT_TRUE(found);
}

TEST(PairSession, CrossOverTakesEachWordFromOneInput) {
  SeccompData ones;
  ones.words.fill(1);
  SeccompData twos;
  twos.words.fill(2);
  Bytes out(kMaxBytes);
  const std::size_t size = PairSession::cross_over(bytes_of({ones}), bytes_of({twos}), out, 3);
  ASSERT_EQ(size, kMaxBytes);
  std::size_t of_first = 0;
  for (std::size_t i = 0; i < kMaxRecords; ++i)
    for (const std::uint32_t word : record(out, i).words) {
      ASSERT_TRUE(word == 1 || word == 2);
      of_first += word == 1 ? 1 : 0;
    }
  EXPECT_GT(of_first, 16 * kMaxRecords / 4);
  EXPECT_LT(of_first, 16 * kMaxRecords * 3 / 4);
  EXPECT_EQ(PairSession::cross_over({}, bytes_of({twos}), out, 3), 0U);
}

// Runs batches that start with number 7. Only the numbers 1 and 2 take the edges that 7 misses.
struct Batched {
  explicit Batched(const Program& after, std::uint64_t most = ~0ull)
      : session(Pair{kBefore, after, Sameness::kRaw}), seen(session.edges()) {
    Batches batches(session, seen, 1);
    const Bytes start = bytes_of({SeccompData{7}});
    ran = batches.run(start, most, [&](const SeccompData& data) {
      looked.push_back(data);
      Bytes mark(1);
      const PairOutcome outcome = session.run(bytes_of({data}), Edges{mark, seen, true});
      found = found || outcome.witness;
      return outcome;
    });
  }
  PairSession session;
  Bytes seen;
  std::vector<SeccompData> looked;
  std::size_t ran = 0;
  bool found = false;
};

bool runs_batches() { return NativeProgram::translate(kBefore).has_value(); }

TEST(Batches, EndAtADifference) {
  if (!runs_batches()) GTEST_SKIP() << "this system does not run translated programs";
  const Batched batched(kAfter);
  EXPECT_TRUE(batched.found);
  EXPECT_EQ(batched.looked.back().nr(), 2U);
  EXPECT_LT(batched.ran, Batches::kGroup * Batches::kGroups);
}

TEST(Batches, PassOnInputsUntilTheirOutcomesAreSeen) {
  if (!runs_batches()) GTEST_SKIP() << "this system does not run translated programs";
  const Batched batched(kBefore);
  EXPECT_EQ(batched.ran, Batches::kGroup * Batches::kGroups);
  EXPECT_EQ(batched.seen, Bytes(2, 1));
  EXPECT_GE(batched.looked.size(), 2U);
  EXPECT_LT(batched.looked.size(), 3 * Batches::kGroup);  // few of all inputs
}

TEST(Batches, RunAtMostAsManyInputsAsRequested) {
  if (!runs_batches()) GTEST_SKIP() << "this system does not run translated programs";
  EXPECT_EQ(Batched(kBefore, 5).ran, 5U);
  EXPECT_EQ(Batched(kBefore, Batches::kGroup + 1).ran, Batches::kGroup + 1);
}

TEST(Batches, TheSameSeedRunsTheSameInputs) {
  EXPECT_EQ(Batched(kBefore).looked, Batched(kBefore).looked);
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name())
                .string();
    std::filesystem::remove_all(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void put(const std::string& name, const Bytes& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  std::string path_;
};

TEST_F(Folder, ReadsAllRecordsOnce) {
  ASSERT_TRUE(read_corpus(path_)->inputs.empty());  // this call creates the folder
  put("b", bytes_of({SeccompData{2}, SeccompData{1}}));
  put("a", bytes_of({SeccompData{1}}));
  put("c", {3});
  put(".hidden", bytes_of({SeccompData{9}}));
  const auto corpus = read_corpus(path_);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->files, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(corpus->inputs.size(), 3U);
  EXPECT_EQ(corpus->inputs[0].nr(), 1U);
  EXPECT_EQ(corpus->inputs[1].nr(), 2U);
  EXPECT_EQ(corpus->inputs[2].nr(), 3U);
}

TEST_F(Folder, ReportsAFolderThatCannotBeCreated) {
  const auto corpus = read_corpus("/proc/none");
  ASSERT_FALSE(corpus);
  EXPECT_EQ(corpus.error().code, ErrorCode::kIo);
  EXPECT_EQ(corpus.error().where, "/proc/none");
}

TEST_F(Folder, DeletesOnlyFilesThatFuzzersWrote) {
  ASSERT_TRUE(read_corpus(path_));
  const std::string sha1(40, 'a');
  for (const std::string& name : {sha1, std::string("finding-1"), std::string("notes.txt")})
    put(name, bytes_of({SeccompData{1}, SeccompData{7}}));
  const auto corpus = read_corpus(path_);
  put("later", bytes_of({SeccompData{5}}));
  ASSERT_TRUE(replace_inputs(path_, *corpus, {SeccompData{7}}));
  const auto left = read_corpus(path_);
  ASSERT_EQ(left->files.size(), 3U);
  EXPECT_TRUE(std::filesystem::exists(path_ + "/later"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/notes.txt"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/" + sha1));
}

TEST(OnePerEdge, DropsInputsThatOthersCover) {
  std::vector<SeccompData> inputs;
  for (const std::uint32_t nr : {7U, 0U, 1U, 1U, 5U, 2U}) inputs.push_back(SeccompData{nr});
  const auto kept = one_per_edge(kAfter, inputs);
  ASSERT_EQ(kept.size(), 3U);
  CoverageMap coverage(kAfter);
  for (const SeccompData& data : kept) coverage.run(data);
  EXPECT_TRUE(coverage.uncovered().empty());
}

// The first input is needed when it arrives, but the others make it redundant.
TEST(OnePerEdge, DropsEarlierInputsThatLaterOnesMakeRedundant) {
  const Program program = assemble(
      "ld [0]\njeq #1, one, other\none: ld [16]\njeq #1, yes, no\nother: ld [16]\njeq #1, yes, no\n"
      "yes: ret #1\nno: ret #0\n");
  const auto with = [](std::uint32_t nr, std::uint32_t argument) {
    SeccompData data{nr};
    data.words[4] = argument;
    return data;
  };
  const auto kept = one_per_edge(program, {with(1, 1), with(1, 0), with(0, 1), with(0, 0)});
  EXPECT_EQ(kept.size(), 4U);  // both outcomes of both tests of the argument
  const Program twice = assemble(
      "ld [0]\njset #1, odd, even\neven: ld [0]\njset #2, yes, no\nyes: ret #1\nodd: ret #1\nno: "
      "ret #0\n");
  EXPECT_EQ(one_per_edge(twice, {with(4, 0), with(2, 0), with(1, 0), with(8, 0)}).size(), 3U);
}

}  // namespace
}  // namespace secequiv::pair::pair_test

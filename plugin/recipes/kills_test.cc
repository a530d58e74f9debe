// Test of a shared recipe cache whose processes are killed at random moments while other processes read.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "plugin/program/recipe_container.h"
#include "plugin/recipes/file_names.h"
#include "plugin/recipes/listing.h"
#include "plugin/recipes/recipe_store.h"

namespace hpu::recipes {
namespace kills_test {

constexpr int kKills = 30;  // per repetition of the test; `make soak` repeats the test ten times
constexpr int kWriters = 3;
constexpr int kReaders = 2;
constexpr int kWorkers = kWriters + kReaders;
constexpr int kKeys = 8;
constexpr int kMaxPayload = 200'000;
// Smaller than all entries together, so that workers evict constantly.
constexpr int64_t kMaxBytes = 400'000;
constexpr absl::Duration kLongestRound = absl::Milliseconds(40);
// A worker without progress for this time counts as hung, because regular waits take milliseconds.
constexpr absl::Duration kHang = absl::Seconds(60);

enum class Phase { kBetween, kFinding, kCompiling, kStoring };
constexpr std::array<const char*, 4> kPhases = {"between", "finding or locking", "compiling", "writing or evicting"};

// A worker's state, in memory shared with the test.
struct Progress {
  std::atomic<int64_t> operations{0};
  std::atomic<Phase> phase{Phase::kBetween};
  std::atomic<int64_t> found{0};
  std::atomic<int64_t> wrong{0};    // payloads of another key
  std::atomic<int64_t> refused{0};  // unusable entries
};

struct Shared {
  std::array<Progress, kWorkers> workers;
};

Key KeyOf(int number) {
  recipe::v1::Ingredients ingredients;
  ingredients.set_program(absl::StrCat("program ", number));
  return Key::Of(ingredients);
}

// Returns the same payload for a key at each call. Sizes differ between keys.
std::string PayloadOf(int number) {
  std::mt19937 random(number);
  std::string code(random() % kMaxPayload, '\0');
  for (char& c : code) c = static_cast<char>(random());
  RecipeContainer container;
  container.kind = "test";
  container.binaries = {code};
  return container.Serialize();
}

// Looks recipes up forever. "Compiles" and stores missing recipes.
[[noreturn]] void Work(const StoreSettings& settings, unsigned seed, Progress* progress) {
  std::vector<Key> keys;
  std::vector<std::string> payloads;
  for (int number = 0; number < kKeys; ++number) {
    keys.push_back(KeyOf(number));
    payloads.push_back(PayloadOf(number));
  }
  StoreCounters counters;
  RecipeStore store(settings, &counters, [](const std::string& message) { fprintf(stderr, "%s\n", message.c_str()); });
  std::mt19937 random(seed);
  while (true) {
    const int number = random() % kKeys;
    progress->phase = Phase::kFinding;
    RecipeStore::Lookup lookup = store.FindOrClaim(keys[number], absl::StrCat("program ", number));
    if (lookup.payload.has_value()) {
      ++(*lookup.payload == payloads[number] ? progress->found : progress->wrong);
    } else {
      progress->phase = Phase::kCompiling;
      absl::SleepFor(absl::Microseconds(random() % 1000));
      progress->phase = Phase::kStoring;
      store.Put(keys[number], {}, payloads[number], std::move(lookup.claim));
    }
    progress->refused += counters.refused.exchange(0);
    progress->phase = Phase::kBetween;
    ++progress->operations;
  }
}

class KillsTest : public ::testing::Test {
 protected:
  KillsTest() {
    std::string pattern = absl::StrCat(::testing::TempDir(), "/killsXXXXXX");
    settings_.path = mkdtemp(pattern.data());
    settings_.max_bytes = kMaxBytes;
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (memory) Shared;
  }
  ~KillsTest() override {
    for (int worker = 0; worker < kWorkers; ++worker) Kill(worker);
    munmap(shared_, sizeof(Shared));
    std::filesystem::remove_all(settings_.path);
  }

  void Start(int worker) {
    StoreSettings settings = settings_;
    settings.read_only = worker >= kWriters;
    const unsigned seed = random_();
    fflush(nullptr);
    pids_[worker] = fork();
    ASSERT_GE(pids_[worker], 0);
    if (pids_[worker] == 0) Work(settings, seed, &shared_->workers[worker]);
  }
  void Kill(int worker) {
    if (pids_[worker] <= 0) return;
    kill(pids_[worker], SIGKILL);
    int status = 0;
    waitpid(pids_[worker], &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "worker ended by itself: " << status;
    pids_[worker] = 0;
  }
  // Expects that every worker makes progress, so no worker waits for a killed worker.
  void ExpectProgress() {
    for (int worker = 0; worker < kWorkers; ++worker) {
      const int64_t before = shared_->workers[worker].operations;
      const absl::Time start = absl::Now();
      while (shared_->workers[worker].operations == before && absl::Now() < start + kHang) {
        absl::SleepFor(absl::Milliseconds(1));
      }
      EXPECT_NE(shared_->workers[worker].operations, before) << "worker " << worker << " hangs";
    }
  }
  // Expects that verification and lookup find the same entries, none of them damaged, and that payloads are correct.
  void ExpectSoundEntries(RecipeStore* store) {
    const absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, /*make=*/false);
    ASSERT_TRUE(directory.ok()) << directory.status();
    for (int number = 0; number < kKeys; ++number) {
      const Key key = KeyOf(number);
      const absl::StatusOr<std::string> verified = ReadEntry(*directory, key.name);
      const RecipeStore::Lookup loaded = store->FindOrClaim(key, "");
      EXPECT_EQ(verified.ok(), loaded.payload.has_value()) << verified.status();
      // Entries are renamed into place complete, never in parts.
      EXPECT_TRUE(verified.ok() || absl::IsNotFound(verified.status())) << verified.status();
      if (loaded.payload.has_value()) EXPECT_EQ(*loaded.payload, PayloadOf(number));
    }
  }

  StoreSettings settings_;
  Shared* shared_ = nullptr;
  std::array<pid_t, kWorkers> pids_{};
  std::mt19937 random_{std::random_device()()};
};

TEST_F(KillsTest, KilledProcessesLeaveTheStoreUsable) {
  for (int worker = 0; worker < kWorkers; ++worker) Start(worker);
  ExpectProgress();
  std::array<int, kPhases.size()> killed_in{};
  for (int round = 0; round < kKills; ++round) {
    absl::SleepFor(absl::Microseconds(random_() % absl::ToInt64Microseconds(kLongestRound)));
    const int worker = random_() % kWriters;
    Kill(worker);
    ++killed_in[static_cast<size_t>(shared_->workers[worker].phase.load())];
    Start(worker);
    ExpectProgress();
  }
  for (int worker = 0; worker < kWorkers; ++worker) Kill(worker);

  int64_t found = 0, operations = 0;
  for (const Progress& progress : shared_->workers) {
    EXPECT_EQ(progress.wrong, 0);
    EXPECT_EQ(progress.refused, 0);  // no reader saw a partial entry
    found += progress.found;
    operations += progress.operations;
  }
  EXPECT_GT(found, 0);
  absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, /*make=*/false);
  ASSERT_TRUE(directory.ok()) << directory.status();
  const absl::StatusOr<Listing> before = List(*directory);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_TRUE(before->damaged.empty());

  // The next process cleans up.
  StoreCounters counters;
  RecipeStore store(settings_, &counters, [](const std::string& message) { ADD_FAILURE() << message; });
  ExpectSoundEntries(&store);
  const absl::StatusOr<Listing> after = List(*directory);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(after->pending.empty()) << after->pending.front();
  printf("%d kills, %lld operations, %lld hits, %zu leftovers;", kKills, static_cast<long long>(operations),
         static_cast<long long>(found), before->pending.size());
  for (size_t i = 0; i < kPhases.size(); ++i) printf(" %s: %d", kPhases[i], killed_in[i]);
  printf("\n");
}

}  // namespace kills_test
}  // namespace hpu::recipes

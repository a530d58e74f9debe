#include "plugin/recipes/recipe_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "plugin/recipes/file_names.h"

namespace hpu::recipes {
namespace recipe_store_test {

Key KeyOf(const std::string& program) {
  recipe::v1::Ingredients ingredients;
  ingredients.set_program(program);
  return Key::Of(ingredients);
}

class RecipeStoreTest : public ::testing::Test {
 protected:
  RecipeStoreTest() {
    std::string pattern = absl::StrCat(::testing::TempDir(), "/storeXXXXXX");
    base_ = mkdtemp(pattern.data());
    settings_.path = absl::StrCat(base_, "/a/cache");
  }
  ~RecipeStoreTest() override { std::filesystem::remove_all(base_); }

  std::unique_ptr<RecipeStore> Open() {
    return std::make_unique<RecipeStore>(settings_, &counters_, [this](const std::string& message) {
      std::lock_guard<std::mutex> lock(mutex_);
      warnings_.push_back(message);
    });
  }
  std::string PathOf(absl::string_view name) { return absl::StrCat(settings_.path, "/", name); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(settings_.path)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void Store(RecipeStore& store, const std::string& program, absl::string_view payload) {
    RecipeStore::Lookup lookup = store.FindOrClaim(KeyOf(program), program);
    ASSERT_FALSE(lookup.payload.has_value());
    store.Put(KeyOf(program), {}, payload, std::move(lookup.claim));
  }

  std::string base_;
  StoreSettings settings_;
  StoreCounters counters_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

TEST_F(RecipeStoreTest, StoresRecipes) {
  const auto store = Open();
  Store(*store, "one", "payload");
  const RecipeStore::Lookup lookup = Open()->FindOrClaim(KeyOf("one"), "one");
  EXPECT_EQ(lookup.payload, "payload");
  EXPECT_EQ(Names(), std::vector<std::string>{EntryName(KeyOf("one").name)});  // no lock, no temporary file
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(counters_.stored, 1);
  EXPECT_EQ(counters_.misses, 1);
  EXPECT_EQ(counters_.hits, 1);
}

TEST_F(RecipeStoreTest, IsPrivateToTheUser) {
  const auto store = Open();
  Store(*store, "one", "payload");
  struct stat info;
  ASSERT_EQ(stat(settings_.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(PathOf(EntryName(KeyOf("one").name)).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(RecipeStoreTest, EntryWritableByOtherUsersIsIgnored) {
  Store(*Open(), "one", "payload");
  chmod(PathOf(EntryName(KeyOf("one").name)).c_str(), 0620);
  EXPECT_FALSE(Open()->FindOrClaim(KeyOf("one"), "one").payload.has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "can be written by other users")) << warnings_[0];
}

TEST_F(RecipeStoreTest, DirectoryWritableByOtherUsersIsIgnored) {
  Store(*Open(), "one", "payload");
  chmod(settings_.path.c_str(), 0777);
  const auto store = Open();
  for (const char* program : {"one", "two"}) Store(*store, program, "payload");
  ASSERT_EQ(warnings_.size(), 1u);  // one warning for all recipes, reads and writes
  EXPECT_TRUE(absl::StrContains(warnings_[0], "can be written by other users")) << warnings_[0];
  EXPECT_TRUE(absl::StrContains(warnings_[0], absl::StrCat("chmod go-w ", settings_.path))) << warnings_[0];
}

TEST_F(RecipeStoreTest, DamagedEntryIsSetAsideAndRecompiled) {
  Store(*Open(), "one", "payload");
  const std::string path = PathOf(EntryName(KeyOf("one").name));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const auto store = Open();
  Store(*store, "one", "payload");
  EXPECT_EQ(Open()->FindOrClaim(KeyOf("one"), "one").payload, "payload");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "set aside")) << warnings_[0];
  EXPECT_TRUE(std::filesystem::exists(PathOf(DamagedName(KeyOf("one").name))));
  EXPECT_EQ(counters_.refused, 1);
}

TEST_F(RecipeStoreTest, EntryThatTheDeviceRefusesIsSetAsideAndNoHit) {
  Store(*Open(), "one", "payload");
  const auto store = Open();
  ASSERT_TRUE(store->FindOrClaim(KeyOf("one"), "one").payload.has_value());
  store->SetAside(KeyOf("one"), "its machine is too old");
  Store(*store, "one", "payload");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "its machine is too old; the file was set aside")) << warnings_[0];
  EXPECT_EQ(counters_.refused, 1);
  EXPECT_EQ(counters_.hits, 0);
  EXPECT_EQ(counters_.misses, 2);
}

TEST_F(RecipeStoreTest, DamagedEntryOfAnySizeIsRefusedUnread) {
  Store(*Open(), "one", "payload");
  // Larger than memory, but sparse on disk.
  std::filesystem::resize_file(PathOf(EntryName(KeyOf("one").name)), uint64_t{1} << 42);
  const auto store = Open();
  Store(*store, "one", "payload");
  EXPECT_EQ(Open()->FindOrClaim(KeyOf("one"), "one").payload, "payload");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "a recipe has at most")) << warnings_[0];
  EXPECT_TRUE(absl::StrContains(warnings_[0], "set aside")) << warnings_[0];
}

TEST_F(RecipeStoreTest, EntryThatIsLongerThanItsHeaderSaysIsRefusedUnread) {
  Store(*Open(), "one", "payload");
  std::filesystem::resize_file(PathOf(EntryName(KeyOf("one").name)), kMaxEntryBytes);
  EXPECT_FALSE(Open()->FindOrClaim(KeyOf("one"), "one").payload.has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "does not match its header")) << warnings_[0];
}

TEST_F(RecipeStoreTest, EntryUnderAnotherNameIsRefused) {
  Store(*Open(), "one", "payload");
  std::filesystem::rename(PathOf(EntryName(KeyOf("one").name)), PathOf(EntryName(KeyOf("two").name)));
  EXPECT_FALSE(Open()->FindOrClaim(KeyOf("two"), "two").payload.has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "does not match its key")) << warnings_[0];
}

TEST_F(RecipeStoreTest, DirectoryMayBeRemovedAndRecreated) {
  const auto store = Open();
  Store(*store, "one", "payload");
  std::filesystem::remove_all(base_ + "/a");
  RecipeStore::Lookup lookup = store->FindOrClaim(KeyOf("one"), "one");
  EXPECT_FALSE(lookup.payload.has_value());
  std::filesystem::remove_all(base_ + "/a");  // also between claim and result
  store->Put(KeyOf("one"), {}, "payload", std::move(lookup.claim));
  EXPECT_EQ(store->FindOrClaim(KeyOf("one"), "one").payload, "payload");
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RecipeStoreTest, OneProcessCompilesWhileOtherProcessesWait) {
  constexpr int kThreads = 8;
  std::atomic<int> compiled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto store = Open();  // each thread has its own store, like a process
      RecipeStore::Lookup lookup = store->FindOrClaim(KeyOf("one"), "one");
      if (!lookup.payload.has_value()) {
        ++compiled;
        absl::SleepFor(absl::Milliseconds(200));
        store->Put(KeyOf("one"), {}, "payload", std::move(lookup.claim));
      } else {
        EXPECT_EQ(lookup.payload, "payload");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled, 1);
}

TEST_F(RecipeStoreTest, ClaimOfAFailedCompilationPassesOn) {
  const auto first = Open(), second = Open();
  std::optional<RecipeStore::Lookup> claimed = first->FindOrClaim(KeyOf("one"), "one");
  std::thread waiter([&] {
    RecipeStore::Lookup lookup = second->FindOrClaim(KeyOf("one"), "one");
    EXPECT_FALSE(lookup.payload.has_value());
  });
  absl::SleepFor(absl::Milliseconds(50));
  claimed.reset();
  waiter.join();
  EXPECT_TRUE(Names().empty());
}

TEST_F(RecipeStoreTest, ClaimOfAKilledProcessPassesOn) {
  std::filesystem::create_directories(settings_.path);
  chmod(settings_.path.c_str(), 0700);
  const std::string lock = PathOf(LockName(KeyOf("one").name));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {  // only calls that are safe after fork()
    const int fd = open(lock.c_str(), O_RDWR | O_CREAT, 0600);
    flock(fd, LOCK_EX);
    static_cast<void>(!write(ready[1], "x", 1));
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  std::atomic<bool> killed{false};
  std::thread killer([&] {
    absl::SleepFor(absl::Milliseconds(100));
    killed = true;
    kill(child, SIGKILL);
  });
  const RecipeStore::Lookup lookup = Open()->FindOrClaim(KeyOf("one"), "one");
  EXPECT_TRUE(killed);
  EXPECT_FALSE(lookup.payload.has_value());
  killer.join();
  waitpid(child, nullptr, 0);
}

TEST_F(RecipeStoreTest, WaitEndsAtTheTimeoutAndNamesTheHolder) {
  settings_.lock_timeout = absl::Milliseconds(50);
  const auto first = Open(), second = Open();
  const RecipeStore::Lookup claimed = first->FindOrClaim(KeyOf("one"), "one");
  const RecipeStore::Lookup lookup = second->FindOrClaim(KeyOf("one"), "the cluster");
  EXPECT_FALSE(lookup.payload.has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], absl::StrCat("the cluster: process ", getpid()))) << warnings_[0];
}

TEST_F(RecipeStoreTest, LongWaitNamesTheHolderAndTheTime) {
  const auto first = Open(), second = Open();
  const RecipeStore::Lookup claimed = first->FindOrClaim(KeyOf("one"), "one");
  std::atomic<bool> cancelled{false};
  std::thread waiter([&] { second->FindOrClaim(KeyOf("one"), "the cluster", &cancelled); });
  const auto told = [this] {
    std::lock_guard<std::mutex> lock(mutex_);
    return !warnings_.empty();
  };
  while (!told()) absl::SleepFor(absl::Milliseconds(10));
  cancelled = true;
  waiter.join();
  EXPECT_TRUE(absl::StartsWith(warnings_[0], "the cluster: this process has waited ")) << warnings_[0];
  EXPECT_TRUE(absl::StrContains(warnings_[0], absl::StrCat("s for process ", getpid(), " ("))) << warnings_[0];
  EXPECT_TRUE(absl::EndsWith(warnings_[0], ") to compile this recipe")) << warnings_[0];
}

TEST_F(RecipeStoreTest, WaitEndsWhenItIsCancelled) {
  const auto first = Open(), second = Open();
  const RecipeStore::Lookup claimed = first->FindOrClaim(KeyOf("one"), "one");
  std::atomic<bool> cancelled{false};
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(50));
    cancelled = true;
  });
  const RecipeStore::Lookup lookup = second->FindOrClaim(KeyOf("one"), "one", &cancelled);
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(lookup.payload.has_value());
  canceller.join();
}

TEST_F(RecipeStoreTest, LeastRecentlyUsedIsEvictedFirst) {
  const std::string payload(100'000, 'x');
  settings_.max_bytes = 350'000;
  const auto store = Open();
  for (const char* program : {"a", "b", "c"}) {
    Store(*store, program, payload);
    const timespec old[2] = {{1000 + program[0], 0}, {1000 + program[0], 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, PathOf(EntryName(KeyOf(program).name)).c_str(), old, 0), 0);
  }
  EXPECT_TRUE(store->FindOrClaim(KeyOf("a"), "a").payload.has_value());  // now the most recently used
  Store(*store, "d", payload);
  EXPECT_EQ(counters_.evicted, 1);
  EXPECT_TRUE(store->FindOrClaim(KeyOf("a"), "a").payload.has_value());
  EXPECT_FALSE(store->FindOrClaim(KeyOf("b"), "b").payload.has_value());
}

TEST_F(RecipeStoreTest, EntryThatIsBeingReadIsNotEvicted) {
  const std::string payload(100'000, 'x');
  settings_.max_bytes = 150'000;
  const auto store = Open();
  Store(*store, "a", payload);
  const files::FileDescriptor reader(open(PathOf(EntryName(KeyOf("a").name)).c_str(), O_RDONLY));
  ASSERT_EQ(flock(reader.get(), LOCK_SH), 0);
  Store(*store, "b", payload);
  EXPECT_TRUE(store->FindOrClaim(KeyOf("a"), "a").payload.has_value());
}

TEST_F(RecipeStoreTest, RecipeLargerThanTheBoundIsNotKept) {
  settings_.max_bytes = 1000;
  const auto store = Open();
  Store(*store, "a", std::string(2000, 'x'));
  EXPECT_TRUE(Names().empty());
  EXPECT_TRUE(absl::StrContains(warnings_.at(0), "HPU_RECIPE_CACHE_MAX_MB")) << warnings_.at(0);
}

TEST_F(RecipeStoreTest, ReadOnlyChangesNothing) {
  Store(*Open(), "one", "payload");
  settings_.read_only = true;
  const auto store = Open();
  EXPECT_EQ(store->FindOrClaim(KeyOf("one"), "one").payload, "payload");
  RecipeStore::Lookup lookup = store->FindOrClaim(KeyOf("two"), "two");
  store->Put(KeyOf("two"), {}, "payload", std::move(lookup.claim));
  EXPECT_EQ(Names().size(), 1u);
}

TEST_F(RecipeStoreTest, LeftoversOfKilledProcessesAreRemoved) {
  Store(*Open(), "one", "payload");
  std::ofstream(PathOf(TemporaryName(1, 2, "x"))) << "part";
  std::ofstream(PathOf(LockName("x"))) << "";
  Open()->FindOrClaim(KeyOf("one"), "one");
  EXPECT_EQ(Names(), std::vector<std::string>{EntryName(KeyOf("one").name)});
}

TEST_F(RecipeStoreTest, UnwritableDirectoryIsReportedOnce) {
  std::ofstream(base_ + "/a") << "a file where a directory should be";
  const auto store = Open();
  for (const char* program : {"one", "two"}) {
    RecipeStore::Lookup lookup = store->FindOrClaim(KeyOf(program), program);
    store->Put(KeyOf(program), {}, "payload", std::move(lookup.claim));
  }
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "recipes are compiled but not cached")) << warnings_[0];
}

}  // namespace recipe_store_test
}  // namespace hpu::recipes

// Tests of RecipeStore on a failing file system: calls on files of the store fail with an error that the test chooses.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "plugin/recipes/cleaning.h"
#include "plugin/recipes/recipe_store.h"

namespace {

enum class Call { kNone, kWrite, kFsync, kRead, kFlock, kCreate, kRename, kUnlink };

std::atomic<Call> failing{Call::kNone};
std::atomic<int> failure{0};
std::string* failing_directory = new std::string;

bool Fails(Call call, int fd) {
  if (failing.load() != call) return false;
  char path[4096];
  const ssize_t size = readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path, sizeof(path));
  if (size <= 0 || !absl::StartsWith(absl::string_view(path, size), *failing_directory)) return false;
  errno = failure.load();
  return true;
}

template <typename F>
F Next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Replacements for the C library's functions in the whole test program.
extern "C" {
ssize_t write(int fd, const void* data, size_t size) {
  static auto next = Next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!Fails(Call::kWrite, fd)) return next(fd, data, size);
  return -1;
}
int fsync(int fd) {
  static auto next = Next<int (*)(int)>("fsync");
  return Fails(Call::kFsync, fd) ? -1 : next(fd);
}
ssize_t read(int fd, void* data, size_t size) {
  static auto next = Next<ssize_t (*)(int, void*, size_t)>("read");
  return Fails(Call::kRead, fd) ? -1 : next(fd, data, size);
}
int flock(int fd, int operation) noexcept {
  static auto next = Next<int (*)(int, int)>("flock");
  return Fails(Call::kFlock, fd) ? -1 : next(fd, operation);
}
int openat(int fd, const char* name, int flags, ...) {
  static auto next = Next<int (*)(int, const char*, int, ...)>("openat");
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return (flags & O_CREAT) != 0 && Fails(Call::kCreate, fd) ? -1 : next(fd, name, flags, mode);
}
int renameat(int from_fd, const char* from, int to_fd, const char* to) noexcept {
  static auto next = Next<int (*)(int, const char*, int, const char*)>("renameat");
  return Fails(Call::kRename, from_fd) ? -1 : next(from_fd, from, to_fd, to);
}
int unlinkat(int fd, const char* name, int flags) noexcept {
  static auto next = Next<int (*)(int, const char*, int)>("unlinkat");
  return Fails(Call::kUnlink, fd) ? -1 : next(fd, name, flags);
}
}

namespace hpu::recipes {
namespace {

Key SomeKey() {
  recipe::v1::Ingredients ingredients;
  ingredients.set_program("program");
  return Key::Of(ingredients);
}

StoreSettings FreshDirectory() {
  std::string pattern = absl::StrCat(::testing::TempDir(), "/faultsXXXXXX");
  StoreSettings settings;
  settings.path = mkdtemp(pattern.data());
  return settings;
}

class DiskFaultsTest : public ::testing::Test {
 protected:
  DiskFaultsTest() { *failing_directory = std::filesystem::canonical(settings_.path); }
  ~DiskFaultsTest() override {
    failing = Call::kNone;
    std::filesystem::remove_all(settings_.path);
  }

  // Looks the recipe up like a program. "Compiles" and stores a missing recipe. Returns whether the recipe was found.
  bool Run() {
    RecipeStore::Lookup lookup = store_.FindOrClaim(SomeKey(), "cluster");
    if (lookup.payload.has_value()) {
      EXPECT_EQ(lookup.payload, "payload");
      return true;
    }
    store_.Put(SomeKey(), {}, "payload", std::move(lookup.claim));
    return false;
  }
  int FileCount() {
    const std::filesystem::directory_iterator files(settings_.path);
    return std::distance(begin(files), end(files));
  }

  const StoreSettings settings_ = FreshDirectory();
  StoreCounters counters_;
  std::vector<std::string> warnings_;
  RecipeStore store_{settings_, &counters_, [this](const std::string& message) { warnings_.push_back(message); }};
};

TEST_F(DiskFaultsTest, WithoutFaultsTheSecondLookupHits) {
  EXPECT_FALSE(Run());
  EXPECT_TRUE(Run());
  EXPECT_TRUE(warnings_.empty());
}

struct Fault {
  Call call;
  int error;
};

class WriteFaultsTest : public DiskFaultsTest, public ::testing::WithParamInterface<Fault> {};

TEST_P(WriteFaultsTest, FailedWriteWarnsOnceAndLeavesNoFile) {
  failure = GetParam().error;
  failing = GetParam().call;
  EXPECT_FALSE(Run());
  EXPECT_FALSE(Run());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], std::strerror(GetParam().error))) << warnings_[0];
  EXPECT_EQ(counters_.stored, 0);
  failing = Call::kNone;
  EXPECT_EQ(FileCount(), 0);
  EXPECT_FALSE(Run());  // the disk has room again
  EXPECT_TRUE(Run());
}

INSTANTIATE_TEST_SUITE_P(All, WriteFaultsTest,
                         ::testing::Values(Fault{Call::kWrite, ENOSPC}, Fault{Call::kWrite, EIO},
                                           Fault{Call::kFsync, EIO}, Fault{Call::kCreate, EACCES},
                                           Fault{Call::kCreate, EROFS}, Fault{Call::kRename, ENOSPC}));

TEST_F(DiskFaultsTest, EntryThatCannotBeReadIsKept) {
  EXPECT_FALSE(Run());
  failure = EIO;
  failing = Call::kRead;
  const RecipeStore::Lookup lookup = store_.FindOrClaim(SomeKey(), "cluster");
  EXPECT_FALSE(lookup.payload.has_value());
  EXPECT_EQ(warnings_.size(), 1u);
  failing = Call::kNone;
  EXPECT_TRUE(Run());
}

TEST_F(DiskFaultsTest, EntryThatCannotBeEvictedIsAnError) {
  EXPECT_FALSE(Run());
  const absl::StatusOr<StoreDirectory> directory = StoreDirectory::Open(settings_.path, /*make=*/false);
  ASSERT_TRUE(directory.ok());
  failure = EROFS;
  failing = Call::kUnlink;
  EXPECT_TRUE(absl::IsUnavailable(Evict(*directory, {/*max_bytes=*/0}).status()));
  StoreSettings bounded = settings_;
  bounded.max_bytes = SerializeEntry(SomeKey(), {}, "payload").size();
  RecipeStore store(bounded, &counters_, [this](const std::string& message) { warnings_.push_back(message); });
  recipe::v1::Ingredients other;
  store.Put(Key::Of(other), {}, "payload", Claim());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "may grow beyond HPU_RECIPE_CACHE_MAX_MB")) << warnings_[0];
  failing = Call::kNone;
  EXPECT_EQ(Evict(*directory, {/*max_bytes=*/0})->entries, 2);
}

TEST_F(DiskFaultsTest, RecipesAreStoredWithoutLocks) {
  failure = ENOLCK;
  failing = Call::kFlock;
  EXPECT_FALSE(Run());
  EXPECT_TRUE(Run());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "no working locks")) << warnings_[0];
}

}  // namespace
}  // namespace hpu::recipes

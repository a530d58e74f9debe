// Tests of RemoteCache with a shell script as transfer process; tests/recipes/test_remote_cache.py runs the real
// process.
#include "plugin/recipes/remote_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hpu::recipes {
namespace remote_cache_test {

Key KeyOf(const std::string& program) {
  recipe::v1::Ingredients ingredients;
  ingredients.set_program(program);
  return Key::Of(ingredients);
}

class RemoteCacheTest : public ::testing::Test {
 protected:
  RemoteCacheTest() {
    std::string pattern = absl::StrCat(::testing::TempDir(), "/remoteXXXXXX");
    base_ = mkdtemp(pattern.data());
    settings_.url = "http://storage";
    settings_.timeout = absl::Seconds(60);
  }
  ~RemoteCacheTest() override { std::filesystem::remove_all(base_); }

  // Returns a cache whose transfer process runs `reply` for each request and records the request's verb.
  RemoteCache Open(const std::string& reply) {
    settings_.command = {"sh", "-c",
                         absl::StrCat("while read verb key size; do head -c $size > /dev/null; echo $verb >> ", base_,
                                      "/requests; ", reply, "; done")};
    return RemoteCache(settings_, &counters_, [this](const std::string& message) {
      std::lock_guard<std::mutex> lock(mutex_);
      warnings_.push_back(message);
    });
  }
  // Shell words that reply with these bytes.
  std::string Found(const std::string& bytes) {
    std::ofstream(absl::StrCat(base_, "/entry"), std::ios::binary) << bytes;
    return absl::StrCat("echo found ", bytes.size(), " >&0; cat ", base_, "/entry >&0");
  }
  // Returns the payload that Fetch loads; empty if Fetch loads no payload.
  std::string Fetch(RemoteCache& cache, const std::string& program, const absl::Status& status = absl::OkStatus()) {
    std::string loaded;
    cache.Fetch(KeyOf(program), "cluster_0", [&](absl::string_view payload) {
      if (status.ok()) loaded = std::string(payload);
      return status;
    });
    return loaded;
  }
  int64_t Requests() {
    std::ifstream file(absl::StrCat(base_, "/requests"));
    return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  }

  std::string base_;
  RemoteSettings settings_;
  RemoteCounters counters_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

TEST_F(RemoteCacheTest, LoadsStoredEntries) {
  RemoteCache cache = Open(Found(SerializeEntry(KeyOf("one"), {}, "payload")));
  EXPECT_EQ(Fetch(cache, "one"), "payload");
  EXPECT_EQ(counters_.hits, 1);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RemoteCacheTest, CountsMisses) {
  RemoteCache cache = Open("echo missing 0 >&0");
  for (int n = 0; n < 5; ++n) EXPECT_EQ(Fetch(cache, "one"), "");
  EXPECT_EQ(counters_.misses, 5);
  EXPECT_EQ(Requests(), 5);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RemoteCacheTest, EntryOfAnotherKeyIsRefused) {
  RemoteCache cache = Open(Found(SerializeEntry(KeyOf("two"), {}, "payload")));
  for (int n = 0; n < 5; ++n) EXPECT_EQ(Fetch(cache, "one"), "");
  EXPECT_EQ(counters_.refused, 5);
  ASSERT_EQ(warnings_.size(), 1u);  // one per entry
  EXPECT_TRUE(absl::StrContains(warnings_[0], KeyOf("one").name)) << warnings_[0];
}

TEST_F(RemoteCacheTest, DamagedEntryIsRefused) {
  std::string bytes = SerializeEntry(KeyOf("one"), {}, "payload");
  bytes[bytes.size() / 2] ^= 1;
  RemoteCache cache = Open(Found(bytes));
  EXPECT_EQ(Fetch(cache, "one"), "");
  EXPECT_EQ(counters_.refused, 1);
  EXPECT_EQ(counters_.hits, 0);
}

TEST_F(RemoteCacheTest, EntryOfAnotherFormatIsRefused) {
  RemoteCache cache = Open(Found(SerializeEntry(KeyOf("one"), {}, "payload")));
  Fetch(cache, "one", absl::InvalidArgumentError("of another format"));
  EXPECT_EQ(counters_.refused, 1);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "of another format")) << warnings_[0];
  // An error of the device does not make the entry unusable.
  Fetch(cache, "one", absl::InternalError("the device is lost"));
  EXPECT_EQ(counters_.refused, 1);
  EXPECT_EQ(counters_.hits, 0);
}

TEST_F(RemoteCacheTest, WrongSignatureIsRefused) {
  RemoteCache cache = Open("printf 'refused 6\\nforged' >&0");
  EXPECT_EQ(Fetch(cache, "one"), "");
  EXPECT_EQ(counters_.refused, 1);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "forged")) << warnings_[0];
}

TEST_F(RemoteCacheTest, StorageThatFailsIsLeftAlone) {
  RemoteCache cache = Open("printf 'failed 4\\ndown' >&0");
  for (int n = 0; n < 10; ++n) {
    Fetch(cache, "one");
    cache.Upload(KeyOf("one"), "/path");
  }
  EXPECT_EQ(Requests(), kMaxRemoteFailures);
  EXPECT_EQ(counters_.failures, kMaxRemoteFailures);
  EXPECT_FALSE(cache.accepts_uploads());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "http://storage failed: down")) << warnings_[0];
}

TEST_F(RemoteCacheTest, ProcessThatDiesOrHangsCountsAsAFailure) {
  settings_.timeout = absl::Milliseconds(200);
  for (const char* reply : {"exit", "sleep 5"}) {
    RemoteCache cache = Open(reply);
    for (int n = 0; n < 10; ++n) EXPECT_EQ(Fetch(cache, "one"), "");
    EXPECT_FALSE(cache.accepts_uploads());
  }
  EXPECT_EQ(counters_.failures, 2 * kMaxRemoteFailures);
  EXPECT_EQ(warnings_.size(), 2u);
}

TEST_F(RemoteCacheTest, UnusableSettingsAreReportedOnce) {
  RemoteCache cache = Open("printf 'unusable 6\\nno key' >&0");
  for (int n = 0; n < 10; ++n) EXPECT_EQ(Fetch(cache, "one"), "");
  EXPECT_EQ(Requests(), 1);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(warnings_[0], "no key")) << warnings_[0];
}

TEST_F(RemoteCacheTest, WarningsHideUserAndPassword) {
  const std::string reply = "printf 'unusable 6\\nno key' >&0";
  for (const char* user : {"user", "user:secret", "user:p@ss", "user:"}) {
    settings_.url = absl::StrCat("https://", user, "@storage:8080/team@here");
    RemoteCache cache = Open(reply);
    Fetch(cache, "one");
    ASSERT_FALSE(warnings_.empty());
    EXPECT_TRUE(absl::StrContains(warnings_.back(), " https://storage:8080/team@here cannot")) << warnings_.back();
  }
  for (const char* url :
       {"file:///recipes@home", "https://storage/team@here", "https://storage?user@x", "user@storage"}) {
    settings_.url = url;
    RemoteCache cache = Open(reply);
    Fetch(cache, "one");
    EXPECT_TRUE(absl::StrContains(warnings_.back(), absl::StrCat(" ", url, " cannot"))) << warnings_.back();
  }
}

TEST_F(RemoteCacheTest, UploadsStopAfterADenial) {
  RemoteCache cache = Open("test $verb = put && printf 'denied 3\\n403' >&0 || echo missing 0 >&0");
  for (int n = 0; n < 10; ++n) {
    Fetch(cache, "one");
    cache.Upload(KeyOf("one"), "/path");
  }
  EXPECT_EQ(Requests(), 11);
  EXPECT_EQ(counters_.misses, 10);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(RemoteCacheTest, CountsUploads) {
  RemoteCache cache = Open("echo stored 0 >&0");
  cache.Upload(KeyOf("one"), "/path");
  EXPECT_EQ(counters_.uploaded, 1);
}

TEST_F(RemoteCacheTest, EntryThatIsGoneIsNotUploadedAndNotReported) {
  RemoteCache cache = Open("echo skipped 0 >&0");
  for (int n = 0; n < 10; ++n) cache.Upload(KeyOf("one"), "/path");
  EXPECT_EQ(Requests(), 10);
  EXPECT_EQ(counters_.uploaded, 0);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RemoteCacheTest, ReadOnlyUploadsNothing) {
  settings_.read_only = true;
  RemoteCache cache = Open("echo stored 0 >&0");
  cache.Upload(KeyOf("one"), "/path");
  EXPECT_EQ(Requests(), 0);
}

TEST_F(RemoteCacheTest, ForkedChildSendsNoRequests) {
  RemoteCache cache = Open(Found(SerializeEntry(KeyOf("one"), {}, "payload")));
  EXPECT_EQ(Fetch(cache, "one"), "payload");
  const pid_t child = fork();
  if (child == 0) _exit(Fetch(cache, "one").empty() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Requests(), 1);
}

}  // namespace remote_cache_test
}  // namespace hpu::recipes

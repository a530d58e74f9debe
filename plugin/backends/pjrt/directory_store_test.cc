// Tests of DirectoryStore: values, waits, and keys that are no file names.
#include "plugin/backends/pjrt/directory_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "plugin/testing/cts/fixture.h"

namespace hpu::pjrt {
namespace directory_store_test {

using std::chrono::milliseconds;

class DirectoryStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "hpu_store.XXXXXX").string();
    ASSERT_NE(nullptr, mkdtemp(path.data()));
    directory_ = path;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory_;
};

TEST_F(DirectoryStoreTest, ValuesAreAnyBytes) {
  DirectoryStore one(directory_, "0-");
  DirectoryStore other(directory_, "0-");
  const std::string value("a\0b\n\xff", 5);
  EXPECT_OK(one.Put("key", value));
  EXPECT_EQ(value, cts::Value(other.TryGet("key")));
  EXPECT_OK(other.Put("key", ""));
  EXPECT_EQ("", cts::Value(one.Get("key", milliseconds(0))));
}

TEST_F(DirectoryStoreTest, KeysAreAnyBytes) {
  DirectoryStore store(directory_, "0-");
  const std::string keys[] = {"",
                              "..",
                              "a/b",
                              "a",
                              "a+",
                              "a%2f",
                              std::string("a\0b", 3),
                              std::string(200, 'x'),
                              std::string(201, 'x'),
                              std::string(1000, '/')};
  for (const std::string& key : keys) EXPECT_OK(store.Put(key, "value of " + key));
  for (const std::string& key : keys) EXPECT_EQ("value of " + key, cts::Value(store.TryGet(key)));
}

TEST_F(DirectoryStoreTest, PrefixesSeparateUsers) {
  EXPECT_OK(DirectoryStore(directory_, "0-").Put("key", "first"));
  cts::ExpectError(DirectoryStore(directory_, "1-").TryGet("key").status(), absl::StatusCode::kNotFound, "key");
}

TEST_F(DirectoryStoreTest, GetWaitsForAnotherProcess) {
  DirectoryStore store(directory_, "0-");
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_OK(store.Put("late", "value"));
  });
  EXPECT_EQ("value", cts::Value(store.Get("late", std::chrono::minutes(1))));
  other.join();
}

TEST_F(DirectoryStoreTest, MissingKeysAreNamed) {
  DirectoryStore store(directory_, "0-");
  cts::ExpectError(store.TryGet("local_topology/cuda/1").status(), absl::StatusCode::kNotFound,
                   "local_topology/cuda/1");
  cts::ExpectError(store.Get("local_topology/cuda/1", milliseconds(30)).status(), absl::StatusCode::kDeadlineExceeded,
                   "local_topology/cuda/1 into " + directory_ + " within 30 ms");
}

TEST_F(DirectoryStoreTest, AMissingDirectoryIsNamed) {
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(directory_ + "/folder");
  DirectoryStore store(directory_ + "/folder/file", "0-");
  EXPECT_OK(DirectoryStore(directory_ + "/folder", "").Put("file", "not a directory"));
  cts::ExpectError(store.Put("key", "value"), absl::StatusCode::kUnavailable, directory_ + "/folder/file");
}

}  // namespace directory_store_test
}  // namespace hpu::pjrt

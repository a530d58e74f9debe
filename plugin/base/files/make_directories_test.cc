#include "plugin/base/files/make_directories.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace hpu::files {
namespace make_directories_test {

class MakeDirectoriesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/directories_" + std::to_string(getpid());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string root_;
};

TEST_F(MakeDirectoriesTest, CreatesParentsWithTheMode) {
  for (const char* path : {"/a/b/c", "/a/b/d/", "/a/b/c", "/a//e"}) {
    EXPECT_TRUE(MakeDirectories(root_ + path, 0700)) << path;
    EXPECT_TRUE(std::filesystem::is_directory(root_ + path)) << path;
  }
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) {
    struct stat info;
    ASSERT_EQ(0, stat((root_ + path).c_str(), &info));
    EXPECT_EQ(0700u, info.st_mode & 0777u) << path;
  }
}

TEST_F(MakeDirectoriesTest, AcceptsExistingAndRelativeDirectories) {
  EXPECT_TRUE(MakeDirectories("/", 0700));
  EXPECT_TRUE(MakeDirectories(".", 0700));
  std::filesystem::create_directory_symlink(root_, root_ + "/link");
  EXPECT_TRUE(MakeDirectories(root_ + "/link", 0700));
}

TEST_F(MakeDirectoriesTest, ReportsFilesInThePlaceOfDirectories) {
  std::ofstream(root_ + "/file");
  EXPECT_FALSE(MakeDirectories(root_ + "/file", 0700));
  EXPECT_EQ(EEXIST, errno);
  EXPECT_FALSE(MakeDirectories(root_ + "/file/a", 0700));
  EXPECT_EQ(ENOTDIR, errno);
  EXPECT_FALSE(MakeDirectories("", 0700));
  EXPECT_EQ(ENOENT, errno);
}

}  // namespace make_directories_test
}  // namespace hpu::files

#include "plugin/recipes/listing.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "plugin/recipes/file_names.h"

namespace hpu::recipes {
namespace {

class LastCompileTimeTest : public testing::Test {
 protected:
  LastCompileTimeTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/listingXXXXXX");
    path_ = mkdtemp(pattern.data());
  }
  ~LastCompileTimeTest() override { std::filesystem::remove_all(path_); }

  StoreDirectory Open() { return StoreDirectory::Open(path_, /*make=*/false).value(); }

  void Write(const std::string& program, const std::string& cluster, int64_t created, double seconds) {
    recipe::v1::Ingredients ingredients;
    ingredients.set_program(program);
    const Key key = Key::Of(ingredients);
    recipe::v1::Metadata metadata;
    metadata.set_cluster(cluster);
    metadata.set_created(created);
    metadata.set_compile_seconds(seconds);
    ASSERT_TRUE(Open().Write(EntryName(key.name), SerializeEntry(key, metadata, "payload")).ok());
  }

  std::string path_;
};

TEST_F(LastCompileTimeTest, IsThatOfTheNewestEntryOfTheCluster) {
  EXPECT_EQ(LastCompileTime(Open(), "step"), std::nullopt);
  Write("one", "step", 100, 7.5);
  Write("two", "step", 300, 9.5);
  Write("three", "step", 200, 8.5);
  Write("four", "other", 400, 1.5);
  EXPECT_EQ(LastCompileTime(Open(), "step"), absl::Milliseconds(9500));
  EXPECT_EQ(LastCompileTime(Open(), "other"), absl::Milliseconds(1500));
  EXPECT_EQ(LastCompileTime(Open(), "ste"), std::nullopt);
}

TEST_F(LastCompileTimeTest, DamagedEntriesAreSkipped) {
  Write("one", "step", 100, 7.5);
  std::ofstream(absl::StrCat(path_, "/", EntryName(std::string(64, 'a')))) << "HPURECIP and not much more";
  std::ofstream(absl::StrCat(path_, "/", EntryName(std::string(64, 'b'))));
  EXPECT_EQ(LastCompileTime(Open(), "step"), absl::Milliseconds(7500));
}

}  // namespace
}  // namespace hpu::recipes

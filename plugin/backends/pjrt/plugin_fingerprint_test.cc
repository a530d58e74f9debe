#include "plugin/backends/pjrt/plugin_fingerprint.h"

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hpu::pjrt {
namespace plugin_fingerprint_test {

// The fingerprint of a new file with these contents.
std::string FingerprintOf(const std::string& contents) {
  static int count = 0;
  const std::string path = absl::StrCat(testing::TempDir(), "/plugin_", ++count, ".so");
  std::ofstream(path, std::ios::binary) << contents;
  return PluginFingerprint(path);
}

TEST(PluginFingerprintTest, IsEqualForCopiesAndDiffersForOtherBuilds) {
  for (const size_t size : {size_t{1000}, size_t{8} << 20}) {
    std::string contents(size, 'a');
    const std::string first = FingerprintOf(contents);
    EXPECT_TRUE(absl::StartsWith(first, absl::StrCat(size, "-"))) << first;
    EXPECT_EQ(first, FingerprintOf(contents));
    EXPECT_NE(first, FingerprintOf(contents + "a"));
    for (const size_t changed : {size_t{0}, size - 1}) {
      std::string other = contents;
      other[changed] = 'b';
      EXPECT_NE(first, FingerprintOf(other));
    }
    // Another build moves code: a run of pages differs.
    std::string moved = contents;
    for (size_t i = size / 2; i < size; ++i) moved[i] = 'b';
    EXPECT_NE(first, FingerprintOf(moved));
  }
}

TEST(PluginFingerprintTest, IsEmptyForMissingFiles) { EXPECT_EQ("", PluginFingerprint("/nonexistent/plugin.so")); }

}  // namespace plugin_fingerprint_test
}  // namespace hpu::pjrt

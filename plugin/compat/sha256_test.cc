#include "plugin/compat/sha256.h"

#include "gtest/gtest.h"

namespace hpu {
namespace sha256_test {

TEST(Sha256Test, MatchesPublishedDigests) {  // FIPS 180-2, appendix B
  EXPECT_EQ(Hex(Sha256({"abc"})), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Sha256({"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"})),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Hex(Sha256({"a", "", "bc"})), Hex(Sha256({"abc"})));
}

}  // namespace sha256_test
}  // namespace hpu

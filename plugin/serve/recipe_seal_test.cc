#include "plugin/serve/recipe_seal.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "plugin/serve/crypto.h"

namespace hpu::serve {
namespace {

const std::string kKey(32, 'k');

TEST(RecipeSealTest, OpensWhatTheSameKeySealed) {
  const std::string sealed = RecipeSeal(kKey).Seal("recipe");
  EXPECT_EQ("recipe", RecipeSeal(kKey).Open(sealed).value());
  EXPECT_EQ("", RecipeSeal(kKey).Open(RecipeSeal(kKey).Seal("")).value());
}

TEST(RecipeSealTest, RefusesEveryChange) {
  const RecipeSeal seal(kKey);
  const std::string sealed = seal.Seal("recipe");
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] ^= 1;
    EXPECT_EQ(absl::StatusCode::kPermissionDenied, seal.Open(changed).status().code()) << at;
    EXPECT_EQ(absl::StatusCode::kPermissionDenied, seal.Open(sealed.substr(0, at)).status().code()) << at;
  }
  EXPECT_FALSE(seal.Open(sealed + sealed).ok());
}

TEST(RecipeSealTest, RefusesAnotherKeysWhichItsIdTells) {
  const RecipeSeal ours(kKey);
  const RecipeSeal theirs(std::string(32, 'K'));
  EXPECT_FALSE(ours.Open(theirs.Seal("recipe")).ok());
  EXPECT_NE(ours.key_id(), theirs.key_id());
  EXPECT_EQ(16u, ours.key_id().size());
}

// RFC 4231, test case 2.
TEST(CryptoTest, HmacIsTheStandards) {
  EXPECT_EQ("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            absl::BytesToHexString(HmacSha256("Jefe", "what do ya want for nothing?")));
}

TEST(CryptoTest, SecretsAreEqualOrNot) {
  EXPECT_TRUE(EqualSecrets("", ""));
  EXPECT_TRUE(EqualSecrets("abc", "abc"));
  EXPECT_FALSE(EqualSecrets("abc", "abd"));
  EXPECT_FALSE(EqualSecrets("abc", "abcd"));
}

}  // namespace
}  // namespace hpu::serve

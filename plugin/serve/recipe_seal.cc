#include "plugin/serve/recipe_seal.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "plugin/serve/crypto.h"

namespace hpu::serve {
namespace {

constexpr size_t kKeyIdDigits = 16;

}  // namespace

RecipeSeal::RecipeSeal(absl::string_view key)
    : mac_key_(HmacSha256(key, "recipes")),
      key_id_(absl::BytesToHexString(HmacSha256(key, "id of the key")).substr(0, kKeyIdDigits)) {}

std::string RecipeSeal::Seal(std::string recipe) const {
  recipe += HmacSha256(mac_key_, recipe);
  return recipe;
}

absl::StatusOr<absl::string_view> RecipeSeal::Open(absl::string_view sealed) const {
  if (sealed.size() >= kMacBytes) {
    const absl::string_view recipe = sealed.substr(0, sealed.size() - kMacBytes);
    if (EqualSecrets(sealed.substr(recipe.size()), HmacSha256(mac_key_, recipe))) return recipe;
  }
  return absl::PermissionDeniedError(
      "the recipe was not made by this server, or was changed since: it is not signed with the server's key "
      "(hpu serve --key)");
}

}  // namespace hpu::serve

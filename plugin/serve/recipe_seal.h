// RecipeSeal: what tells a server that a recipe is its own.
#ifndef HPU_PLUGIN_SERVE_RECIPE_SEAL_H_
#define HPU_PLUGIN_SERVE_RECIPE_SEAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::serve {

// A recipe is machine code that the server runs: it loads none that was not made under the same key. A sealed recipe is
// what hal::Recipe::Serialize gave and, after it, its HMAC-SHA256. Thread safe.
class RecipeSeal {
 public:
  static constexpr size_t kMacBytes = 32;

  // `key` is secret and has at least 32 bytes.
  explicit RecipeSeal(absl::string_view key);

  // What may be known of the key: 16 hexadecimal digits. Servers with the same key have the same.
  const std::string& key_id() const { return key_id_; }

  std::string Seal(std::string recipe) const;
  // The recipe in `sealed`. PermissionDenied if it was not sealed under this key or was changed since.
  absl::StatusOr<absl::string_view> Open(absl::string_view sealed) const;

 private:
  // Made from the key, so that nothing but a seal is signed with it.
  const std::string mac_key_;
  const std::string key_id_;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_RECIPE_SEAL_H_

// RemoteRecipe: recipe of the remote backend. This process holds the tables and the serialised recipe; the server holds
// the loaded code.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_RECIPE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/remote/session.h"
#include "plugin/hal/recipe.h"

namespace hpu::remote {

class RemoteRecipe final : public hal::Recipe {
 public:
  // Compiles a program, or loads a serialised recipe, at the server. Blocks until the server has answered.
  static absl::StatusOr<std::shared_ptr<const RemoteRecipe>> Make(const std::shared_ptr<Session>& session,
                                                                  proto::MakeRecipeHeader::Source source,
                                                                  absl::string_view name, absl::string_view bytes);

  RemoteRecipe(const std::shared_ptr<Session>& session, uint64_t handle, std::string name)
      : session_(session), handle_(handle), name_(std::move(name)) {}
  ~RemoteRecipe() override;

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return arguments_; }
  const std::vector<hal::ResultSpec>& results() const override { return results_; }
  uint64_t workspace_bytes() const override { return workspace_bytes_; }
  absl::StatusOr<std::string> Serialize() const override { return bytes_; }
  uint64_t serialized_bytes() const override { return bytes_.size(); }

  uint64_t handle() const { return handle_; }
  bool IsOf(const std::shared_ptr<Session>& session) const { return session_.lock() == session; }
  // Call once before each Launch command is sent.
  void CountUse() const { uses_.fetch_add(1, std::memory_order_relaxed); }

 private:
  absl::Status ReadTable(const proto::RecipeTable& table);

  const std::weak_ptr<Session> session_;  // weak, because recipes may outlive the device
  const uint64_t handle_;
  const std::string name_;
  std::vector<hal::TensorSpec> arguments_;
  std::vector<hal::ResultSpec> results_;
  uint64_t workspace_bytes_ = 0;
  std::string bytes_;
  mutable std::atomic<uint64_t> uses_{0};
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_RECIPE_H_

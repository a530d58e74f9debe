// TargetCompiler: compiles for a card that is not present.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_TARGET_COMPILER_H_
#define HPU_PLUGIN_BACKENDS_PJRT_TARGET_COMPILER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/null/recipe.h"
#include "plugin/backends/pjrt/client/topology.h"

namespace hpu::pjrt {

// Description of a card, as XLA needs it to compile for the card.
struct Target {
  std::string description;    // a stream_executor.GpuTargetConfigProto as text
  uint64_t memory_bytes = 0;  // of the card; 0 if the description does not contain it
};

// The target that HPU_PJRT_TARGET names: a card of plugin/backends/pjrt/targets/ ("h100"), or the path of a
// description. InvalidArgument names the known cards.
absl::StatusOr<Target> FindTarget(const std::string& name);

// Recipes are the plugin's, for the card, and so do nothing here. Their workspace is what the program needs on the
// card.
class TargetCompiler final : public null::Compiler {
 public:
  static absl::StatusOr<std::unique_ptr<TargetCompiler>> Create(const Plugin& plugin, const Target& target);

  // DeviceInfo::compiler_target that the card's own device has.
  const std::string& compiler_target() const { return compiler_target_; }
  const std::string& device_kind() const { return topology_->device_kind(); }

  absl::StatusOr<std::shared_ptr<const null::NullRecipe>> Compile(const hal::Program& program) override;
  absl::StatusOr<std::shared_ptr<const null::NullRecipe>> Load(absl::string_view name,
                                                               absl::string_view bytes) override;

 private:
  TargetCompiler(std::unique_ptr<Topology> topology, std::string compiler_target)
      : topology_(std::move(topology)), compiler_target_(std::move(compiler_target)) {}

  const std::unique_ptr<Topology> topology_;
  const std::string compiler_target_;
};

// DeviceInfo::compiler_target: all that a compiled program depends on, in one line.
std::string CompilerTargetOf(const Plugin& plugin, absl::string_view platform, absl::string_view device_kind,
                             absl::string_view platform_version);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_TARGET_COMPILER_H_

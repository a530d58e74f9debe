// TargetCompiler: ahead-of-time compiler for a card that is not present.
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

// Description of a card for XLA's compiler.
struct Target {
  std::string description;    // a stream_executor.GpuTargetConfigProto as text
  uint64_t memory_bytes = 0;  // memory of the card; 0 if the description does not contain it
};

// Target for a value of HPU_PJRT_TARGET: a card in plugin/backends/pjrt/targets/, such as "h100", or the path of a
// description. InvalidArgument lists the known cards.
absl::StatusOr<Target> FindTarget(const std::string& name);

// Recipes contain the plugin's code for the card, so a launch on this machine does nothing. The workspace of a recipe
// is the temporary memory that the program needs on the card.
class TargetCompiler final : public null::Compiler {
 public:
  static absl::StatusOr<std::unique_ptr<TargetCompiler>> Create(const Plugin& plugin, const Target& target);

  // DeviceInfo::compiler_target of a PjrtDevice on the card.
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

// DeviceInfo::compiler_target: everything besides the program on which the compiled code depends, in one line. Equal
// for a card and its description, so it contains no driver version: a description has none, and the plugin's own
// assembler generates the code.
std::string CompilerTargetOf(const Plugin& plugin, absl::string_view platform, absl::string_view device_kind,
                             absl::string_view platform_version);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_TARGET_COMPILER_H_

#include "plugin/hal/backend.h"

#include <utility>
#include <vector>

#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/null/device.h"
#include "plugin/backends/null/recipe.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::null {
namespace {

// Modules are not exclusive, because null devices share nothing.
class NullBackend final : public hal::Backend {
 public:
  absl::string_view name() const override { return "null"; }

  absl::StatusOr<int> ModuleCount() override { return common::ModuleCountSetting(); }

  absl::Status CheckOptions(const hal::AcquireOptions& options) override {
    return common::CheckEmulatedOptions(options);
  }

  absl::StatusOr<std::string> CompilerTarget() override { return null::CompilerTarget(); }

  absl::StatusOr<std::string> Compile(const hal::Program& program) override {
    HPU_ASSIGN_OR_RETURN(const auto recipe, NullCompiler().Compile(program));
    return recipe->Serialize();
  }

  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(const common::Modules modules, common::EmulatedModules());
    HPU_ASSIGN_OR_RETURN(const std::vector<int> candidates, common::CandidateModules(options, modules));
    HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Of(options));
    hal::DeviceInfo info;
    info.backend = "null";
    info.type = flags::DeviceType();
    info.description = "null device (computes nothing)";
    info.module_id = candidates.front();
    HPU_ASSIGN_OR_RETURN(info.memory_bytes, common::DeviceMemoryBytes(options));
    info.compiler_target = null::CompilerTarget();
    HPU_ASSIGN_OR_RETURN(auto reservation,
                         common::Reservation::Create(info.memory_bytes, common::Reservation::Data::kNone));
    return std::make_unique<NullDevice>(std::move(info), std::move(reservation), std::move(faults),
                                        std::make_unique<NullCompiler>(), /*values=*/nullptr);
  }
};

const bool registered =
    hal::RegisterBackend("null", 0, []() -> std::unique_ptr<hal::Backend> { return std::make_unique<NullBackend>(); });

}  // namespace
}  // namespace hpu::null

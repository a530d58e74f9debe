#include "plugin/hal/backend.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/recipe.h"
#include "plugin/backends/emulator/device/device.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

class EmulatorBackend final : public hal::Backend {
 public:
  absl::string_view name() const override { return "emulator"; }

  absl::StatusOr<int> ModuleCount() override { return common::ModuleCountSetting(); }

  absl::Status CheckOptions(const hal::AcquireOptions& options) override {
    return common::CheckEmulatedOptions(options);
  }

  absl::StatusOr<std::string> CompilerTarget() override { return emulator::CompilerTarget(); }

  absl::StatusOr<std::string> Compile(const hal::Program& program) override { return CompileToBytes(program); }

  absl::StatusOr<std::string> OptimizedProgram(const hal::Program& program) override {
    return emulator::OptimizedProgram(program);
  }

  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Of(options));
    std::optional<common::ModuleLock> lock;
    int module_id = options.module_id.value_or(0);
    if (!options.is_claimed) {
      HPU_ASSIGN_OR_RETURN(const common::Modules modules, common::EmulatedModules());
      HPU_ASSIGN_OR_RETURN(common::ModuleLock claimed, common::ModuleLock::Claim(options, modules));
      module_id = claimed.module_id();
      lock.emplace(std::move(claimed));
    }
    hal::DeviceInfo info;
    info.backend = "emulator";
    info.type = flags::DeviceType();
    info.module_id = module_id;
    info.description = absl::StrCat("emulated ", info.type, ", module ", info.module_id);
    HPU_ASSIGN_OR_RETURN(info.memory_bytes, common::DeviceMemoryBytes(options));
    info.compiler_target = emulator::CompilerTarget();
    HPU_ASSIGN_OR_RETURN(auto reservation,
                         common::Reservation::Create(info.memory_bytes, common::Reservation::Data::kReadWrite));
    return std::make_unique<EmulatorDevice>(std::move(info), std::move(lock), std::move(reservation),
                                            std::move(faults));
  }
};

// Lower priority than a real card, for HPU_BACKEND=auto.
const bool registered = hal::RegisterBackend(
    "emulator", 10, []() -> std::unique_ptr<hal::Backend> { return std::make_unique<EmulatorBackend>(); });

}  // namespace
}  // namespace hpu::emulator

#include "plugin/hal/backend.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/device.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/backends/pjrt/recipe.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

constexpr absl::string_view kScheme = "pjrt:";

// DeviceInfo::compiler_target: all that a compiled program depends on. One line.
std::string CompilerTargetOf(const Client& client) {
  const Plugin& plugin = client.plugin();
  std::string target = absl::StrCat("pjrt-1 ", client.platform_name(), " ", client.device_kind(), " api ",
                                    plugin.version(), " build ", plugin.build_id(), " ", client.platform_version());
  for (const auto& [name, value] : plugin.attributes()) absl::StrAppend(&target, " ", name, "=", value);
  return absl::StrReplaceAll(target, {{"\n", " "}});
}

absl::StatusOr<std::unique_ptr<Client>> CreateClient(const Plugin& plugin) {
  const common::ScopedSignalMask mask;  // for the client's threads
  auto options = ParseOptions(flags::PjrtOptions());
  if (!options.ok()) return absl::InvalidArgumentError(absl::StrCat("HPU_PJRT_OPTIONS: ", options.status().message()));
  return Client::Create(plugin, *options);
}

class PjrtBackend final : public hal::Backend {
 public:
  explicit PjrtBackend(absl::string_view spec) : spec_(spec) {}

  absl::string_view name() const override { return spec_; }

  absl::StatusOr<int> ModuleCount() override {
    HPU_RETURN_IF_ERROR(LoadPlugin().status());
    return common::ModuleCountSetting();
  }

  absl::StatusOr<std::string> CompilerTarget() override {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateCompiler());
    return CompilerTargetOf(*client);
  }

  absl::StatusOr<std::string> Compile(const hal::Program& program) override {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateCompiler());
    HPU_ASSIGN_OR_RETURN(const auto recipe, PjrtRecipe::Compile(*client, CompilerTargetOf(*client), program));
    return recipe->Serialize();
  }

  absl::StatusOr<std::string> OptimizedProgram(const hal::Program& program) override {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateCompiler());
    HPU_ASSIGN_OR_RETURN(const auto recipe, PjrtRecipe::Compile(*client, CompilerTargetOf(*client), program));
    return recipe->executable().OptimizedProgram();
  }

  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Of(options));
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    std::optional<common::ModuleLock> lock;
    int module_id = options.module_id.value_or(0);
    if (!options.is_claimed) {
      HPU_ASSIGN_OR_RETURN(common::ModuleLock claimed, common::ModuleLock::Claim(options));
      module_id = claimed.module_id();
      lock.emplace(std::move(claimed));
    }
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, CreateClient(*plugin));
    hal::DeviceInfo info;
    info.backend = spec_;
    info.type = flags::DeviceType();
    info.module_id = module_id;
    info.description = absl::StrCat(client->device_kind(), " by PJRT, module ", module_id);
    HPU_ASSIGN_OR_RETURN(info.memory_bytes, common::DeviceMemoryBytes(options));
    info.compiler_target = CompilerTargetOf(*client);
    HPU_ASSIGN_OR_RETURN(auto reservation,
                         common::Reservation::Create(info.memory_bytes, common::Reservation::Data::kNone));
    return std::make_unique<PjrtDevice>(std::move(info), std::move(lock), std::move(client), std::move(reservation),
                                        std::move(faults));
  }

 private:
  absl::StatusOr<const Plugin*> LoadPlugin() const {
    HPU_ASSIGN_OR_RETURN(const std::string file, PluginFile(absl::StripPrefix(spec_, kScheme)));
    return Plugin::Load(file);
  }

  // A client that only compiles. Unimplemented for accelerators, whose clients hold the device.
  absl::StatusOr<std::unique_ptr<Client>> CreateCompiler() const {
    HPU_ASSIGN_OR_RETURN(const Plugin* plugin, LoadPlugin());
    if (!IsForCpu(plugin->path())) {
      return absl::UnimplementedError(absl::StrCat("HPU_BACKEND=", spec_, " compiles only on an acquired device"));
    }
    return CreateClient(*plugin);
  }

  const std::string spec_;
};

const bool registered = hal::RegisterScheme("pjrt", [](absl::string_view spec) -> std::unique_ptr<hal::Backend> {
  return std::make_unique<PjrtBackend>(spec);
});

}  // namespace
}  // namespace hpu::pjrt

#include "plugin/backends/pjrt/client/topology.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/pjrt/client/hidden_xla_flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {

absl::StatusOr<std::unique_ptr<Topology>> Topology::Create(const Plugin& plugin, const std::string& platform,
                                                           const Options& options) {
  const std::vector<PJRT_NamedValue> values = NamedValues(options);
  Arguments<PJRT_TopologyDescription_Create_Args> create;
  create->topology_name = platform.data();
  create->topology_name_size = platform.size();
  create->create_options = values.data();
  create->num_options = values.size();
  return CreateWithoutXlaFlags(plugin, [&]() -> absl::StatusOr<std::unique_ptr<Topology>> {
    HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_TopologyDescription_Create, create));
    std::unique_ptr<Topology> topology(
        new Topology(plugin, TopologyHandle(create->topology, Deleter<PJRT_TopologyDescription>{&plugin})));
    HPU_RETURN_IF_ERROR(topology->Initialize());
    return topology;
  });
}

absl::Status Topology::Initialize() {
  Arguments<PJRT_TopologyDescription_PlatformVersion_Args> version;
  version->topology = topology_.get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_TopologyDescription_PlatformVersion, version));
  platform_version_.assign(version->platform_version, version->platform_version_size);
  Arguments<PJRT_TopologyDescription_GetDeviceDescriptions_Args> list;
  list->topology = topology_.get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_TopologyDescription_GetDeviceDescriptions, list));
  if (list->num_descriptions == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the target of the PJRT plugin ", plugin_.path(), " has no device; correct HPU_PJRT_TARGET"));
  }
  Arguments<PJRT_DeviceDescription_Kind_Args> kind;
  kind->device_description = list->descriptions[0];
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_DeviceDescription_Kind, kind));
  device_kind_.assign(kind->device_kind, kind->device_kind_size);
  return absl::OkStatus();
}

absl::Status Topology::TryOptions(absl::string_view options) const {
  return CompileFormat("mlir", kSmallProgram, options).status();
}

absl::StatusOr<ExecutableHandle> Topology::CompileFormat(absl::string_view format, absl::string_view code,
                                                         absl::string_view options) const {
  Arguments<PJRT_Program> program = ProgramArguments(format, code);
  Arguments<PJRT_Compile_Args> compile;
  compile->topology = topology_.get();
  compile->program = &program.args;
  compile->compile_options = options.data();
  compile->compile_options_size = options.size();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin_, PJRT_Compile, compile));
  return ExecutableHandle(compile->executable, Deleter<PJRT_Executable>{&plugin_});
}

absl::StatusOr<std::string> Topology::OptimizeText(absl::string_view stablehlo, absl::string_view options) const {
  HPU_ASSIGN_OR_RETURN(const ExecutableHandle executable, CompileFormat("mlir", stablehlo, options));
  return OptimizedProgram(plugin_, executable.get());
}

absl::StatusOr<CompiledProgram> Topology::Compile(absl::string_view hlo, absl::string_view options) const {
  HPU_ASSIGN_OR_RETURN(const ExecutableHandle executable, CompileFormat("hlo", hlo, options));
  CompiledProgram compiled;
  HPU_ASSIGN_OR_RETURN(compiled.bytes, Serialize(plugin_, executable.get()));
  compiled.temporary_bytes = TemporaryBytes(plugin_, executable.get());
  return compiled;
}

}  // namespace hpu::pjrt

// Topology: target of ahead-of-time compilation; the device need not be present.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_TOPOLOGY_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_TOPOLOGY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/client/handles.h"

namespace hpu::pjrt {

// A program that was compiled without access to the device.
struct CompiledProgram {
  std::string bytes;             // for Client::Load on the device
  uint64_t temporary_bytes = 0;  // device memory that a launch needs besides arguments and results
};

// Thread safe.
class Topology {
 public:
  // The plugin reads no flags from XLA_FLAGS; see HiddenXlaFlags. Fails with Unimplemented if the plugin compiles only
  // for the devices of a client.
  static absl::StatusOr<std::unique_ptr<Topology>> Create(const Plugin& plugin, const std::string& platform,
                                                          const Options& options);

  // May differ from a client's platform version on the device (see CompilerTargetOf in target_compiler.cc).
  const std::string& platform_version() const { return platform_version_; }
  const Plugin& plugin() const { return plugin_; }
  // The same as a client's on the device.
  const std::string& device_kind() const { return device_kind_; }

  // `hlo`: serialised xla::HloModuleProto. `options`: serialised xla::CompileOptionsProto. May take minutes.
  absl::StatusOr<CompiledProgram> Compile(absl::string_view hlo, absl::string_view options) const;

  // As Compile, for a program in StableHLO text form. Returns the program after the plugin's passes (OptimizedProgram).
  absl::StatusOr<std::string> OptimizeText(absl::string_view stablehlo, absl::string_view options) const;

  // Compiles a small program with `options`, to find out whether the plugin accepts them. Returns the plugin's error.
  absl::Status TryOptions(absl::string_view options) const;

 private:
  Topology(const Plugin& plugin, TopologyHandle topology) : plugin_(plugin), topology_(std::move(topology)) {}

  absl::Status Initialize();
  absl::StatusOr<ExecutableHandle> CompileFormat(absl::string_view format, absl::string_view code,
                                                 absl::string_view options) const;

  const Plugin& plugin_;
  const TopologyHandle topology_;
  std::string platform_version_;
  std::string device_kind_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_TOPOLOGY_H_

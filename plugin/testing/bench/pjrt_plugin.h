// The PJRT plugin that benchmarks measure: the plugin of HPU_BACKEND, else "cpu".
#ifndef HPU_PLUGIN_TESTING_BENCH_PJRT_PLUGIN_H_
#define HPU_PLUGIN_TESTING_BENCH_PJRT_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/base/flags/flags.h"
#include "plugin/hal/backend.h"

namespace hpu::pjrt {

inline constexpr absl::string_view kScheme = "pjrt:";

// "pjrt:<plugin>", for hal::GetBackend.
inline std::string PluginSpec() {
  const std::string chosen = flags::Backend();
  return absl::StartsWith(chosen, kScheme) ? chosen : "pjrt:cpu";
}

// A program that the plugin's own client has compiled. Errors end the process.
struct ClientProgram {
  explicit ClientProgram(const hal::Program& program)
      : plugin(**Plugin::Load(PluginFile(absl::StripPrefix(PluginSpec(), kScheme)).value())),
        client(Client::Create(plugin, {}).value()),
        executable(client->Compile(program.hlo, CompileOptions(plugin.path(), program.hlo).value()).value()) {}

  const Plugin& plugin;
  const std::unique_ptr<Client> client;
  const std::unique_ptr<Executable> executable;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_TESTING_BENCH_PJRT_PLUGIN_H_

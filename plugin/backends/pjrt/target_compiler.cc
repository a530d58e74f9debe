#include "plugin/backends/pjrt/target_compiler.h"

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "plugin/backends/common/host_cpu.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/backends/pjrt/custom_calls.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/backends/pjrt/plugin_fingerprint.h"
#include "plugin/backends/pjrt/recipe_payload.h"
#include "plugin/backends/pjrt/targets.h"
#include "plugin/backends/pjrt/xla_settings.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::pjrt {
namespace {

constexpr char kPlatform[] = "cuda";

// The value of `device_memory_size: …` in a description; 0 if the field is missing.
uint64_t MemoryBytes(absl::string_view description) {
  constexpr absl::string_view kField = "device_memory_size:";
  const size_t found = description.find(kField);
  if (found == absl::string_view::npos) return 0;
  absl::string_view rest = description.substr(found + kField.size());
  rest = rest.substr(0, rest.find('\n'));
  uint64_t bytes = 0;
  return absl::SimpleAtoi(rest, &bytes) ? bytes : 0;
}

}  // namespace

absl::StatusOr<Target> FindTarget(const std::string& name) {
  std::vector<absl::string_view> names;
  for (const KnownTarget& known : kTargets) {
    if (known.name == name) return Target{std::string(known.description), MemoryBytes(known.description)};
    names.push_back(known.name);
  }
  if (absl::StrContains(name, '/')) {
    std::ifstream file(name);
    std::stringstream text;
    text << file.rdbuf();
    if (file) return Target{text.str(), MemoryBytes(text.str())};
    return absl::InvalidArgumentError(
        absl::StrCat("HPU_PJRT_TARGET=", name, " cannot be read; correct the path or its permissions"));
  }
  return absl::InvalidArgumentError(absl::StrCat("HPU_PJRT_TARGET=", name, " is not a known card; expected ",
                                                 absl::StrJoin(names, ", "), ", or the path of a description"));
}

absl::StatusOr<std::unique_ptr<TargetCompiler>> TargetCompiler::Create(const Plugin& plugin, const Target& target) {
  HPU_ASSIGN_OR_RETURN(
      std::unique_ptr<Topology> topology,
      Topology::Create(plugin, kPlatform, {{"target_config", target.description}, {"topology", std::string("1x1x1")}}));
  HPU_RETURN_IF_ERROR(InitializeXlaSettings(
      plugin.path(), [&topology](absl::string_view options) { return topology->TryOptions(options); }));
  std::string compiler_target =
      CompilerTargetOf(plugin, kPlatform, topology->device_kind(), topology->platform_version());
  return std::unique_ptr<TargetCompiler>(new TargetCompiler(std::move(topology), std::move(compiler_target)));
}

absl::StatusOr<std::shared_ptr<const null::NullRecipe>> TargetCompiler::Compile(const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(ProgramTable table, ParseProgramTable(program.name, program.hlo));
  HPU_RETURN_IF_ERROR(CheckCustomCalls(program));
  HPU_ASSIGN_OR_RETURN(const std::string options,
                       CompileOptions(topology_->plugin().path(), program.hlo, compiler_target_));
  auto compiled = topology_->Compile(program.hlo, options);
  if (!compiled.ok()) {
    return Reworded(compiled.status(),
                    absl::StrCat("compilation of ", program.name, ": ", compiled.status().message()));
  }
  std::string serialized = SerializeRecipe(compiler_target_, {table, compiled->temporary_bytes, compiled->bytes});
  return std::make_shared<const null::NullRecipe>(program.name, std::move(table), compiled->temporary_bytes,
                                                  std::move(serialized));
}

absl::StatusOr<std::shared_ptr<const null::NullRecipe>> TargetCompiler::Load(absl::string_view name,
                                                                             absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeParts parts, ParseRecipe(compiler_target_, name, bytes));
  return std::make_shared<const null::NullRecipe>(std::string(name), std::move(parts.table), parts.temporary_bytes,
                                                  std::string(bytes));
}

std::string CompilerTargetOf(const Plugin& plugin, absl::string_view platform, absl::string_view device_kind,
                             absl::string_view platform_version) {
  std::string target = absl::StrCat("pjrt-1 ", platform, " ", device_kind, " api ", plugin.version(), " file ",
                                    PluginFingerprint(plugin.path()));
  if (IsForCpu(plugin.path())) {
    // The device kind of every CPU is "cpu".
    const common::HostCpu& cpu = common::GetHostCpu();
    absl::StrAppend(&target, " ", cpu.name, " ", cpu.features);
  }
  // For one card, the client reports "cuda 13000" as platform version, and the card's description reports the card's
  // name. The attribute cuda_version is the same in both.
  if (plugin.attributes().count("cuda_version") == 0) absl::StrAppend(&target, " ", platform_version);
  for (const auto& [name, value] : plugin.attributes()) absl::StrAppend(&target, " ", name, "=", value);
  absl::StrAppend(&target, CompilerSettings(plugin.path()));
  return absl::StrReplaceAll(target, {{"\n", " "}});
}

}  // namespace hpu::pjrt

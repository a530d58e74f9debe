// Tests of CompileOptions: determinism, defaults of CPU plugins, compiler target.
#include "plugin/backends/pjrt/compile_options.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plugin/backends/pjrt/xla_settings.h"
#include "plugin/program/determinism.h"
#include "plugin/testing/cts/fixture.h"
#include "xla/pjrt/proto/compile_options.pb.h"

namespace hpu::pjrt {
namespace compile_options_test {

using cts::ScopedVariable;

// The XLA settings for a program, by name.
std::map<std::string, std::string> SettingsFor(const xla::HloModuleProto& program,
                                               const std::string& file = "plugin.so") {
  xla::CompileOptionsProto options;
  EXPECT_TRUE(options.ParseFromString(CompileOptions(file, program.SerializeAsString()).value()));
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : options.env_option_overrides()) {
    settings[name] = value.has_bool_field() ? (value.bool_field() ? "true" : "false") : value.string_field();
  }
  return settings;
}

TEST(CompileOptionsTest, ADeterministicProgramGetsDeterministicCode) {
  xla::HloModuleProto program;
  EXPECT_TRUE(SettingsFor(program).empty());
  RequireDeterminism(&program);
  EXPECT_EQ("true", SettingsFor(program)["xla_gpu_deterministic_ops"]);
}

TEST(CompileOptionsTest, CpuPluginsHaveDefaultsThatFlagsOverride) {
  const std::string file = "packages/pjrt_c_api_cpu_plugin.so";
  const std::map<std::string, std::string> defaults = {{"xla_cpu_prefer_vector_width", "128"},
                                                       {"xla_cpu_enable_fast_min_max", "false"},
                                                       {"xla_cpu_use_xnnpack", "false"}};
  EXPECT_EQ(defaults, SettingsFor({}, file));
  const ScopedVariable flags("HPU_PJRT_XLA_FLAGS", "--xla_cpu_prefer_vector_width=256");
  const ScopedVariable xla_flags("XLA_FLAGS", "--xla_cpu_enable_fast_min_max");
  EXPECT_EQ("256", SettingsFor({}, file)["xla_cpu_prefer_vector_width"]);
  EXPECT_EQ("true", SettingsFor({}, file)["xla_cpu_enable_fast_min_max"]);
}

TEST(CompileOptionsTest, SettingsArePartOfTheCompilerTarget) {
  const auto accept = [](absl::string_view) { return absl::OkStatus(); };
  ASSERT_OK(InitializeXlaSettings("target/cpu.so", accept));
  const std::string defaults = CompilerSettings("target/cpu.so");
  EXPECT_EQ(
      " settings --xla_cpu_enable_fast_min_max=false --xla_cpu_prefer_vector_width=128"
      " --xla_cpu_use_xnnpack=false"
      " deterministic --xla_gpu_deterministic_ops=true --xla_gpu_enable_triton_gemm=false",
      defaults);
  {
    const ScopedVariable flags("HPU_PJRT_XLA_FLAGS", "--xla_gpu_autotune_level=0");
    ASSERT_OK(InitializeXlaSettings("target/plugin.so", accept));
    EXPECT_EQ("0", SettingsFor({}, "target/plugin.so")["xla_gpu_autotune_level"]);
  }
  // Later changes of the variable have no effect, because the target would not change.
  EXPECT_NE(std::string::npos,
            CompilerSettings("target/plugin.so").find(" settings --xla_gpu_autotune_level=0 deterministic"));
  EXPECT_EQ("0", SettingsFor({}, "target/plugin.so")["xla_gpu_autotune_level"]);
  ASSERT_OK(InitializeXlaSettings("target/cpu.so", accept));
  EXPECT_EQ(defaults, CompilerSettings("target/cpu.so"));
  const ScopedVariable winograd("TF_ENABLE_WINOGRAD_NONFUSED", "0");
  EXPECT_EQ(defaults + " TF_ENABLE_WINOGRAD_NONFUSED=0", CompilerSettings("target/cpu.so"));
}

// A process of a job compiles programs that the others do not compile, so it must not wait for their measurements.
TEST(CompileOptionsTest, ProcessesOfAJobDoNotTuneTogether) {
  const ScopedVariable collectives("HPU_PJRT_COLLECTIVES", "device");
  const auto accept = [](absl::string_view) { return absl::OkStatus(); };
  const std::string file = "job/xla_cuda_plugin.so";
  ASSERT_OK(InitializeXlaSettings(file, accept));
  EXPECT_EQ("false", SettingsFor({}, file)["xla_gpu_shard_autotuning"]);
  EXPECT_EQ(std::string::npos, CompilerSettings(file).find("shard_autotuning"));  // the code is the same
  const auto refuse = [](absl::string_view options) -> absl::Status {
    if (options.find("xla_gpu_shard_autotuning") == absl::string_view::npos) return absl::OkStatus();
    return absl::InvalidArgumentError("No such compile option: 'xla_gpu_shard_autotuning'");
  };
  ASSERT_OK(InitializeXlaSettings("old/xla_cuda_plugin.so", refuse));
  EXPECT_EQ(0, SettingsFor({}, "old/xla_cuda_plugin.so").count("xla_gpu_shard_autotuning"));
}

}  // namespace compile_options_test
}  // namespace hpu::pjrt

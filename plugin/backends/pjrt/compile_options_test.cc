// Tests of CompileOptions: XLA flags, determinism, vector width, compiler target.
#include "plugin/backends/pjrt/compile_options.h"

#include <gtest/gtest.h>

#include "plugin/program/determinism.h"
#include "plugin/testing/cts/fixture.h"
#include "xla/pjrt/compile_options.pb.h"

namespace hpu::pjrt {
namespace compile_options_test {

using cts::ExpectError;
using cts::ScopedVariable;

// The XLA settings for a program, by name.
std::map<std::string, std::string> SettingsFor(const xla::HloModuleProto& program) {
  xla::CompileOptionsProto options;
  EXPECT_TRUE(options.ParseFromString(CompileOptions("plugin.so", program.SerializeAsString()).value()));
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : options.env_option_overrides()) {
    settings[name] = value.has_bool_field() ? (value.bool_field() ? "true" : "false") : value.string_field();
  }
  return settings;
}

TEST(CompileOptionsTest, XlaFlagsAreParsedLikeXlas) {
  const auto settings = ParseXlaFlags(" --xla_a=1  --xla_b\t--xla_c=x=y ");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ((std::map<std::string, std::string>{{"xla_a", "1"}, {"xla_b", "true"}, {"xla_c", "x=y"}}), *settings);
  ExpectError(ParseXlaFlags("xla_a=1").status(), absl::StatusCode::kInvalidArgument, "--name=value");
}

TEST(CompileOptionsTest, ADeterministicProgramGetsDeterministicCode) {
  xla::HloModuleProto program;
  EXPECT_TRUE(SettingsFor(program).empty());
  RequireDeterminism(&program);
  EXPECT_EQ("true", SettingsFor(program)["xla_gpu_deterministic_ops"]);
}

TEST(CompileOptionsTest, CpuPluginsDoNotUseWideVectorsUnlessAsked) {
  const std::string file = "packages/pjrt_c_api_cpu_plugin.so";
  const auto width = [&] {
    xla::CompileOptionsProto options;
    EXPECT_TRUE(options.ParseFromString(CompileOptions(file, "").value()));
    return options.env_option_overrides().at("xla_cpu_prefer_vector_width").string_field();
  };
  EXPECT_EQ("128", width());
  const ScopedVariable flags("HPU_PJRT_XLA_FLAGS", "--xla_cpu_prefer_vector_width=256");
  EXPECT_EQ("256", width());
}

TEST(CompileOptionsTest, SettingsArePartOfTheCompilerTarget) {
  EXPECT_EQ("", CompilerSettings());
  const ScopedVariable flags("HPU_PJRT_XLA_FLAGS", "--xla_gpu_autotune_level=0");
  EXPECT_EQ(" flags --xla_gpu_autotune_level=0", CompilerSettings());
  EXPECT_EQ("0", SettingsFor({})["xla_gpu_autotune_level"]);
}

}  // namespace compile_options_test
}  // namespace hpu::pjrt

// Tests of XlaSettings: syntax, precedence, and settings that plugins do not accept.
#include "plugin/backends/pjrt/xla_settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace xla_settings_test {

using cts::ExpectError;
using cts::ScopedVariable;
using Source = XlaSetting::Source;

constexpr char kOwn[] = "HPU_PJRT_XLA_FLAGS";

XlaSettings Parse(absl::string_view text) { return cts::Value(ParseXlaFlags(kOwn, text, Source::kOwnFlags)); }

TEST(XlaSettingsTest, FlagsAreParsedLikeXlas) {
  const XlaSettings settings = Parse(" --xla_a=1  --xla_b\t--xla_c=x=y --xla_d=\"a \\\"b\" --xla_e='c  d' --xla_f=\n");
  EXPECT_EQ((XlaSettings{{"xla_a", {"1", Source::kOwnFlags, false}},
                         {"xla_b", {"true", Source::kOwnFlags, true}},
                         {"xla_c", {"x=y", Source::kOwnFlags, false}},
                         {"xla_d", {"a \"b", Source::kOwnFlags, false}},
                         {"xla_e", {"c  d", Source::kOwnFlags, false}},
                         {"xla_f", {"", Source::kOwnFlags, false}}}),
            settings);
  ExpectError(ParseXlaFlags(kOwn, "xla_a=1", Source::kOwnFlags).status(), absl::StatusCode::kInvalidArgument,
              "HPU_PJRT_XLA_FLAGS: expected --name or --name=value, got \"xla_a=1\"");
}

TEST(XlaSettingsTest, OwnFlagsOverrideXlaFlags) {
  const ScopedVariable own(kOwn, "--xla_a=own");
  const ScopedVariable others("XLA_FLAGS", "--xla_a=other --xla_b=other");
  const XlaSettings settings = cts::Value(ReadXlaSettings("plugin.so"));
  EXPECT_EQ("own", settings.at("xla_a").value);
  EXPECT_EQ("other", settings.at("xla_b").value);
}

TEST(XlaSettingsTest, XlaFlagsMayNameAFile) {
  const std::string path = testing::TempDir() + "/xla_flags_of_test";
  std::ofstream(path) << "--xla_a=1\n--xla_b\n";
  const ScopedVariable flags("XLA_FLAGS", path);
  const XlaSettings settings = cts::Value(ReadXlaSettings("plugin.so"));
  EXPECT_EQ(2, settings.size());
  EXPECT_TRUE(settings.at("xla_b").is_bool);
}

using XlaSettingsOfPlugin = ClientFixture;

TEST_F(XlaSettingsOfPlugin, UnknownXlaFlagsAreDroppedWithOneWarningEach) {
  const ScopedVariable others("XLA_FLAGS", "--no_such_flag_a=1 --xla_backend_optimization_level=1 --no_such_flag_b");
  const auto check = [this] {
    XlaSettings settings = cts::Value(ReadXlaSettings("plugin.so"));
    EXPECT_OK(CheckXlaSettings(
        "plugin.so", [this](absl::string_view options) { return client_->TryOptions(options); }, &settings));
    return settings;
  };
  testing::internal::CaptureStderr();
  const XlaSettings settings = check();
  EXPECT_EQ(settings, check());
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ((XlaSettings{{"xla_backend_optimization_level", {"1", Source::kXlaFlags, false}}}), settings);
  for (const std::string name : {"--no_such_flag_a ", "--no_such_flag_b "}) {
    const size_t first = text.find(name);
    EXPECT_NE(std::string::npos, first) << text;
    EXPECT_EQ(std::string::npos, text.find(name, first + 1)) << text;
  }
}

TEST_F(XlaSettingsOfPlugin, UnknownOwnFlagsAndWrongValuesAreErrors) {
  for (const auto& [flags, part] :
       {std::pair("--no_such_flag=1", "does not accept --no_such_flag: "),
        std::pair("--xla_gpu_autotune_level=high", "'high' is not a valid int32 value; remove the flag, or correct")}) {
    XlaSettings settings = Parse(flags);
    ExpectError(CheckXlaSettings(
                    "plugin.so", [this](absl::string_view options) { return client_->TryOptions(options); }, &settings),
                absl::StatusCode::kInvalidArgument, part);
  }
}

TEST_F(XlaSettingsOfPlugin, TypesAreCorrected) {
  XlaSettings settings = Parse("--xla_cpu_enable_fast_math=1 --xla_dump_hlo_pass_re=true --xla_gpu_autotune_level=0");
  ASSERT_OK(CheckXlaSettings(
      "plugin.so", [this](absl::string_view options) { return client_->TryOptions(options); }, &settings));
  EXPECT_TRUE(settings.at("xla_cpu_enable_fast_math").is_bool);
  EXPECT_FALSE(settings.at("xla_dump_hlo_pass_re").is_bool);
  EXPECT_FALSE(settings.at("xla_gpu_autotune_level").is_bool);
}

TEST(XlaSettingsTest, DefaultsThatThePluginLacksAreDropped) {
  XlaSettings settings = {{"xla_default", {"1"}}, {"xla_own", {"1", Source::kOwnFlags}}};
  int calls = 0;
  ASSERT_OK(CheckXlaSettings(
      "plugin.so",
      [&calls](absl::string_view) {
        if (++calls == 1) return absl::InvalidArgumentError("No such compile option: 'xla_default'");
        return absl::InternalError("the program is not supported");  // not an error of the options
      },
      &settings));
  EXPECT_EQ(2, calls);
  EXPECT_EQ(1, settings.count("xla_own"));
  EXPECT_EQ(0, settings.count("xla_default"));
}

}  // namespace xla_settings_test
}  // namespace hpu::pjrt

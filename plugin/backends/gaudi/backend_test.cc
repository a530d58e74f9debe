#include "plugin/hal/backend.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"

namespace hpu::gaudi {
namespace {

// A spec's library is loaded at the first use, so GetBackend succeeds without the library, and calls fail.
TEST(GaudiBackendTest, MissingLibrariesFailEveryCall) {
  const auto backend = hal::GetBackend("gaudi:/nowhere/libSynapse.so");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->name(), "gaudi:/nowhere/libSynapse.so");
  for (const absl::Status& status : {(*backend)->ModuleCount().status(), (*backend)->Acquire({}).status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "cannot load SynapseAI from /nowhere/libSynapse.so")) << status;
  }
}

TEST(GaudiBackendTest, PlainNameIsRegistered) {
  const auto backend = hal::GetBackend("gaudi");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->name(), "gaudi");
  EXPECT_TRUE(absl::IsUnimplemented((*backend)->Compile({"step", ""}).status()));
}

}  // namespace
}  // namespace hpu::gaudi

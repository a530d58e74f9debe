#include "plugin/backends/gaudi/guids/usable_guid.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace hpu::gaudi {
namespace {

using synapse::Generation;

// Sets HPU_GAUDI_UNPROVEN while it lives.
class AllowUnproven {
 public:
  AllowUnproven() { setenv("HPU_GAUDI_UNPROVEN", "1", 1); }
  ~AllowUnproven() { unsetenv("HPU_GAUDI_UNPROVEN"); }
};

TEST(UsableGuidTest, ProvenGuidsAreUsable) {
  const auto match = UsableGuid("add_fwd_f32", Generation::kGaudi);
  ASSERT_TRUE(match.ok()) << match.status();
  EXPECT_EQ(match->guid->stem, "add_fwd");
  EXPECT_TRUE(UsableGuid("gemm", Generation::kGaudi3).ok());
}

TEST(UsableGuidTest, UnprovenGuidsNeedTheSetting) {
  for (const char* name : {"one_hot_fwd_f32", "embedding", "cosh_fwd_f32", "unsorted_scatter_add_fwd_f32"}) {
    const absl::Status status = UsableGuid(name, Generation::kGaudi2).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), name)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "HPU_GAUDI_UNPROVEN=1")) << status;
    const AllowUnproven allow;
    EXPECT_TRUE(UsableGuid(name, Generation::kGaudi2).ok()) << name;
  }
}

TEST(UsableGuidTest, InternalGuidsAreNeverUsable) {
  const AllowUnproven allow;
  const absl::Status status = UsableGuid("tensor_view", Generation::kGaudi2).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "internal")) << status;
}

TEST(UsableGuidTest, UnknownGuidsAreNotFound) {
  EXPECT_TRUE(absl::IsNotFound(UsableGuid("frobnicate_f32", Generation::kGaudi2).status()));
  EXPECT_TRUE(absl::IsNotFound(UsableGuid("add_fwd_f64", Generation::kGaudi2).status()));
}

TEST(UsableGuidTest, TypesOfOtherGenerationsAreUnimplemented) {
  for (const char* name : {"add_fwd_f16", "cast_f16_to_f32", "cast_f32_to_f16", "mult_fwd_i64"}) {
    const absl::Status status = UsableGuid(name, Generation::kGaudi).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "gaudi does not compute")) << status;
    EXPECT_TRUE(UsableGuid(name, Generation::kGaudi2).ok()) << name;
  }
}

}  // namespace
}  // namespace hpu::gaudi

#include "plugin/backends/pjrt/recipe_payload.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "plugin/program/recipe_container.h"

namespace hpu::pjrt {
namespace recipe_payload_test {

RecipeParts SomeParts() {
  RecipeParts parts;
  parts.table.arguments = {{hal::DataType::kFloat32, {2, 3}, 24}};
  parts.table.results = {{{hal::DataType::kFloat32, {6}, 24}, 0}};
  parts.temporary_bytes = 4096;
  parts.code = "executable";
  return parts;
}

TEST(PjrtRecipePayloadTest, RoundTrips) {
  const std::string bytes = SerializeRecipe("card", SomeParts());
  const absl::StatusOr<RecipeParts> got = ParseRecipe("card", "step", bytes);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->table.arguments[0].bytes, 24);
  EXPECT_EQ(got->table.results[0].aliased_argument, 0);
  EXPECT_EQ(got->temporary_bytes, 4096);
  EXPECT_EQ(got->code, "executable");
  EXPECT_EQ(got->code.data(), bytes.data() + bytes.size() - got->code.size());  // not copied
}

TEST(PjrtRecipePayloadTest, ContainersThatDoNotFitThePayloadAreRefused) {
  const std::string bytes = SerializeRecipe("card", SomeParts());
  for (const int binaries : {0, 2}) {
    RecipeContainer container = RecipeContainer::Parse("step", bytes, "pjrt", "card").value();
    container.binaries.resize(binaries);
    const absl::Status status = ParseRecipe("card", "step", container.Serialize()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(status.message(), "expected 1")) << status;
  }
  RecipeContainer container = RecipeContainer::Parse("step", bytes, "pjrt", "card").value();
  container.payload = "\xff\xff";
  const absl::Status status = ParseRecipe("card", "step", container.Serialize()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "payload")) << status;
}

}  // namespace recipe_payload_test
}  // namespace hpu::pjrt

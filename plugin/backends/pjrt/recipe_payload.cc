#include "plugin/backends/pjrt/recipe_payload.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "hpu/recipe/v1/pjrt.pb.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/recipe_container.h"

namespace hpu::pjrt {
namespace {

constexpr absl::string_view kKind = "pjrt";

}  // namespace

std::string SerializeRecipe(absl::string_view target, const RecipeParts& parts) {
  recipe::v1::PjrtPayload payload;
  payload.set_temporary_bytes(parts.temporary_bytes);
  RecipeContainer container;
  container.kind = std::string(kKind);
  container.target = std::string(target);
  container.table = parts.table;
  container.payload = payload.SerializeAsString();
  container.binaries = {parts.code};
  return container.Serialize();
}

absl::StatusOr<RecipeParts> ParseRecipe(absl::string_view target, absl::string_view name, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeContainer container, RecipeContainer::Parse(name, bytes, kKind, target));
  recipe::v1::PjrtPayload payload;
  if (!payload.ParseFromString(container.payload)) {
    return UnusableRecipe(name, absl::StrCat("invalid payload of ", container.payload.size(), " bytes"));
  }
  if (container.binaries.size() != 1) {
    return UnusableRecipe(name, absl::StrCat("the recipe has ", container.binaries.size(), " binaries, expected 1"));
  }
  return RecipeParts{std::move(container.table), payload.temporary_bytes(), container.binaries[0]};
}

}  // namespace hpu::pjrt

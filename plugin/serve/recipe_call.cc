#include "plugin/serve/recipe_call.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/hal/status_macros.h"
#include "plugin/serve/program_check.h"

namespace hpu::serve {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
constexpr uint64_t kMostUnsent = uint64_t{8} << 20;
constexpr uint64_t kMostRecipeBytes = uint64_t{1} << 30;
constexpr size_t kMostNameBytes = 4096;
constexpr int32_t kChunkTimeoutMs = 30'000;

absl::StatusOr<std::string> ReadChunks(ServerCall* call, uint64_t bytes) {
  std::string whole;  // grows as chunks arrive: an announcement alone allocates nothing
  proto::MakeRecipeRequest request;
  while (whole.size() < bytes) {
    HPU_ASSIGN_OR_RETURN(const bool more, call->Read(&request, kChunkTimeoutMs));
    if (!more) return absl::InvalidArgumentError("the program ends before its announced size");
    if (request.has_header() || request.chunk().empty() || request.chunk().size() > bytes - whole.size()) {
      return absl::InvalidArgumentError("a chunk of the program is empty or goes beyond its announced size");
    }
    whole.append(request.chunk());
  }
  return whole;
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> MakeRecipe(hal::Device& device, const RecipeSeal& seal,
                                                              const proto::MakeRecipeHeader& header,
                                                              std::string bytes) {
  switch (header.source()) {
    case proto::MakeRecipeHeader::SOURCE_PROGRAM: {
      const hal::Program program = {header.name(), std::move(bytes)};
      HPU_RETURN_IF_ERROR(CheckProgram(program));
      return device.Compile(program);
    }
    case proto::MakeRecipeHeader::SOURCE_RECIPE: {
      HPU_ASSIGN_OR_RETURN(const absl::string_view recipe, seal.Open(bytes));
      return device.LoadRecipe(header.name(), recipe);
    }
    default:
      return absl::InvalidArgumentError(absl::StrCat("a recipe is made of no source ", header.source()));
  }
}

// A part of the budget that `option` of hpu serve sets.
absl::StatusOr<ByteBudget::Share> Take(ByteBudget& budget, uint64_t bytes, const char* what, const char* option) {
  ByteBudget::Share share = budget.Take(bytes);
  if (share != nullptr) return share;
  return absl::ResourceExhaustedError(absl::StrCat(what, " of ", bytes,
                                                   " bytes is too much for the session, which has ", budget.taken(),
                                                   " of at most ", budget.most(), " (hpu serve ", option, ")"));
}

absl::StatusOr<ByteBudget::Share> TakeInFlight(Session* session, uint64_t bytes) {
  return Take(session->in_flight(), bytes, "a program or recipe on its way", "--max-in-flight-mb");
}

absl::StatusOr<ByteBudget::Share> TakeRecipeBytes(Session* session, uint64_t bytes) {
  return Take(session->recipe_bytes(), bytes, "a recipe", "--max-recipe-mb");
}

// The recipe, with which its part of the budget goes.
std::shared_ptr<const hal::Recipe> WithShare(std::shared_ptr<const hal::Recipe> recipe, ByteBudget::Share share) {
  const hal::Recipe* const address = recipe.get();
  auto both = std::make_shared<std::pair<std::shared_ptr<const hal::Recipe>, ByteBudget::Share>>(std::move(recipe),
                                                                                                 std::move(share));
  return std::shared_ptr<const hal::Recipe>(std::move(both), address);
}

void Describe(const hal::TensorSpec& spec, int32_t alias, proto::Tensor* tensor) {
  tensor->set_dtype(static_cast<uint32_t>(spec.dtype));
  for (const int64_t dim : spec.dims) tensor->add_dims(dim);
  tensor->set_aliased_argument(alias);
}

void Answer(ServerCall* call, const hal::Recipe& recipe, const std::string& bytes) {
  proto::MakeRecipeResponse response;
  proto::RecipeTable& table = *response.mutable_table();
  for (const hal::TensorSpec& spec : recipe.arguments()) Describe(spec, -1, table.add_arguments());
  for (const hal::ResultSpec& result : recipe.results()) {
    Describe(result.spec, result.aliased_argument, table.add_results());
  }
  table.set_workspace_bytes(recipe.workspace_bytes());
  table.set_bytes(bytes.size());
  call->Write(response);
  response.clear_table();
  for (uint64_t at = 0; at < bytes.size(); at += kChunkBytes) {
    response.set_chunk(bytes.substr(at, kChunkBytes));
    call->Write(response);
    if (!call->WaitWritable(kMostUnsent)) return;
  }
}

}  // namespace

absl::Status ServeMakeRecipe(ServerCall* call, Session* session, const RecipeSeal& seal,
                             const proto::MakeRecipeHeader& header) {
  if (header.name().size() > kMostNameBytes) return absl::InvalidArgumentError("the recipe's name is too long");
  if (header.bytes() > kMostRecipeBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("program or recipe of ", header.bytes(), " bytes; at most ", kMostRecipeBytes));
  }
  const bool load = header.source() == proto::MakeRecipeHeader::SOURCE_RECIPE;
  ByteBudget::Share kept;
  if (load) {
    HPU_ASSIGN_OR_RETURN(kept, TakeRecipeBytes(session, header.bytes()));
  }
  HPU_ASSIGN_OR_RETURN(const ByteBudget::Share arriving, TakeInFlight(session, header.bytes()));
  HPU_ASSIGN_OR_RETURN(std::string bytes, ReadChunks(call, header.bytes()));
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<const hal::Recipe> recipe,
                       MakeRecipe(session->device(), seal, header, std::move(bytes)));
  ByteBudget::Share leaving;
  std::string serialized;
  if (!load) {
    HPU_ASSIGN_OR_RETURN(kept, TakeRecipeBytes(session, recipe->serialized_bytes()));
    HPU_ASSIGN_OR_RETURN(leaving, TakeInFlight(session, recipe->serialized_bytes() + RecipeSeal::kMacBytes));
    HPU_ASSIGN_OR_RETURN(serialized, recipe->Serialize());
    serialized = seal.Seal(std::move(serialized));
  }
  recipe = WithShare(std::move(recipe), std::move(kept));
  HPU_RETURN_IF_ERROR(session->recipes().Put(header.recipe(), recipe));
  Answer(call, *recipe, serialized);
  return absl::OkStatus();
}

}  // namespace hpu::serve

#include "plugin/server/service/recipe_call.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/recipe_container.h"
#include "plugin/rpc/limits.h"
#include "plugin/server/compile_workers/program_check.h"

namespace hpu::serve {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxRecipeBytes = uint64_t{1} << 30;
constexpr size_t kMaxNameBytes = 4096;
constexpr int32_t kChunkTimeoutMs = 30'000;

absl::StatusOr<std::string> ReadChunks(ServerCall* call, uint64_t bytes) {
  std::string whole;  // grows as chunks arrive, so an announced size alone allocates nothing
  proto::MakeRecipeRequest request;
  while (whole.size() < bytes) {
    HPU_ASSIGN_OR_RETURN(const bool more, call->Read(&request, kChunkTimeoutMs));
    if (!more) {
      return absl::InvalidArgumentError(
          absl::StrCat("incomplete program or recipe: expected ", bytes, " bytes, got ", whole.size()));
    }
    if (request.has_header() || request.chunk().empty() || request.chunk().size() > bytes - whole.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid chunk of a program or recipe: expected 1 to ", bytes - whole.size(), " bytes and no header, got ",
          request.chunk().size(), " bytes", request.has_header() ? " and a header" : ""));
    }
    whole.append(request.chunk());
  }
  return whole;
}

// Counts this compilation and returns the fault to inject.
absl::StatusOr<ProgramCompiler::Fault> CountFaults(common::Faults& faults) {
  HPU_RETURN_IF_ERROR(faults.Count(common::Faults::kCompile));
  if (!faults.Count(common::Faults::kCompilerCrash).ok()) return ProgramCompiler::Fault::kCrash;
  if (!faults.Count(common::Faults::kCompilerHang).ok()) return ProgramCompiler::Fault::kHang;
  return ProgramCompiler::Fault::kNone;
}

absl::StatusOr<std::string> Compile(ServerCall* call, Session* session, ProgramCompiler* compiler,
                                    hal::Program program) {
  HPU_RETURN_IF_ERROR(ScreenProgram(&program));
  HPU_ASSIGN_OR_RETURN(const ProgramCompiler::Fault fault, CountFaults(session->faults()));
  const auto check_cancelled = [call] {
    return call->IsOpen() ? absl::OkStatus() : absl::CancelledError("the client disconnected");
  };
  return compiler->Compile(std::move(program), fault, check_cancelled);
}

// Reserves `bytes` of a budget. `option`: the option of hpu serve that sets the budget.
absl::StatusOr<ByteBudget::Share> Reserve(ByteBudget& budget, uint64_t bytes, const char* what, const char* option) {
  ByteBudget::Share share = budget.Reserve(bytes);
  if (share != nullptr) return share;
  return absl::ResourceExhaustedError(absl::StrCat(what, " of ", bytes,
                                                   " bytes exceeds the session's limit: ", budget.reserved(), " of ",
                                                   budget.max(), " bytes are in use; raise hpu serve ", option));
}

absl::StatusOr<ByteBudget::Share> ReserveInFlight(Session* session, uint64_t bytes) {
  return Reserve(session->in_flight(), bytes, "a program or recipe in transfer", "--max-in-flight-mb");
}

absl::StatusOr<ByteBudget::Share> ReserveRecipeBytes(Session* session, uint64_t bytes) {
  return Reserve(session->recipe_bytes(), bytes, "a recipe", "--max-recipe-mb");
}

// Wraps a recipe, so that its destruction releases `share`.
std::shared_ptr<const hal::Recipe> WithShare(std::shared_ptr<const hal::Recipe> recipe, ByteBudget::Share share) {
  const hal::Recipe* const address = recipe.get();
  auto both = std::make_shared<std::pair<std::shared_ptr<const hal::Recipe>, ByteBudget::Share>>(std::move(recipe),
                                                                                                 std::move(share));
  return std::shared_ptr<const hal::Recipe>(std::move(both), address);
}

void DescribeRecipeCall(const hal::TensorSpec& spec, int32_t alias, proto::Tensor* tensor) {
  tensor->set_dtype(static_cast<uint32_t>(spec.dtype));
  for (const int64_t dim : spec.dims) tensor->add_dims(dim);
  tensor->set_aliased_argument(alias);
}

void Answer(ServerCall* call, const hal::Recipe& recipe, const std::string& bytes) {
  proto::MakeRecipeResponse response;
  proto::RecipeTable& table = *response.mutable_table();
  for (const hal::TensorSpec& spec : recipe.arguments()) DescribeRecipeCall(spec, -1, table.add_arguments());
  for (const hal::ResultSpec& result : recipe.results()) {
    DescribeRecipeCall(result.spec, result.aliased_argument, table.add_results());
  }
  table.set_workspace_bytes(recipe.workspace_bytes());
  table.set_bytes(bytes.size());
  call->Write(response);
  response.clear_table();
  for (uint64_t at = 0; at < bytes.size(); at += kChunkBytes) {
    response.set_chunk(bytes.substr(at, kChunkBytes));
    call->Write(response);
    if (!call->WaitWritable(rpc::kMaxUnsentBytes)) return;
  }
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> Load(Session* session, const proto::MakeRecipeHeader& header,
                                                        absl::string_view bytes, ByteBudget::Share share) {
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<const hal::Recipe> recipe, session->device().LoadRecipe(header.name(), bytes));
  recipe = WithShare(std::move(recipe), std::move(share));
  HPU_RETURN_IF_ERROR(session->recipes().Put(header.recipe(), recipe));
  return recipe;
}

absl::Status ServeProgram(ServerCall* call, Session* session, Front* front, ProgramCompiler* compiler,
                          const proto::MakeRecipeHeader& header) {
  HPU_ASSIGN_OR_RETURN(const ByteBudget::Share arriving, ReserveInFlight(session, header.bytes()));
  HPU_ASSIGN_OR_RETURN(std::string program, ReadChunks(call, header.bytes()));
  HPU_ASSIGN_OR_RETURN(std::string bytes, Compile(call, session, compiler, {header.name(), std::move(program)}));
  HPU_ASSIGN_OR_RETURN(ByteBudget::Share kept, ReserveRecipeBytes(session, bytes.size()));
  HPU_ASSIGN_OR_RETURN(const ByteBudget::Share leaving, ReserveInFlight(session, bytes.size()));
  HPU_ASSIGN_OR_RETURN(const auto recipe, Load(session, header, bytes, std::move(kept)));
  HPU_ASSIGN_OR_RETURN(const SealedDigest unsealed, ReadSealedDigest(header.name(), bytes));
  HPU_ASSIGN_OR_RETURN(const std::string seal, front->Seal(unsealed.digest));
  SetSeal(&bytes, seal);
  Answer(call, *recipe, bytes);
  return absl::OkStatus();
}

absl::Status ServeRecipe(ServerCall* call, Session* session, Front* front, const proto::MakeRecipeHeader& header) {
  HPU_ASSIGN_OR_RETURN(ByteBudget::Share kept, ReserveRecipeBytes(session, header.bytes()));
  HPU_ASSIGN_OR_RETURN(const ByteBudget::Share arriving, ReserveInFlight(session, header.bytes()));
  HPU_ASSIGN_OR_RETURN(std::string bytes, ReadChunks(call, header.bytes()));
  // The seal covers the digest, and LoadRecipe verifies that the digest belongs to the bytes.
  HPU_ASSIGN_OR_RETURN(const SealedDigest sealed, ReadSealedDigest(header.name(), bytes));
  HPU_RETURN_IF_ERROR(front->CheckSeal(sealed.digest, sealed.seal));
  SetSeal(&bytes, "");
  HPU_ASSIGN_OR_RETURN(const auto recipe, Load(session, header, bytes, std::move(kept)));
  Answer(call, *recipe, /*bytes=*/"");
  return absl::OkStatus();
}

}  // namespace

absl::Status ServeMakeRecipe(ServerCall* call, Session* session, Front* front, ProgramCompiler* compiler,
                             const proto::MakeRecipeHeader& header) {
  if (header.name().size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the recipe's name has ", header.name().size(), " bytes; the maximum is ", kMaxNameBytes));
  }
  if (header.bytes() > kMaxRecipeBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the program or recipe '", header.name(), "' has ", header.bytes(),
                                                   " bytes; the maximum is ", kMaxRecipeBytes,
                                                   "; lower HPU_MAX_CLUSTER_SIZE"));
  }
  switch (header.source()) {
    case proto::MakeRecipeHeader::SOURCE_PROGRAM:
      return ServeProgram(call, session, front, compiler, header);
    case proto::MakeRecipeHeader::SOURCE_RECIPE:
      return ServeRecipe(call, session, front, header);
    default:
      return absl::InvalidArgumentError(absl::StrCat("invalid recipe source ", static_cast<int>(header.source()),
                                                     ": expected SOURCE_PROGRAM or SOURCE_RECIPE"));
  }
}

}  // namespace hpu::serve

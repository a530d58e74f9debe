#include "plugin/backends/remote/recipe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/rpc/limits.h"

namespace hpu::remote {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
// Maximum size of a serialised recipe, as in proto/hpu/device/v1/device.proto.
constexpr uint64_t kMaxRecipeBytes = uint64_t{1} << 30;
constexpr size_t kMaxNameBytes = 4096;

// `what`: name of the tensor in error texts.
absl::StatusOr<hal::TensorSpec> SpecOf(const proto::Tensor& tensor, absl::string_view what) {
  hal::TensorSpec spec;
  spec.dtype = static_cast<hal::DataType>(tensor.dtype());
  spec.bytes = tensor.dtype() <= UINT8_MAX ? hal::SizeOf(spec.dtype) : 0;
  bool valid = spec.bytes != 0;
  for (const int64_t dim : tensor.dims()) {
    valid = valid && dim >= 0 && !__builtin_mul_overflow(spec.bytes, static_cast<uint64_t>(dim), &spec.bytes);
    spec.dims.push_back(dim);
  }
  if (!valid) {
    return absl::InternalError(absl::StrCat("invalid recipe table from the device server: ", what,
                                            " has an unknown data type or an invalid shape (type ", tensor.dtype(),
                                            ", shape [", absl::StrJoin(spec.dims, ","),
                                            "]); install the same release on client and server"));
  }
  return spec;
}

// The server's response: a table and the serialised recipe, in chunks. Written by the connection's thread.
struct Answer {
  proto::RecipeTable table;
  std::string bytes;
  bool valid = true;

  void Add(absl::string_view message) {
    proto::MakeRecipeResponse response;
    valid = valid && response.ParseFromArray(message.data(), static_cast<int>(message.size()));
    if (!valid) return;
    if (response.has_table()) {
      table = std::move(*response.mutable_table());
      valid = table.bytes() <= kMaxRecipeBytes;
      if (valid) bytes.reserve(table.bytes());
    }
    valid = valid && response.chunk().size() <= table.bytes() - bytes.size();
    if (valid) bytes.append(response.chunk());
  }
};

void Send(Call& call, const proto::MakeRecipeHeader& header, absl::string_view bytes) {
  proto::MakeRecipeRequest request;
  *request.mutable_header() = header;
  bool open = call.Write(request);
  request.clear_header();
  for (uint64_t at = 0; at < bytes.size() && open; at += kChunkBytes) {
    const absl::string_view chunk = bytes.substr(at, kChunkBytes);
    request.set_chunk(chunk.data(), chunk.size());
    open = call.Write(request) && call.WaitWritable(rpc::kMaxUnsentBytes);
  }
  call.WritesDone();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const RemoteRecipe>> RemoteRecipe::Make(const std::shared_ptr<Session>& session,
                                                                       proto::MakeRecipeHeader::Source source,
                                                                       absl::string_view name,
                                                                       absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(session->liveness().Check());
  proto::MakeRecipeHeader header;
  header.set_session(session->acquired().session());
  header.set_recipe(session->NewHandle());
  header.set_name(std::string(name.substr(0, kMaxNameBytes)));
  header.set_source(source);
  header.set_bytes(bytes.size());
  Answer answer;
  {
    Call call(session->connection(), "MakeRecipe", [&answer](absl::string_view message) { answer.Add(message); });
    Send(call, header, bytes);
    const absl::Status status = call.Wait();
    if (!session->liveness().Check().ok()) return session->liveness().Check();
    if (absl::IsUnavailable(status)) session->Lose(status);
    if (absl::IsPermissionDenied(status)) {
      return absl::InvalidArgumentError(absl::StrCat("recipe '", name, "': the device server at ",
                                                     session->connection().spec(), " refused it: ", status.message()));
    }
    HPU_RETURN_IF_ERROR(status);
  }
  // The server has loaded the recipe, so ~RemoteRecipe must release it, even if the checks below fail.
  auto recipe = std::make_shared<RemoteRecipe>(session, header.recipe(), std::string(name));
  if (!answer.valid || answer.bytes.size() != answer.table.bytes()) {
    return absl::InternalError(absl::StrCat(
        "recipe '", name, "': invalid answer from the device server at ", session->connection().spec(), ": expected ",
        answer.table.bytes(), " bytes, got ", answer.bytes.size(), "; install the same release on client and server"));
  }
  HPU_RETURN_IF_ERROR(recipe->ReadTable(answer.table));
  recipe->bytes_ = source == proto::MakeRecipeHeader::SOURCE_RECIPE ? std::string(bytes) : std::move(answer.bytes);
  return recipe;
}

absl::Status RemoteRecipe::ReadTable(const proto::RecipeTable& table) {
  for (const proto::Tensor& argument : table.arguments()) {
    HPU_ASSIGN_OR_RETURN(hal::TensorSpec spec, SpecOf(argument, "an argument"));
    arguments_.push_back(std::move(spec));
  }
  for (const proto::Tensor& result : table.results()) {
    HPU_ASSIGN_OR_RETURN(hal::TensorSpec spec, SpecOf(result, "a result"));
    const int32_t alias = result.aliased_argument();
    if (alias < -1 || alias >= static_cast<int64_t>(arguments_.size())) {
      return absl::InternalError(absl::StrCat("invalid recipe table from the device server: a result aliases argument ",
                                              alias, " of ", arguments_.size(),
                                              "; install the same release on client and server"));
    }
    results_.push_back({std::move(spec), alias});
  }
  workspace_bytes_ = table.workspace_bytes();
  return absl::OkStatus();
}

RemoteRecipe::~RemoteRecipe() {
  const std::shared_ptr<Session> session = session_.lock();
  if (session != nullptr && session->liveness().Check().ok()) session->ReleaseRecipe(handle_, uses_);
}

}  // namespace hpu::remote

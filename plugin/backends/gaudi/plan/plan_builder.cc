#include "plugin/backends/gaudi/plan/plan_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/gaudi/guids/usable_guid.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/backends/gaudi/synapse/profile.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

// Maximum size of a constant in a graph (hlo-to-synapse: MAX_CONST_TENSOR_SIZE_BYTES).
constexpr uint64_t kMaxConstantBytes = uint64_t{1} << 20;

void AppendType(const TensorType& type, std::string* key) {
  absl::StrAppend(key, uint32_t{type.type}, "{", absl::StrJoin(type.sizes, ","), "}");
}

}  // namespace

std::string GuidOf(absl::string_view stem, synapse::synDataType suffix) {
  return absl::StrCat(stem, "_", std::string(TypeSuffix(suffix)));
}

TensorId PlanBuilder::AddTensor(TensorType type) {
  PlanTensor tensor;
  tensor.type = type.type;
  tensor.sizes = std::move(type.sizes);
  plan_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

TensorId PlanBuilder::AddView(TensorId x, Sizes sizes) {
  const TensorId id = AddTensor({type(x), std::move(sizes)});
  plan_.tensors[id].view_of = x;
  return id;
}

TensorId PlanBuilder::AddArgument(int32_t number, TensorType type) {
  if (HasTooManyDimensions(type.sizes)) {
    return AddView(AddArgument(number, {type.type, MergedSizes(type.sizes)}), type.sizes);
  }
  const TensorId id = AddTensor(std::move(type));
  plan_.tensors[id].role = TensorRole::kArgument;
  plan_.tensors[id].number = number;
  return id;
}

absl::StatusOr<TensorId> PlanBuilder::AddConstant(TensorType type, std::string data) {
  if (HasTooManyDimensions(type.sizes)) {
    HPU_ASSIGN_OR_RETURN(const TensorId x, AddConstant({type.type, MergedSizes(type.sizes)}, std::move(data)));
    return AddView(x, std::move(type.sizes));
  }
  if (data.size() > kMaxConstantBytes) {
    // Splits the outermost dimension, so that the elements of each part are contiguous.
    const uint64_t rows = type.sizes.back();
    const uint64_t row_bytes = data.size() / rows;
    if (row_bytes > kMaxConstantBytes) {
      const uint64_t count = ElementCount(type.sizes);
      HPU_ASSIGN_OR_RETURN(const TensorId flat, AddConstant({type.type, {count}}, std::move(data)));
      return Add("reshape", {flat}, type);
    }
    const uint64_t part_rows = kMaxConstantBytes / row_bytes;
    std::vector<TensorId> parts;
    for (uint64_t begin = 0; begin < rows; begin += part_rows) {
      TensorType part = type;
      part.sizes.back() = std::min(part_rows, rows - begin);
      HPU_ASSIGN_OR_RETURN(const TensorId id,
                           AddConstant(part, data.substr(begin * row_bytes, part.sizes.back() * row_bytes)));
      parts.push_back(id);
    }
    synapse::synConcatenateParams params = {};
    params.axis = static_cast<uint32_t>(type.sizes.size() - 1);
    return Add("concat", std::move(parts), type, ParamsBytes(params));
  }
  std::string key;
  AppendType(type, &key);
  key += data;
  const auto [found, is_new] = constants_.try_emplace(std::move(key), kNoTensor);
  if (!is_new) return found->second;
  const TensorId id = AddTensor(std::move(type));
  plan_.tensors[id].role = TensorRole::kConstant;
  plan_.tensors[id].data = std::move(data);
  found->second = id;
  return id;
}

bool PlanBuilder::HasTooManyDimensions(const Sizes& sizes) const {
  return sizes.size() > static_cast<size_t>(synapse::MaxRank(target_.profile));
}

Sizes PlanBuilder::MergedSizes(const Sizes& sizes) const {
  const auto outermost = sizes.begin() + synapse::MaxRank(target_.profile) - 1;
  Sizes merged(sizes.begin(), outermost);
  merged.push_back(ElementCount(Sizes(outermost, sizes.end())));
  return merged;
}

bool PlanBuilder::Has(absl::string_view stem, synapse::synDataType suffix) const {
  return UsableGuid(GuidOf(stem, suffix), target_.generation).ok();
}

absl::Status PlanBuilder::CheckNode(absl::string_view guid, const std::vector<TensorId>& operands,
                                    const std::vector<TensorType>& results, size_t params_bytes) const {
  const absl::StatusOr<GuidMatch> match = UsableGuid(guid, target_.generation);
  if (!match.ok()) return absl::UnimplementedError(match.status().message());
  const absl::string_view release = synapse::ProfileName(target_.profile);
  if (!match->guid->HasParamsOf(target_.profile, params_bytes)) {
    return absl::UnimplementedError(absl::StrCat("the kernel ", guid, " of SynapseAI ", release,
                                                 " does not accept params of ", params_bytes, " bytes"));
  }
  const Sizes& first = operands.empty() ? results.front().sizes : sizes(operands.front());
  const int rank = static_cast<int>(first.size());
  if (rank < match->guid->min_rank || rank > match->guid->max_rank) {
    return absl::UnimplementedError(absl::StrCat("the kernel ", guid, " supports ranks ", match->guid->min_rank, " to ",
                                                 match->guid->max_rank, ", not ", rank));
  }
  const auto check_rank = [&](const Sizes& sizes) {
    if (!HasTooManyDimensions(sizes)) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat("a tensor of ", guid, " has rank ", sizes.size(), "; SynapseAI ",
                                                 release, " supports ranks up to ", synapse::MaxRank(target_.profile)));
  };
  for (const TensorId operand : operands) {
    if (operand != kNoTensor) HPU_RETURN_IF_ERROR(check_rank(sizes(operand)));
  }
  for (const TensorType& result : results) HPU_RETURN_IF_ERROR(check_rank(result.sizes));
  return absl::OkStatus();
}

const PlanNode& PlanBuilder::Append(absl::string_view guid, std::vector<TensorId> operands,
                                    const std::vector<TensorType>& results, std::string params) {
  PlanNode node;
  node.guid = std::string(guid);
  node.name = node_name_;
  node.operands = std::move(operands);
  for (const TensorType& result : results) {
    node.results.push_back(result.sizes.empty() ? kNoTensor : AddTensor(result));
  }
  node.params = std::move(params);
  plan_.nodes.push_back(std::move(node));
  return plan_.nodes.back();
}

absl::StatusOr<std::vector<TensorId>> PlanBuilder::AddNode(absl::string_view guid, std::vector<TensorId> operands,
                                                           const std::vector<TensorType>& results, std::string params) {
  std::string key = absl::StrCat(guid, "(", absl::StrJoin(operands, ","), ")");
  for (const TensorType& result : results) AppendType(result, &key);
  absl::StrAppend(&key, ":", params);
  if (const auto found = nodes_.find(key); found != nodes_.end()) return plan_.nodes[found->second].results;
  HPU_RETURN_IF_ERROR(CheckNode(guid, operands, results, params.size()));
  nodes_.emplace(std::move(key), static_cast<int32_t>(plan_.nodes.size()));
  return Append(guid, std::move(operands), results, std::move(params)).results;
}

absl::StatusOr<TensorId> PlanBuilder::AddCopy(TensorId x) {
  const std::vector<TensorType> result = {tensor_type(x)};
  HPU_RETURN_IF_ERROR(CheckNode("memcpy", {x}, result, 0));
  return Append("memcpy", {x}, result, "").results.front();
}

absl::StatusOr<TensorId> PlanBuilder::Add(absl::string_view guid, std::vector<TensorId> operands,
                                          const TensorType& result, std::string params) {
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> results,
                       AddNode(guid, std::move(operands), {result}, std::move(params)));
  return results.front();
}

absl::StatusOr<TensorId> PlanBuilder::AddTyped(absl::string_view stem, synapse::synDataType suffix,
                                               std::vector<TensorId> operands, const TensorType& result,
                                               std::string params) {
  return Add(GuidOf(stem, suffix), std::move(operands), result, std::move(params));
}

void PlanBuilder::MakeResult(TensorId tensor, int32_t number) {
  plan_.tensors[tensor].role = TensorRole::kResult;
  plan_.tensors[tensor].number = number;
}

}  // namespace hpu::gaudi

#include "plugin/backends/gaudi/check/example_nodes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/check/example_shapes.h"
#include "plugin/backends/gaudi/guids/usable_guid.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

using synapse::synDataType;

// The types of a mask, lowest bit first.
std::vector<synDataType> TypesOf(TypeMask mask) {
  std::vector<synDataType> types;
  for (TypeMask rest = mask & kAllTypes; rest != 0; rest &= rest - 1) {
    types.push_back(static_cast<synDataType>(rest & -rest));
  }
  return types;
}

void AddCasts(const Guid& guid, synapse::Generation generation, const std::vector<synDataType>& types,
              std::vector<TypedGuid>* nodes) {
  for (const synDataType source : types) {
    for (const synDataType type : types) {
      if (CastPath(generation, source, type).size() == 1) nodes->push_back({&guid, type, source});
    }
  }
}

synDataType SlotType(const TypedGuid& node, const GuidOperand& slot) {
  if (slot.types & (kGuidType | kAnyGuidType)) return node.type;
  if (slot.types & kCastSource) return node.source_type;
  // Indices of max pooling.
  if ((slot.types & kAllTypes) == (synapse::syn_type_uint8 | synapse::syn_type_int16)) {
    return BytesOf(node.type) == 2 ? synapse::syn_type_int16 : synapse::syn_type_uint8;
  }
  return TypesOf(slot.types).front();
}

const GuidOperand& SlotAt(const GuidList<GuidOperand>& slots, size_t index) {
  return slots[std::min(index, slots.size() - 1)];
}

}  // namespace

std::string TypedGuid::type_text() const {
  const std::string text(TypeSuffix(type));
  return source_type == synapse::syn_type_na ? text : absl::StrCat(std::string(TypeSuffix(source_type)), " to ", text);
}

std::vector<TypedGuid> UsableGuids(synapse::Generation generation) {
  std::vector<TypedGuid> nodes;
  for (const Guid& guid : AllGuids()) {
    if (!IsUsable(guid)) continue;
    const std::vector<synDataType> types = TypesOf(guid.types[static_cast<size_t>(generation)]);
    if (guid.suffix == GuidSuffix::kCast) {
      AddCasts(guid, generation, types, &nodes);
    } else if (types.empty()) {
      nodes.push_back({&guid});
    } else {
      for (const synDataType type : types) nodes.push_back({&guid, type});
    }
  }
  return nodes;
}

absl::StatusOr<GraphPlan> ExamplePlan(const TypedGuid& node, const PlanTarget& target) {
  const Guid& guid = *node.guid;
  const std::optional<ExampleShapes> shapes =
      node.type == synapse::syn_type_na ? std::nullopt : ShapesOf(guid, node.type, target.profile);
  if (!shapes) {
    return absl::NotFoundError(absl::StrCat("no example of ", std::string(guid.stem),
                                            ": its operands, types or params are unknown "
                                            "(docs/developer/gaudi_guids.md)"));
  }
  PlanBuilder builder(target);
  std::vector<TensorId> operands;
  int32_t arguments = 0;
  for (size_t i = 0; i < shapes->operands.size(); ++i) {
    const GuidOperand& slot = SlotAt(guid.operands, i);
    const TensorType type = {SlotType(node, slot), shapes->operands[i]};
    if (slot.name == "axis") {
      HPU_ASSIGN_OR_RETURN(const TensorId axis, builder.AddConstant(type, std::string(BytesOf(type.type), '\0')));
      operands.push_back(axis);
    } else {
      operands.push_back(builder.AddArgument(arguments++, type));
    }
  }
  std::vector<TensorType> results;
  for (size_t i = 0; i < shapes->results.size(); ++i) {
    const synDataType type =
        shapes->result_type != synapse::syn_type_na ? shapes->result_type : SlotType(node, SlotAt(guid.results, i));
    results.push_back({type, shapes->results[i]});
  }
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> tensors,
                       builder.AddNode(node.name(), std::move(operands), results, shapes->params));
  for (size_t i = 0; i < tensors.size(); ++i) builder.MakeResult(tensors[i], static_cast<int32_t>(i));
  return std::move(*builder.mutable_plan());
}

}  // namespace hpu::gaudi

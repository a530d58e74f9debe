#include "plugin/testing/synapse_double/graph/node_check.h"

#include <algorithm>
#include <string_view>

#include "plugin/testing/synapse_double/graph/kernel_limits.h"
#include "plugin/testing/synapse_double/graph/params_check.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

using gaudi::Guid;
using gaudi::GuidKind;
using gaudi::GuidList;
using gaudi::GuidMatch;
using gaudi::GuidOperand;
using gaudi::Presence;
using synapse::synDataType;
using synapse::synFail;
using synapse::synInvalidArgument;

// Longest guid of a release.
constexpr size_t MaxGuidLength(synapse::Profile profile) { return profile == synapse::Profile::k1_5 ? 30 : 63; }
constexpr gaudi::TypeMask k64BitTypes = synapse::syn_type_int64 | synapse::syn_type_uint64;

bool IsTpc(const Guid& guid) { return guid.kind == GuidKind::kTpc; }

// A violation of the rules of operands: 9 for TPC kernels, 10 for nodes of the graph compiler.
template <typename... Parts>
Verdict Refused(const Guid& guid, const Parts&... parts) {
  return IsTpc(guid) ? Violation(Rule::kTpcNode, synFail, parts...)
                     : Violation(Rule::kGraphNode, synInvalidArgument, parts...);
}

// The declaration of slot `i`; null if there is none.
const GuidOperand* SlotOf(const GuidList<GuidOperand>& declared, size_t i) {
  if (i < declared.size()) return &declared[i];
  if (declared.size() == 0) return nullptr;
  const GuidOperand& last = declared[declared.size() - 1];
  return last.presence == Presence::kVariadic ? &last : nullptr;
}

Verdict CheckSlots(const Node& node, const Guid& guid, const GuidList<GuidOperand>& declared,
                   const std::vector<Tensor*>& tensors, const char* kind) {
  for (size_t i = 0; i < std::max(tensors.size(), declared.size()); ++i) {
    const GuidOperand* slot = SlotOf(declared, i);
    if (slot == nullptr) {
      return Refused(guid, node.Describe(), ": ", tensors.size(), " ", kind, "s; the guid has ", declared.size());
    }
    const Tensor* tensor = i < tensors.size() ? tensors[i] : nullptr;
    if (tensor == nullptr) {
      if (slot->presence == Presence::kOptional) continue;
      return Refused(guid, node.Describe(), ": ", kind, " ", i, " (", slot->name, ") is missing");
    }
    if (tensor->is_shape() != slot->is_shape) {
      return Refused(guid, node.Describe(), ": ", kind, " ", i, " (", slot->name, ") must be a ",
                     slot->is_shape ? "shape" : "data", " tensor");
    }
  }
  return {};
}

// The type that decides the types of operands: the suffix, or the type of the first operand.
synDataType DecidingType(const Node& node, const GuidMatch& match) {
  if (match.type != synapse::syn_type_na) return match.type;
  for (const auto* tensors : {&node.inputs, &node.outputs}) {
    if (!tensors->empty() && tensors->front() != nullptr) return tensors->front()->type;
  }
  return synapse::syn_type_na;
}

Verdict CheckTypes(const Node& node, const GuidMatch& match, const NodeContext& context,
                   const GuidList<GuidOperand>& declared, const std::vector<Tensor*>& tensors, const char* kind) {
  const Guid& guid = *match.guid;
  const synDataType deciding = DecidingType(node, match);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const GuidOperand* slot = SlotOf(declared, i);
    if (tensors[i] == nullptr || slot == nullptr || slot->is_shape) continue;
    const synDataType type = tensors[i]->type;
    if ((gaudi::OperandTypes(match, *slot, context.generation, deciding) & type) != 0) continue;
    if (!IsTpc(guid) && (type & k64BitTypes) != 0) {
      return Violation(Rule::kWideTypes, synInvalidArgument, node.Describe(), ": ", kind, " ", i, " ",
                       tensors[i]->Describe(), "; the node takes no 64-bit types");
    }
    return Refused(guid, node.Describe(), ": ", kind, " ", i, " (", slot->name, ") is ", tensors[i]->Describe(),
                   ": the guid does not take this type there");
  }
  return {};
}

Verdict CheckGuidTypes(const Node& node, const GuidMatch& match, const NodeContext& context) {
  const Guid& guid = *match.guid;
  const synDataType deciding = DecidingType(node, match);
  const auto unsupported = [&](synDataType type) {
    return Refused(guid, node.Describe(), ": ", synapse::GenerationName(context.generation), " does not compute ",
                   guid.stem, " of ", TypeText(type));
  };
  if (deciding != synapse::syn_type_na && !guid.Supports(context.generation, deciding)) {
    if (!IsTpc(guid) && (deciding & k64BitTypes) != 0) {
      return Violation(Rule::kWideTypes, synInvalidArgument, node.Describe(), ": the node takes no 64-bit types");
    }
    return unsupported(deciding);
  }
  if (guid.suffix != gaudi::GuidSuffix::kCast) return {};
  if (!guid.Supports(context.generation, match.source_type)) return unsupported(match.source_type);
  const auto path = gaudi::CastPath(context.generation, match.source_type, match.type);
  if (path.size() == 1) return {};
  return Refused(guid, node.Describe(), ": ", synapse::GenerationName(context.generation),
                 " does not cast directly; cast through ", path.empty() ? "nothing" : TypeText(path.front()));
}

Verdict CheckRanks(const Node& node, const Guid& guid) {
  for (const auto* tensors : {&node.inputs, &node.outputs}) {
    for (const Tensor* tensor : *tensors) {
      if (tensor == nullptr || guid.max_rank > static_cast<int>(synapse::SYN_MAX_TENSOR_DIM) ||
          tensor->rank <= synapse::SYN_MAX_TENSOR_DIM) {
        continue;
      }
      return Violation(Rule::kRank, synapse::synInvalidTensorDimensions, node.Describe(), ": ", tensor->Describe(),
                       " has rank ", tensor->rank, "; the node takes ", synapse::SYN_MAX_TENSOR_DIM);
    }
  }
  const auto& first = guid.operands.size() > 0 ? node.inputs : node.outputs;
  if (first.empty() || first.front() == nullptr) return {};
  const int rank = static_cast<int>(first.front()->rank);
  if (rank >= guid.min_rank && rank <= guid.max_rank) return {};
  return Refused(guid, node.Describe(), ": ", first.front()->Describe(), " has rank ", rank, "; the guid takes ",
                 guid.min_rank, " to ", guid.max_rank);
}

bool IsTrainingOnly(std::string_view stem) {
  for (const std::string_view training :
       {"dedx", "dedw", "dedx3d", "dedw3d", "gemm_dedx", "batch_gemm_dedx", "einsum", "moments_fwd"}) {
    if (stem == training) return true;
  }
  return stem.substr(0, 3) == "tf_";
}

bool IsProduct(std::string_view stem) {
  for (const std::string_view product :
       {"gemm", "gemm_dedx", "gemm_dedw", "batch_gemm", "batch_gemm_dedx", "batch_gemm_dedw", "spatial_convolution",
        "spatial_convolution3d", "dedx", "dedx3d", "dedw", "dedw3d"}) {
    if (stem == product) return true;
  }
  return false;
}

Verdict CheckMode(const Node& node, const Guid& guid, const NodeContext& context) {
  if (context.is_inference && IsTrainingOnly(guid.stem)) {
    return Refused(guid, node.Describe(), ": refused in graphs with the attribute INFERENCE");
  }
  if (!context.is_inference && IsProduct(guid.stem) && node.inputs[0]->type != node.inputs[1]->type) {
    return Refused(guid, node.Describe(), ": operands ", node.inputs[0]->Describe(), " and ",
                   node.inputs[1]->Describe(), " have different types; training graphs need equal ones");
  }
  return {};
}

Verdict CheckShapes(const Node& node, const Guid& guid) {
  const ShapeRule rule = FindShapeRule(guid.stem);
  if (rule == nullptr) return {};
  ShapeCheck check(node);
  rule(check);
  if (check.error().empty()) return {};
  return IsTpc(guid) ? Violation(Rule::kTpcNode, synFail, node.Describe(), ": ", check.error())
                     : Violation(Rule::kShapes, synInvalidArgument, node.Describe(), ": ", check.error());
}

// Natural layout of a slot; empty if it has none.
std::string_view NaturalLayout(const std::string& name, size_t slot, bool is_result) {
  const std::optional<GuidMatch> match = gaudi::FindGuid(name);
  if (!match) return {};
  const std::string_view stem = match->guid->stem;
  for (const std::string_view convolution : {"spatial_convolution", "dedx", "dedw"}) {
    const bool is_3d = stem.size() == convolution.size() + 2 && stem.substr(convolution.size()) == "3d";
    if (stem.substr(0, convolution.size()) != convolution || (stem != convolution && !is_3d)) continue;
    const std::string_view image = is_3d ? "CWHDN" : "CWHN";
    const std::string_view filter = is_3d ? "KCSRQ" : "KCSR";
    const bool makes_filter = convolution == "dedw";
    if (is_result) return slot > 0 ? std::string_view() : makes_filter ? filter : image;
    if (slot == 1) return makes_filter ? image : filter;
    return slot == 0 ? image : std::string_view();
  }
  // Images of normalisation and pooling. Vectors and filters of other nodes have no layout.
  const bool is_image = match->guid->min_rank == 4 && match->guid->max_rank == 4;
  const auto& declared = is_result ? match->guid->results : match->guid->operands;
  if (!is_image || slot >= declared.size()) return {};
  const std::string_view operand = declared[slot].name;
  for (const std::string_view tensor : {"x", "y", "dx", "dy", "indices"}) {
    if (operand == tensor) return "CWHN";
  }
  return {};
}

}  // namespace

Verdict ResolveGuid(const std::string& name, const NodeContext& context, GuidMatch* match) {
  if (const size_t limit = MaxGuidLength(context.profile); name.size() > limit) {
    return Violation(Rule::kTpcNode, synFail, "guid ", name, ": more than ", limit, " characters");
  }
  const std::optional<GuidMatch> found = gaudi::FindGuid(name);
  if (!found) {
    return Violation(Rule::kTpcNode, synFail, "guid ", name,
                     ": no such guid and type in plugin/backends/gaudi/guids.yaml");
  }
  const Guid& guid = *found->guid;
  if (guid.kind == GuidKind::kInternal) {
    return Violation(Rule::kInternalGuid, synFail, "guid ", name, ": internal to the graph compiler");
  }
  if (guid.may_be_complex && !context.complex_guids) {
    return Violation(Rule::kTpcNode, synFail, "guid ", name, ": unknown, because the complex-guid library is absent");
  }
  if (!guid.is_proven && !context.unproven_guids) {
    return Violation(Rule::kTpcNode, synFail, "guid ", name, ": the guid, its operands or its params are uncertain ",
                     "(sources: ", guid.sources, "); HPU_GAUDI_UNPROVEN=1 allows it");
  }
  *match = *found;
  return {};
}

Verdict CheckNode(const Node& node, const NodeContext& context) {
  GuidMatch match;
  if (Verdict verdict = ResolveGuid(node.guid, context, &match); !verdict.ok()) return verdict;
  const Guid& guid = *match.guid;
  // Unproven guids may have unknown operands or results, which are not checked.
  const bool knows_operands = guid.is_proven || guid.operands.size() > 0;
  const bool knows_results = guid.is_proven || guid.results.size() > 0;
  Verdict verdict = CheckRanks(node, guid);
  if (verdict.ok() && knows_operands) verdict = CheckSlots(node, guid, guid.operands, node.inputs, "input");
  if (verdict.ok() && knows_results) verdict = CheckSlots(node, guid, guid.results, node.outputs, "output");
  if (verdict.ok()) verdict = CheckGuidTypes(node, match, context);
  if (verdict.ok() && knows_operands) verdict = CheckTypes(node, match, context, guid.operands, node.inputs, "input");
  if (verdict.ok() && knows_results) verdict = CheckTypes(node, match, context, guid.results, node.outputs, "output");
  if (verdict.ok()) verdict = CheckParams(guid, context.profile, node.params);
  if (!verdict.ok() || !knows_operands || !knows_results) return verdict;
  verdict = CheckMode(node, guid, context);
  if (verdict.ok()) verdict = CheckShapes(node, guid);
  return verdict.ok() ? CheckKernelLimits(node, guid.stem) : verdict;
}

Verdict CheckLayouts(const Node& node, const char** layouts, size_t count, bool are_results) {
  for (size_t i = 0; layouts != nullptr && i < count; ++i) {
    if (layouts[i] == nullptr || *layouts[i] == '\0') continue;
    const std::string_view natural = NaturalLayout(node.guid, i, are_results);
    if (natural == layouts[i]) continue;
    return NotModelled(
        node.Describe(), ": layout ", layouts[i], " of ", are_results ? "result " : "operand ", i,
        natural.empty() ? "; it has no natural layout" : "; only the natural layout is modelled: ", natural);
  }
  return {};
}

}  // namespace hpu::synapse_double

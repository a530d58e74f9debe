#include "plugin/testing/synapse_double/graph/size_registers.h"

#include <string_view>

#include "plugin/backends/gaudi/guids/guid_table.h"

namespace hpu::synapse_double {
namespace {

using synapse::Generation;

enum class NodeEngine { kMme, kTpc, kDma, kNone };

// The engine that computes a node. Nodes that only change how memory is read use none.
NodeEngine NodeEngineOf(const gaudi::Guid& guid) {
  if (guid.kind == gaudi::GuidKind::kTpc) return NodeEngine::kTpc;
  for (const std::string_view stem :
       {"moments_fwd", "tf_batch_normalization_fwd", "tf_fused_batch_norm_grad", "topk"}) {
    if (guid.stem == stem) return NodeEngine::kTpc;
  }
  for (const std::string_view stem : {"memcpy", "transpose", "broadcast", "slice_insert", "strided_slice_grad",
                                      "strided_view", "strided_insert", "memset"}) {
    if (guid.stem == stem) return NodeEngine::kDma;
  }
  for (const std::string_view stem :
       {"gemm", "gemm_dedx", "gemm_dedw", "batch_gemm", "batch_gemm_dedx", "batch_gemm_dedw", "spatial_convolution",
        "spatial_convolution3d", "dedx", "dedx3d", "dedw", "dedw3d", "einsum", "masked_batch_gemm"}) {
    if (guid.stem == stem) return NodeEngine::kMme;
  }
  return NodeEngine::kNone;
}

// Largest extent of dimension `d`: size · stride, or (size - 1) · stride for the DMA. In elements for the MME, else in
// bytes.
uint64_t LimitOf(NodeEngine engine, Generation generation, const Tensor& tensor, size_t d) {
  switch (engine) {
    case NodeEngine::kMme:
      return ElementBytes(tensor.type) > 2 ? (uint64_t{1} << 31) - 1 : (uint64_t{1} << 32) - 1;
    case NodeEngine::kTpc:
      if (d + 1 == tensor.sizes.size()) return (uint64_t{1} << 47) - 1;
      return generation == Generation::kGaudi ? (uint64_t{1} << 31) - 1 : uint64_t{1} << 43;
    case NodeEngine::kDma:
      return (uint64_t{1} << 32) - 1;
    case NodeEngine::kNone:
      break;
  }
  return ~uint64_t{0};
}

Verdict CheckTensor(const Node& node, const Tensor& tensor, NodeEngine engine, Generation generation) {
  const uint64_t unit = engine == NodeEngine::kMme ? 1 : ElementBytes(tensor.type);
  uint64_t stride = unit;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    const auto size = static_cast<uint64_t>(tensor.sizes[d]);
    if (size == 0) return {};
    const uint64_t extent = engine == NodeEngine::kDma ? (size - 1) * stride : size * stride;
    const uint64_t limit = LimitOf(engine, generation, tensor, d);
    if (extent > limit) {
      return Violation(Rule::kSizeRegisters, synapse::synFail, node.Describe(), ": dimension ", d, " of ",
                       tensor.Describe(), " spans ", extent,
                       unit == 1 && engine == NodeEngine::kMme ? " elements" : " bytes", "; registers of ",
                       synapse::GenerationName(generation), " hold ", limit);
    }
    stride *= size;
  }
  return {};
}

}  // namespace

Verdict CheckSizeRegisters(const Node& node, Generation generation) {
  const auto match = gaudi::FindGuid(node.guid);
  const NodeEngine engine = match ? NodeEngineOf(*match->guid) : NodeEngine::kNone;
  if (engine == NodeEngine::kNone) return {};
  // Later generations compute huge tensors in slices.
  if (engine != NodeEngine::kTpc && generation != Generation::kGaudi) return {};
  for (const auto* tensors : {&node.inputs, &node.outputs}) {
    for (const Tensor* tensor : *tensors) {
      if (tensor == nullptr || tensor->is_shape()) continue;
      if (Verdict verdict = CheckTensor(node, *tensor, engine, generation); !verdict.ok()) return verdict;
    }
  }
  return {};
}

}  // namespace hpu::synapse_double

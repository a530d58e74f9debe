#include "plugin/testing/synapse_double/graph/kernel_limits.h"

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

Verdict CheckCast(const Node& node) {
  namespace casts = synapse::ns_CastKernel;
  const auto mode = ShapeCheck(node).params<casts::Params>({casts::CAST_ROUND_DEFAULT}).round_mode;
  for (const casts::CastF32RoundMode_t known :
       {casts::CAST_ROUND_HALF_NE, casts::CAST_ROUND_DOWN, casts::CAST_ROUND_UP, casts::CAST_ROUND_ZERO,
        casts::CAST_ROUND_DEFAULT, casts::CAST_ROUND_HALF_AZ}) {
    if (mode == known) return {};
  }
  return NotModelled(node.Describe(), ": round mode ", uint32_t{mode});
}

Verdict CheckConstant(const Node& node) {
  if (node.params.size() != sizeof(synapse::ns_ConstantKernel::Params_v2)) return {};
  if (ElementBytes(node.outputs[0]->type) == sizeof(int64_t)) return {};
  return Violation(Rule::kParams, synapse::synInvalidArgument, node.Describe(), ": params of ", node.params.size(),
                   " bytes are for 64-bit types; ", node.outputs[0]->Describe(), " takes 4");
}

Verdict CheckCrossEntropy(const Node& node) {
  namespace losses = synapse::ns_SoftmaxCrossEntropy;
  const auto params = ShapeCheck(node).params<losses::ParamsV3>();
  if (params.mode > losses::CROSS_ENTROPY_MODE_NO_REDUCTION) {
    return NotModelled(node.Describe(), ": mode ", uint32_t{params.mode});
  }
  if (params.axis != 0) return NotModelled(node.Describe(), ": axis ", params.axis, "; only 0 is modelled");
  if (params.isTfMode) return NotModelled(node.Describe(), ": isTfMode");
  return {};
}

Verdict CheckPad(const Node& node) {
  const uint32_t mode = ShapeCheck(node).params<synapse::ns_PadKernelEx::Params>().mode;
  return mode == 0 ? Verdict{} : NotModelled(node.Describe(), ": mode ", mode);
}

Verdict CheckShift(const Node& node) {
  namespace shifts = synapse::ns_BitShiftKernel;
  const uint32_t direction = ShapeCheck(node).params<shifts::Params>().direction;
  if (direction <= shifts::BIT_SHIFT_RIGHT) return {};
  return NotModelled(node.Describe(), ": direction ", direction);
}

Verdict CheckDropout(const Node& node) {
  const float ratio = ShapeCheck(node).params<synapse::ns_DropoutKernel::Params>().ratio;
  if (ratio >= 0 && ratio <= 1) return {};
  return Violation(Rule::kTpcNode, synapse::synFail, node.Describe(), ": ratio ", ratio, " is not in [0, 1]");
}

// One-byte indices can distinguish 256 elements of a window.
Verdict CheckMaxPool(const Node& node) {
  const auto params = ShapeCheck(node).params<synapse::ns_SpatialReduction::Params>();
  const int64_t elements = int64_t{params.kernel_w} * params.kernel_h;
  if (ElementBytes(node.outputs[0]->type) > 1 || elements <= 256) return {};
  return NotModelled(node.Describe(), ": windows of ", elements, " elements with indices of 1 byte");
}

}  // namespace

Verdict CheckKernelLimits(const Node& node, std::string_view stem) {
  if (stem == "cast") return CheckCast(node);
  if (stem == "constant") return CheckConstant(node);
  if (stem == "softmax_cross_entropy_fwd" || stem == "softmax_cross_entropy_bwd") return CheckCrossEntropy(node);
  if (stem == "pad_fwd") return CheckPad(node);
  if (stem == "bitshift_fwd") return CheckShift(node);
  if (stem == "dropout_fwd" || stem == "dropout_bwd") return CheckDropout(node);
  if (stem == "maxpool_2d_fwd") return CheckMaxPool(node);
  return {};
}

}  // namespace hpu::synapse_double

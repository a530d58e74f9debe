#include "plugin/testing/synapse_double/graph/params_check.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plugin/backends/gaudi/synapse/params.h"

namespace hpu::synapse_double {
namespace {

using namespace synapse;  // NOLINT: names of params structs

struct Bytes {
  size_t begin;
  size_t end;
};

constexpr size_t kToEnd = ~size_t{0};

// Padding of a params struct; empty if the struct has no padding. A range may extend past the end of the params,
// because shorter versions of the convolution params have fewer reserved members.
const std::vector<Bytes>& PaddingOf(std::string_view struct_name) {
  constexpr size_t kActivation = offsetof(synConvolutionParams, activation) + offsetof(synActivationParams, pad);
  constexpr size_t kActivation3D = offsetof(synConvolution3DParams, activation) + offsetof(synActivationParams, pad);
  static const auto* const table = new std::unordered_map<std::string_view, std::vector<Bytes>>{
      {"synConvolutionParams", {{kActivation, kActivation + 2}, {offsetof(synConvolutionParams, pad), kToEnd}}},
      {"synConvolutionParamsV2",
       {{kActivation, kActivation + 2},
        {offsetof(synConvolutionParamsV2, pad), offsetof(synConvolutionParamsV2, paddingType)},
        {offsetof(synConvolutionParamsV2, reserved), kToEnd}}},
      {"synConvolution3DParams",
       {{offsetof(synConvolution3DParams, pad), offsetof(synConvolution3DParams, activation)},
        {kActivation3D, kActivation3D + 2},
        {offsetof(synConvolution3DParams, pad2), kToEnd}}},
      {"synConvolution3DParamsV2",
       {{offsetof(synConvolution3DParamsV2, pad), offsetof(synConvolution3DParamsV2, activation)},
        {kActivation3D, kActivation3D + 2},
        {offsetof(synConvolution3DParamsV2, pad2), offsetof(synConvolution3DParamsV2, paddingType)},
        {offsetof(synConvolution3DParamsV2, reserved), kToEnd}}},
      {"synSliceParamsV2", {{offsetof(synSliceParamsV2, pad), offsetof(synSliceParamsV2, starts)}}},
      {"synSliceAxisParamsV2", {{offsetof(synSliceAxisParamsV2, pad), offsetof(synSliceAxisParamsV2, begin)}}},
      {"synBeamParams", {{offsetof(synBeamParams, pad), kToEnd}}},
      {"ns_CastKernel::ParamsV4", {{offsetof(ns_CastKernel::ParamsV4, pad), kToEnd}}},
      {"ns_Reduction::ParamsV2", {{offsetof(ns_Reduction::ParamsV2, pad), kToEnd}}},
      {"ns_SoftmaxCrossEntropy::ParamsV3", {{offsetof(ns_SoftmaxCrossEntropy::ParamsV3, pad), kToEnd}}},
      {"ns_TopkNodeV2::ParamsV4",
       {{offsetof(ns_TopkNodeV2::ParamsV4, pad), offsetof(ns_TopkNodeV2::ParamsV4, isStable)},
        {offsetof(ns_TopkNodeV2::ParamsV4, pad2), kToEnd}}},
      {"ns_BatchNormKernel::ParamsV2", {{offsetof(ns_BatchNormKernel::ParamsV2, pad), kToEnd}}},
      {"ns_LayerNormKernel::Params",
       {{offsetof(ns_LayerNormKernel::Params, pad), offsetof(ns_LayerNormKernel::Params, eps)}}},
      {"ns_LayerNormKernel::ParamsNorm",
       {{offsetof(ns_LayerNormKernel::ParamsNorm, pad), offsetof(ns_LayerNormKernel::ParamsNorm, eps)}}},
      {"ns_ResizeKernel::Params",
       {{offsetof(ns_ResizeKernel::Params, pad), offsetof(ns_ResizeKernel::Params, cubicCoeffA)}}},
      {"ns_ScatterReduceKernel::Params", {{offsetof(ns_ScatterReduceKernel::Params, pad), kToEnd}}},
      {"ns_DropoutKernel::ParamsOptionalMaskOut",
       {{offsetof(ns_DropoutKernel::ParamsOptionalMaskOut, pad),
         offsetof(ns_DropoutKernel::ParamsOptionalMaskOut, isTraining)}}},
      {"ns_OptimizerSGD::Params", {{offsetof(ns_OptimizerSGD::Params, pad), kToEnd}}},
  };
  static const auto* const none = new std::vector<Bytes>;
  const auto found = table->find(struct_name);
  return found == table->end() ? *none : found->second;
}

// The versions of 88 and 104 bytes are prefixes of synConvolutionParamsV2.
std::string_view StructOf(const gaudi::Guid& guid, const gaudi::ParamsVersion& version) {
  if (version.struct_name != "?") return version.struct_name;
  for (const gaudi::ParamsVersion& other : guid.params) {
    if (other.struct_name == "synConvolutionParamsV2") return other.struct_name;
  }
  return version.struct_name;
}

}  // namespace

Verdict CheckParams(const gaudi::Guid& guid, Profile profile, const std::vector<char>& params) {
  if (guid.params.size() == 0) {
    if (params.empty() || !guid.is_proven) return {};
    return Violation(Rule::kParams, synInvalidArgument, guid.stem, ": params of ", params.size(),
                     " bytes; the node takes none");
  }
  for (const gaudi::ParamsVersion& version : guid.params) {
    if (version.size != params.size() || !version.IsIn(profile)) continue;
    for (const auto& [begin, end] : PaddingOf(StructOf(guid, version))) {
      for (size_t i = begin; i < end && i < params.size(); ++i) {
        if (params[i] == 0) continue;
        return Violation(Rule::kParams, synInvalidArgument, guid.stem, ": byte ", i, " of ", version.struct_name,
                         " is padding and not 0; clear the struct before filling it");
      }
    }
    return {};
  }
  std::string sizes;
  for (const gaudi::ParamsVersion& version : guid.params) {
    if (version.IsIn(profile)) sizes += Text(sizes.empty() ? "" : ", ", version.size);
  }
  return Violation(Rule::kParams, synInvalidArgument, guid.stem, ": params of ", params.size(),
                   " bytes; its versions in this release have ", sizes);
}

}  // namespace hpu::synapse_double

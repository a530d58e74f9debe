#include "plugin/backends/gaudi/check/example_shapes.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "plugin/backends/gaudi/synapse/params.h"

namespace hpu::gaudi {
namespace {

using synapse::Profile;
using synapse::synDataType;

using ShapesFunction = ExampleShapes (*)(synDataType type, Profile profile);
using ShapesTable = std::unordered_map<std::string_view, ShapesFunction>;

Sizes MatrixSizes() { return {8, 4}; }
Sizes ColumnSizes() { return {8}; }
Sizes ImageSizes() { return {8, 6, 6, 2}; }  // channels, width, height, batch
Sizes PooledImageSizes() { return {8, 3, 3, 2}; }
Sizes VolumeSizes() { return {8, 6, 6, 6, 2}; }
Sizes FilteredImageSizes() { return {4, 6, 6, 2}; }
Sizes FilteredVolumeSizes() { return {4, 6, 6, 6, 2}; }
Sizes FilterSizes() { return {4, 8, 3, 3}; }
Sizes VolumeFilterSizes() { return {4, 8, 3, 3, 3}; }
Sizes RowsSizes() { return {8, 1, 1, 4}; }
Sizes RowMomentsSizes() { return {1, 1, 1, 4}; }

// Bytes of a params struct that `fill` has filled.
template <typename Params, typename Fill>
std::string Filled(Fill fill) {
  Params params = {};
  fill(params);
  return ParamsBytes(params);
}

synapse::fint_t NumberOf(synDataType type, int value) {
  synapse::fint_t number;
  if (IsFloat(type)) {
    number.f = static_cast<float>(value);
  } else {
    number.i = value;
  }
  return number;
}

std::string ExampleAxis(uint32_t axis) {
  return Filled<synapse::synAxisParams>([&](auto& params) { params.axis = axis; });
}

// Products.

std::string Gemm(bool transpose_a, bool transpose_b) {
  return Filled<synapse::synGEMMParams>([&](auto& params) {
    params.transpose_a = transpose_a;
    params.transpose_b = transpose_b;
  });
}

// A filter of 3 by 3 that keeps the image's sizes.
template <typename Params>
std::string Convolution2D() {
  return Filled<Params>([](auto& params) {
    params.kW = params.kH = 3;
    params.dW = params.dH = 1;
    params.padL = params.padR = params.padT = params.padB = 1;
    params.dilW = params.dilH = 1;
    params.activation.numChannels = 1;
    params.nGroups = 1;
  });
}

template <typename Params>
std::string Convolution3D() {
  return Filled<Params>([](auto& params) {
    for (int d = 0; d < 3; ++d) {
      params.kernel[d] = 3;
      params.stride[d] = 1;
      params.padding[2 * d] = params.padding[2 * d + 1] = 1;
      params.dilation[d] = 1;
    }
    params.activation.numChannels = 1;
    params.nGroups = 1;
  });
}

std::string Convolution(Profile profile) {
  return profile == Profile::k1_5 ? Convolution2D<synapse::synConvolutionParams>()
                                  : Convolution2D<synapse::synConvolutionParamsV2>();
}

std::string VolumeConvolution(Profile profile) {
  return profile == Profile::k1_5 ? Convolution3D<synapse::synConvolution3DParams>()
                                  : Convolution3D<synapse::synConvolution3DParamsV2>();
}

ExampleShapes Gradient3D(Profile profile, const Sizes& second, const Sizes& result) {
  return {{FilteredVolumeSizes(), second}, {result}, VolumeConvolution(profile)};
}

void AddProductShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  t["gemm"] = [](synDataType, Profile) -> ExampleShapes { return {{{4, 3}, {5, 4}}, {{5, 3}}, Gemm(false, false)}; };
  t["gemm_dedx"] = [](synDataType, Profile) -> ExampleShapes {
    return {{{5, 3}, {5, 4}}, {{4, 3}}, Gemm(false, true)};
  };
  t["gemm_dedw"] = [](synDataType, Profile) -> ExampleShapes {
    return {{{5, 3}, {4, 3}}, {{5, 4}}, Gemm(true, false)};
  };
  t["batch_gemm"] = [](synDataType, Profile) -> ExampleShapes {
    return {{{4, 3, 2}, {5, 4, 2}}, {{5, 3, 2}}, Gemm(false, false)};
  };
  t["spatial_convolution"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{ImageSizes(), FilterSizes()}, {FilteredImageSizes()}, Convolution(profile)};
  };
  t["dedx"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{FilteredImageSizes(), FilterSizes()}, {ImageSizes()}, Convolution(profile)};
  };
  t["dedw"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{FilteredImageSizes(), ImageSizes()}, {FilterSizes()}, Convolution(profile)};
  };
  t["spatial_convolution3d"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{VolumeSizes(), VolumeFilterSizes()}, {FilteredVolumeSizes()}, VolumeConvolution(profile)};
  };
  t["dedx3d"] = [](synDataType, Profile profile) { return Gradient3D(profile, VolumeFilterSizes(), VolumeSizes()); };
  t["dedw3d"] = [](synDataType, Profile profile) { return Gradient3D(profile, VolumeSizes(), VolumeFilterSizes()); };
}

// Data movement.

template <typename Params>
std::string EveryOther() {
  return Filled<Params>([](auto& params) {
    for (uint32_t d = 0; d < MatrixSizes().size(); ++d) {
      params.axes[d] = d;
      params.ends[d] = static_cast<uint32_t>(MatrixSizes()[d]);
      params.steps[d] = 1;
    }
    params.steps[0] = 2;
  });
}

// Every other element of the rows of a matrix.
std::string SliceOfMatrix(Profile profile) {
  return profile == Profile::k1_5 ? EveryOther<synapse::synSliceParams>() : EveryOther<synapse::synSliceParamsV2>();
}

template <typename Params>
std::string SwapTwo() {
  return Filled<Params>([](auto& params) {
    params.tensorDim = 3;
    params.permutation[0] = 1;
    params.permutation[1] = 0;
    params.permutation[2] = 2;
  });
}

std::string StridesOfMatrix() {
  return Filled<synapse::synStridedOpParams>([](auto& params) {
    params.baseOffset = 2;
    params.strides[0] = 1;
    params.strides[1] = 5;
  });
}

// Another type of the same size.
synDataType SameSizeType(synDataType type) {
  switch (BytesOf(type)) {
    case 1:
      return type == synapse::syn_type_int8 ? synapse::syn_type_uint8 : synapse::syn_type_int8;
    case 2:
      return type == synapse::syn_type_int16 ? synapse::syn_type_bf16 : synapse::syn_type_int16;
    case 4:
      return type == synapse::syn_type_int32 ? synapse::syn_type_single : synapse::syn_type_int32;
    default:
      return type == synapse::syn_type_int64 ? synapse::syn_type_uint64 : synapse::syn_type_int64;
  }
}

void AddMovementShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  t["transpose"] = [](synDataType, Profile profile) -> ExampleShapes {
    const std::string params =
        profile == Profile::k1_5 ? SwapTwo<synapse::synTransposeParams>() : SwapTwo<synapse::synTransposeParamsNDims>();
    return {{{4, 3, 2}}, {{3, 4, 2}}, params};
  };
  t["concat"] = [](synDataType, Profile) -> ExampleShapes { return {{{4, 2}, {3, 2}}, {{7, 2}}, ExampleAxis(0)}; };
  t["split"] = [](synDataType, Profile) -> ExampleShapes { return {{{7, 2}}, {{4, 2}, {3, 2}}, ExampleAxis(0)}; };
  t["slice"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{MatrixSizes()}, {{4, 4}}, SliceOfMatrix(profile)};
  };
  t["slice_insert"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{MatrixSizes(), {4, 4}}, {MatrixSizes()}, SliceOfMatrix(profile)};
  };
  t["strided_slice_grad"] = [](synDataType, Profile profile) -> ExampleShapes {
    return {{{4, 4}}, {MatrixSizes()}, SliceOfMatrix(profile)};
  };
  t["strided_view"] = [](synDataType, Profile) -> ExampleShapes { return {{{32}}, {{4, 4}}, StridesOfMatrix()}; };
  t["strided_insert"] = [](synDataType, Profile) -> ExampleShapes {
    return {{{32}, {4, 4}}, {{32}}, StridesOfMatrix()};
  };
  t["reshape"] = [](synDataType, Profile) -> ExampleShapes { return {{MatrixSizes()}, {{4, 2, 4}}, ""}; };
  t["static_reshape"] = t["reshape"];
  t["squeeze"] = [](synDataType, Profile) -> ExampleShapes { return {{{4, 1, 2}}, {{4, 2}}, ExampleAxis(1)}; };
  t["expand_dims"] = [](synDataType, Profile) -> ExampleShapes { return {{{4, 2}}, {{4, 1, 2}}, ExampleAxis(1)}; };
  t["flatten"] = [](synDataType, Profile) -> ExampleShapes { return {{{4, 3, 2}}, {{12, 2}}, ExampleAxis(1)}; };
  t["broadcast"] = [](synDataType, Profile) -> ExampleShapes { return {{{8, 1}}, {MatrixSizes()}, ""}; };
  t["reinterpret_cast"] = [](synDataType type, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes()}, "", SameSizeType(type)};
  };
  t["reverse"] = [](synDataType, Profile) -> ExampleShapes { return {{MatrixSizes(), {1}}, {MatrixSizes()}, ""}; };
  t["pad_fwd"] = [](synDataType type, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {{11, 4}}, Filled<synapse::ns_PadKernel::Params>([&](auto& params) {
              params.value = NumberOf(type, 1);
              params.pads[0] = 1;
              params.pads[5] = 2;
            })};
  };
  t["tile_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {{16, 4}}, Filled<synapse::ns_TileKernel::Params>([](auto& params) {
              params.repeat[0] = 2;
              params.repeat[1] = params.repeat[2] = params.repeat[3] = 1;
            })};
  };
}

// Elementwise nodes with params, and nodes without operands.

void AddElementwiseShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  t["add_fwd"] = [](synDataType, Profile) -> ExampleShapes { return {{MatrixSizes(), {8, 1}}, {MatrixSizes()}, ""}; };
  t["add_bwd"] = [](synDataType, Profile) -> ExampleShapes { return {{MatrixSizes()}, {MatrixSizes(), {8, 1}}, ""}; };
  t["div_mod_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), MatrixSizes()},
            {MatrixSizes(), MatrixSizes()},
            ParamsBytes(synapse::ns_DivModKernel::Params{})};
  };
  t["clamp_pt_fwd"] = [](synDataType type, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes()}, Filled<synapse::ns_ClampKernel::Params>([&](auto& params) {
              params.lowerBound = NumberOf(type, 0);
              params.upperBound = NumberOf(type, 6);
            })};
  };
  t["bitshift_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), MatrixSizes()}, {MatrixSizes()}, ParamsBytes(synapse::ns_BitShiftKernel::Params{})};
  };
  t["elu_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes()}, Filled<synapse::ns_EluKernel::Params>([](auto& params) {
              params.alpha = 1;
            })};
  };
  t["leakyrelu_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes()}, Filled<synapse::ns_LeakyReluKernel::Params>([](auto& params) {
              params.alpha = 1;
            })};
  };
  t["gelu_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes(), MatrixSizes()}, ParamsBytes(synapse::ns_GeluKernel::Params{})};
  };
  t["cast"] = [](synDataType type, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes()}, Filled<synapse::ns_CastKernel::Params>([&](auto& params) {
              params.round_mode =
                  IsFloat(type) ? synapse::ns_CastKernel::CAST_ROUND_HALF_NE : synapse::ns_CastKernel::CAST_ROUND_ZERO;
            })};
  };
  t["constant"] = [](synDataType type, Profile) -> ExampleShapes {
    if (BytesOf(type) == sizeof(int64_t)) {
      return {{}, {MatrixSizes()}, Filled<synapse::ns_ConstantKernel::Params_v2>([](auto& params) {
                params.const_low = 1;
              })};
    }
    return {{}, {MatrixSizes()}, Filled<synapse::ns_ConstantKernel::Params>([&](auto& params) {
              params.constant = NumberOf(type, 1);
            })};
  };
  t["range"] = [](synDataType type, Profile) -> ExampleShapes {
    return {{}, {ColumnSizes()}, Filled<synapse::ns_RangeKernel::Params>([&](auto& params) {
              params.start = NumberOf(type, 0);
              params.limit = NumberOf(type, 8);
              params.delta = NumberOf(type, 1);
            })};
  };
  t["dropout_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {1}},
            {MatrixSizes(), MatrixSizes()},
            Filled<synapse::ns_DropoutKernel::Params>([](auto& params) { params.ratio = 0.5f; })};
  };
  t["dropout_bwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), MatrixSizes()},
            {MatrixSizes()},
            Filled<synapse::ns_DropoutKernel::Params>([](auto& params) { params.ratio = 0.5f; })};
  };
}

// Reductions over the fastest dimension of a matrix.

ExampleShapes ReduceOne(synDataType, Profile) {
  return {{MatrixSizes()}, {{1, 4}}, ParamsBytes(synapse::ns_Reduction::Params{})};
}

ExampleShapes ReduceMany(synDataType, Profile) {
  return {{MatrixSizes()}, {{1, 4}}, Filled<synapse::ns_Reduction::ParamsV2>([](auto& params) {
            params.reductionDimensionMask = 1;
            params.keepDim = true;
          })};
}

std::string CrossEntropy() {
  return Filled<synapse::ns_SoftmaxCrossEntropy::Params>([](auto& params) {
    params.mode = synapse::ns_SoftmaxCrossEntropy::CROSS_ENTROPY_MODE_MEAN;
    params.batchSize = static_cast<int32_t>(MatrixSizes()[1]);
  });
}

void AddReductionShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  for (const char* stem : {"reduce_sum_fwd", "reduce_mean_fwd", "reduce_max_fwd", "reduce_min_fwd", "reduce_prod_fwd",
                           "argmax_fwd", "argmin_fwd"}) {
    t[stem] = ReduceOne;
  }
  for (const char* stem :
       {"reduce_sum_multi_dim_fwd", "reduce_mean_multi_dim_fwd", "reduce_max_multi_dim_fwd", "reduce_min_multi_dim_fwd",
        "reduce_prod_multi_dim_fwd", "argmax_multi_dim_fwd", "argmin_multi_dim_fwd"}) {
    t[stem] = ReduceMany;
  }
  t["topk"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {{3, 4}, {3, 4}}, Filled<synapse::synBeamParams>([](auto& params) {
              params.bsw = 3;
              params.bottomK = true;
            })};
  };
  t["cumsum_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes()}, {MatrixSizes()}, ParamsBytes(synapse::ns_CumSumKernel::Params{})};
  };
  t["norm_moments_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    const Sizes moments = {ImageSizes()[0], 1, 1, 1};
    return {{ImageSizes()}, {moments, moments}, Filled<synapse::ns_NormMomentsKernel::Params>([](auto& params) {
              params.NormAxisBmp = 0b1110;
            })};
  };
  for (const char* stem : {"softmax_fwd", "logsoftmax_fwd"}) {
    t[stem] = [](synDataType, Profile) -> ExampleShapes {
      return {{MatrixSizes()}, {MatrixSizes()}, ParamsBytes(synapse::ns_Softmax::Params{})};
    };
  }
  for (const char* stem : {"softmax_bwd", "logsoftmax_bwd"}) {
    t[stem] = [](synDataType, Profile) -> ExampleShapes {
      return {{MatrixSizes(), MatrixSizes()}, {MatrixSizes()}, ParamsBytes(synapse::ns_Softmax::Params{})};
    };
  }
  t["softmax_cross_entropy_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {4}}, {{1}, MatrixSizes()}, CrossEntropy()};
  };
  t["softmax_cross_entropy_bwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {4}}, {MatrixSizes()}, CrossEntropy()};
  };
}

// Normalisation.

std::string BatchNorm() {
  return Filled<synapse::ns_BatchNormKernel::ParamsV2>([](auto& params) {
    params.momentum = 0.1f;
    params.epsilon = 1e-3f;
    params.isTraining = true;
  });
}

std::string LayerNorm() {
  return Filled<synapse::ns_LayerNormKernel::Params>([](auto& params) {
    params.epsValid = true;
    params.eps = 1e-5f;
  });
}

std::string Epsilon() {
  return Filled<synapse::synTfBatchNormalizationParams>([](auto& params) { params.variance_epsilon = 1e-3f; });
}

void AddNormalizationShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  t["moments_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes()}, {ColumnSizes(), ColumnSizes()}, ""};
  };
  t["tf_batch_normalization_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes()}, {ImageSizes()}, Epsilon()};
  };
  t["tf_fused_batch_norm_grad"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes(), ImageSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes()},
            {ImageSizes(), ColumnSizes(), ColumnSizes()},
            Epsilon()};
  };
  t["batch_norm_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes()},
            {ImageSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes()},
            BatchNorm()};
  };
  t["batch_norm_bwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes(), ImageSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes()},
            {ImageSizes(), ColumnSizes(), ColumnSizes()},
            BatchNorm()};
  };
  t["batch_norm_inf"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes(), ColumnSizes()}, {ImageSizes()}, BatchNorm()};
  };
  t["layer_norm_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {
        {RowsSizes(), ColumnSizes(), ColumnSizes()}, {RowsSizes(), RowMomentsSizes(), RowMomentsSizes()}, LayerNorm()};
  };
  t["layer_norm_bwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{RowsSizes(), RowsSizes(), RowMomentsSizes(), RowMomentsSizes(), ColumnSizes()},
            {RowsSizes(), ColumnSizes(), ColumnSizes()},
            LayerNorm()};
  };
}

// Windows of 2 by 2 without overlap.
template <typename Params>
Params Window() {
  Params params = {};
  params.kernel_w = params.kernel_h = 2;
  params.stride_w = params.stride_h = 2;
  params.dilation_w = params.dilation_h = 1;
  params.pooling_convention = synapse::POOLING_CONVENTION_VALID;
  return params;
}

std::string MaxWindow() { return ParamsBytes(Window<synapse::ns_SpatialReduction::Params>()); }

std::string MeanWindow() {
  auto params = Window<synapse::ns_AveragePooling::Params>();
  params.includePadding = 1;
  return ParamsBytes(params);
}

void AddPoolingShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  t["maxpool_2d_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes()}, {PooledImageSizes(), PooledImageSizes()}, MaxWindow()};
  };
  t["maxpool_2d_bwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{PooledImageSizes(), PooledImageSizes()}, {ImageSizes()}, MaxWindow()};
  };
  t["avg_pool_2d_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{ImageSizes()}, {PooledImageSizes()}, MeanWindow()};
  };
  t["avg_pool_2d_bwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{PooledImageSizes()}, {ImageSizes()}, MeanWindow()};
  };
}

// Gathers and scatters.

void AddIndexingShapes(ShapesTable* table) {
  ShapesTable& t = *table;
  t["gather_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {3}}, {{8, 3}}, Filled<synapse::ns_GatherKernel::Params>([](auto& params) {
              params.axis = 1;
            })};
  };
  t["gather_elements_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {3, 4}}, {{3, 4}}, ParamsBytes(synapse::ns_GatherElementsKernel::Params{})};
  };
  t["scatter_nd_onnx_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {1, 3}, {8, 3}}, {MatrixSizes()}, ""};
  };
  t["unsorted_segment_sum_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{MatrixSizes(), {4}}, {{8, 3}}, Filled<synapse::ns_UnsortedSegmentSum::Params>([](auto& params) {
              params.numSegments = 3;
            })};
  };
  t["one_hot_fwd"] = [](synDataType, Profile) -> ExampleShapes {
    return {{{4}}, {MatrixSizes()}, Filled<synapse::ns_OneHotKernel::Params>([](auto& params) {
              params.depth = 8;
              params.on_value = 1;
            })};
  };
}

const ShapesTable& Table() {
  static const auto* const table = [] {
    auto* all = new ShapesTable;
    AddProductShapes(all);
    AddMovementShapes(all);
    AddElementwiseShapes(all);
    AddReductionShapes(all);
    AddNormalizationShapes(all);
    AddPoolingShapes(all);
    AddIndexingShapes(all);
    return all;
  }();
  return *table;
}

bool HasParams(const Guid& guid, size_t size) {
  for (const ParamsVersion& version : guid.params) {
    if (version.size == size) return true;
  }
  return false;
}

// All required operands and results with the sizes of a matrix.
std::vector<Sizes> MatrixForEach(const GuidList<GuidOperand>& slots) {
  std::vector<Sizes> sizes;
  for (const GuidOperand& slot : slots) {
    if (slot.presence != Presence::kOptional) sizes.push_back(MatrixSizes());
  }
  return sizes;
}

}  // namespace

std::optional<ExampleShapes> ShapesOf(const Guid& guid, synDataType type, Profile profile) {
  const auto found = Table().find(guid.stem);
  if (found != Table().end()) {
    ExampleShapes shapes = found->second(type, profile);
    const bool is_known = guid.results.size() > 0 && (guid.operands.size() > 0 || shapes.operands.empty());
    return is_known ? std::optional(std::move(shapes)) : std::nullopt;
  }
  if (guid.operands.size() == 0 || guid.results.size() == 0 || !HasParams(guid, 0)) return std::nullopt;
  return ExampleShapes{MatrixForEach(guid.operands), MatrixForEach(guid.results), ""};
}

}  // namespace hpu::gaudi

// Params structs of SynapseAI nodes. Graph-compiler nodes have structs syn…Params, TPC kernels structs Params of a
// namespace ns_….
//
// The size passed to synNodeCreate selects a struct's version, so pass exactly the version that was filled. Recipes
// contain the bytes of params, so all padding is a named member, and `Params params = {}` sets it to zero.
//
// "derived" marks a layout or a name that the reference implies but does not state.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PARAMS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PARAMS_H_

#include <cstddef>
#include <cstdint>

namespace hpu::synapse {

// Maximum size of params of most nodes. synSliceParamsV2 is larger.
inline constexpr size_t MAX_USER_PARAMS_SIZE = 128;

// A 4-byte scalar in the element type of the kernel.
union fint_t {
  float f;
  int32_t i;
};

// Convolutions.

struct synActivationParams {
  bool reluEnable;
  bool resAfterPWL;
  uint16_t pad;
  uint32_t numChannels;  // 1 by default
  uint64_t pwlNegCoeff;
  uint64_t pwlPosCoeff;
};
static_assert(sizeof(synActivationParams) == 24, "layout of SynapseAI 1.18");

enum synConvolutionPaddingType : int32_t { PADDING_EXPLICIT = 0, PADDING_SAME = 1 };

struct synConvolutionParams {
  uint32_t kW, kH;
  uint32_t dW, dH;  // stride
  int32_t padL, padR, padT, padB;
  uint32_t dilW, dilH;
  synActivationParams activation;
  uint32_t nGroups;
  uint32_t pad;
};
static_assert(offsetof(synConvolutionParams, activation) == 40, "layout of SynapseAI 1.18");
static_assert(offsetof(synConvolutionParams, nGroups) == 64, "layout of SynapseAI 1.18");
static_assert(sizeof(synConvolutionParams) == 72, "layout of SynapseAI 1.18");

// Graphs of other releases hold versions of 88 and 104 bytes, with fewer reserved members (derived).
struct synConvolutionParamsV2 {
  uint32_t kW, kH;
  uint32_t dW, dH;  // stride
  int32_t padL, padR, padT, padB;
  uint32_t dilW, dilH;
  synActivationParams activation;
  uint32_t nGroups;
  uint32_t pad;
  synConvolutionPaddingType paddingType;
  uint32_t reserved[9];
};
static_assert(offsetof(synConvolutionParamsV2, paddingType) == 72, "layout of SynapseAI 1.18");
static_assert(sizeof(synConvolutionParamsV2) == 112, "layout of SynapseAI 1.18");

struct synConvolution3DParams {
  uint32_t kernel[3];    // width, height, depth
  uint32_t stride[3];    // width, height, depth
  int32_t padding[6];    // left, right, top, bottom, front, back
  uint32_t dilation[3];  // width, height, depth
  uint32_t pad;
  synActivationParams activation;
  uint32_t nGroups;
  uint32_t pad2;
};
static_assert(offsetof(synConvolution3DParams, activation) == 64, "layout of SynapseAI 1.18");
static_assert(sizeof(synConvolution3DParams) == 96, "layout of SynapseAI 1.18");

// The size is known from graphs, the members after `pad2` are derived from synConvolutionParamsV2.
struct synConvolution3DParamsV2 {
  uint32_t kernel[3];
  uint32_t stride[3];
  int32_t padding[6];
  uint32_t dilation[3];
  uint32_t pad;
  synActivationParams activation;
  uint32_t nGroups;
  uint32_t pad2;
  synConvolutionPaddingType paddingType;
  uint32_t reserved[7];
};
static_assert(sizeof(synConvolution3DParamsV2) == 128, "size in graphs of SynapseAI 1.18");

// Products.

struct synGEMMParams {
  bool transpose_a;
  bool transpose_b;
};
static_assert(sizeof(synGEMMParams) == 2, "layout of SynapseAI 1.18");

struct synEinsumParams {
  char equation[51];
};
static_assert(sizeof(synEinsumParams) == 51, "layout of SynapseAI 1.18");

// Data movement. Axes count from the fastest dimension.

struct synTransposeParams {
  uint32_t permutation[5];  // TransposePermutationDim
  uint32_t tensorDim;
};
static_assert(sizeof(synTransposeParams) == 24, "layout of SynapseAI 1.18");

struct synTransposeParamsNDims {
  uint32_t tensorDim;
  uint32_t permutation[25];
};
static_assert(sizeof(synTransposeParamsNDims) == 104, "layout of SynapseAI 1.18");

struct synAxisParams {
  uint32_t axis;
};
static_assert(sizeof(synAxisParams) == 4, "layout of SynapseAI 1.18");
using synConcatenateParams = synAxisParams;
using synSplitParams = synAxisParams;
using synExpandDimsParams = synAxisParams;
using synSqueezeParams = synAxisParams;
using synFlattenParams = synAxisParams;

struct synSliceParams {
  uint32_t axes[5];
  uint32_t starts[5];
  uint32_t ends[5];
  uint32_t steps[5];
};
static_assert(sizeof(synSliceParams) == 80, "layout of SynapseAI 1.5");

// Between 1.5 and 1.18. The size is known from graphs, name and members are derived.
struct synSliceParams25Dims {
  uint32_t axes[25];
  uint32_t starts[25];
  uint32_t ends[25];
  uint32_t steps[25];
};
static_assert(sizeof(synSliceParams25Dims) == 400, "size in graphs before SynapseAI 1.18");

struct synSliceParamsV2 {
  uint32_t axes[25];
  uint32_t pad;
  uint64_t starts[25];
  uint64_t ends[25];
  uint64_t steps[25];
};
static_assert(offsetof(synSliceParamsV2, starts) == 104, "layout of SynapseAI 1.18");
static_assert(sizeof(synSliceParamsV2) == 704, "layout of SynapseAI 1.18");

struct synSliceAxisParamsV2 {
  uint32_t axis;
  uint32_t pad;
  uint64_t begin;
  uint64_t end;
};
static_assert(sizeof(synSliceAxisParamsV2) == 24, "layout of SynapseAI 1.18");

struct synStridedOpParams {
  uint64_t baseOffset;
  uint64_t strides[25];
};
static_assert(sizeof(synStridedOpParams) == 208, "layout of SynapseAI 1.18");

struct synDepthSpaceParams {
  uint32_t blockSize;
  uint32_t mode;
};
static_assert(sizeof(synDepthSpaceParams) == 8, "layout of SynapseAI 1.18");

// Other graph-compiler nodes.

// topk
struct synBeamParams {
  uint32_t bsw;
  uint32_t axis;
  bool bottomK;
  uint8_t pad[3];
};
static_assert(sizeof(synBeamParams) == 12, "layout of SynapseAI 1.18");

struct synTfBatchNormalizationParams {
  float variance_epsilon;
};
static_assert(sizeof(synTfBatchNormalizationParams) == 4, "layout of SynapseAI 1.18");

struct synAssertAsyncParams {
  uint64_t msg_id;
};
static_assert(sizeof(synAssertAsyncParams) == 8, "layout of SynapseAI 1.18");

// TPC kernels: elementwise.

namespace ns_ReluKernel {
struct Params {
  fint_t threshold;
};
struct ParamsV2 {
  fint_t threshold;
  fint_t replacementValue;
};
static_assert(sizeof(Params) == 4 && sizeof(ParamsV2) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_ReluKernel

namespace ns_GeluKernel {
struct Params {
  bool approximation;
};
static_assert(sizeof(Params) == 1, "layout of SynapseAI 1.18");
}  // namespace ns_GeluKernel

namespace ns_EluKernel {
struct Params {
  float alpha;
};
static_assert(sizeof(Params) == 4, "layout of SynapseAI 1.18");
}  // namespace ns_EluKernel

namespace ns_LeakyReluKernel {
struct Params {
  double alpha;
};
static_assert(sizeof(Params) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_LeakyReluKernel

namespace ns_ClampKernel {
struct Params {
  fint_t upperBound;
  fint_t lowerBound;
};
static_assert(sizeof(Params) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_ClampKernel

namespace ns_ConstantKernel {
struct Params {
  fint_t constant;
};
// For 64-bit types. Derived: the two halves replace `constant`.
struct Params_v2 {
  int32_t const_low;
  int32_t const_high;
};
static_assert(sizeof(Params) == 4 && sizeof(Params_v2) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_ConstantKernel

namespace ns_CastKernel {
enum CastF32RoundMode_t : uint32_t {
  CAST_ROUND_HALF_NE = 0,
  CAST_ROUND_DOWN = 1,
  CAST_ROUND_UP = 2,
  CAST_ROUND_SR = 3,
  CAST_ROUND_ZERO = 4,
  CAST_ROUND_DEFAULT = 5,
  CAST_ROUND_HALF_AZ = 6,
  CAST_ROUND_SFTZ = 8,
};
struct Params {
  CastF32RoundMode_t round_mode;
};
struct ParamsV2 {
  CastF32RoundMode_t round_mode;
  uint32_t seed;
};
// The values of `mode` are unknown.
struct ParamsV3 {
  CastF32RoundMode_t round_mode;
  uint32_t seed;
  uint32_t mode;
};
struct ParamsV4 {
  CastF32RoundMode_t round_mode;
  uint32_t seed;
  uint32_t mode;
  bool safeCastCheck;
  uint8_t pad[3];
};
static_assert(sizeof(Params) == 4, "layout of SynapseAI 1.18");
static_assert(sizeof(ParamsV2) == 8 && sizeof(ParamsV3) == 12 && sizeof(ParamsV4) == 16, "derived");
}  // namespace ns_CastKernel

// div_mod_fwd. Derived: the member's type.
namespace ns_DivModKernel {
struct Params {
  bool isPyCompatible;
};
static_assert(sizeof(Params) == 1, "derived");
}  // namespace ns_DivModKernel

// bitshift_fwd. Derived: the type and the values of `direction`.
namespace ns_BitShiftKernel {
enum BitShiftDirection_t : uint32_t { BIT_SHIFT_LEFT = 0, BIT_SHIFT_RIGHT = 1 };
struct Params {
  BitShiftDirection_t direction;
};
static_assert(sizeof(Params) == 4, "derived");
}  // namespace ns_BitShiftKernel

namespace ns_RangeKernel {
struct Params {
  fint_t start;
  fint_t limit;
  fint_t delta;
};
static_assert(sizeof(Params) == 12, "layout of SynapseAI 1.18");
}  // namespace ns_RangeKernel

// TPC kernels: reductions.

namespace ns_Reduction {
struct Params {
  uint32_t reductionDimension;
};
// Bit n of the mask is dimension n, counted from the fastest.
struct ParamsV2 {
  uint32_t reductionDimensionMask;
  bool keepDim;
  uint8_t pad[3];
};
static_assert(sizeof(Params) == 4 && sizeof(ParamsV2) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_Reduction

// norm_moments_fwd. Graphs hold 4 bytes, a mask of dimensions; the names are derived.
namespace ns_NormMomentsKernel {
struct Params {
  uint32_t NormAxisBmp;
};
static_assert(sizeof(Params) == 4, "size in graphs of SynapseAI 1.18");
}  // namespace ns_NormMomentsKernel

namespace ns_CumSumKernel {
struct Params {
  int32_t axis;
  int32_t exclusive;
  int32_t reverse;
};
static_assert(sizeof(Params) == 12, "layout of SynapseAI 1.18");
}  // namespace ns_CumSumKernel

// V2 is unknown; V3 to V7 add dataTypeSize, validCountAxis, is_approximation, triangularMode and mode.
namespace ns_Softmax {
struct Params {
  int32_t dim;
};
static_assert(sizeof(Params) == 4, "layout of SynapseAI 1.18");
}  // namespace ns_Softmax

// V4 and V5 add the flags `sparse` and `approx` at unknown offsets.
namespace ns_SoftmaxCrossEntropy {
enum ESoftmaxCrossEntropyMode_t : uint32_t {
  CROSS_ENTROPY_MODE_SUM = 0,
  CROSS_ENTROPY_MODE_MEAN = 1,
  CROSS_ENTROPY_MODE_NO_REDUCTION = 2,
};
struct Params {
  ESoftmaxCrossEntropyMode_t mode;
  int32_t batchSize;
};
struct ParamsV2 {
  ESoftmaxCrossEntropyMode_t mode;
  int32_t batchSize;
  int32_t axis;
};
struct ParamsV3 {
  ESoftmaxCrossEntropyMode_t mode;
  int32_t batchSize;
  int32_t axis;
  bool isTfMode;
  uint8_t pad[3];
};
static_assert(sizeof(Params) == 8, "layout of SynapseAI 1.18");
static_assert(sizeof(ParamsV2) == 12 && sizeof(ParamsV3) == 16, "derived");
}  // namespace ns_SoftmaxCrossEntropy

// topk. More members of V4 and later versions are unknown.
namespace ns_TopkNodeV2 {
struct Params {
  uint32_t bsw;
};
// Derived from synBeamParams.
struct ParamsV2 {
  uint32_t bsw;
  uint32_t axis;
};
struct ParamsV3 {
  uint32_t bsw;
  uint32_t axis;
  bool bottomK;
  uint8_t pad[3];
};
// Derived: a version is strictly larger than the one before.
struct ParamsV4 {
  uint32_t bsw;
  uint32_t axis;
  bool bottomK;
  uint8_t pad[3];
  bool isStable;
  uint8_t pad2[3];
};
static_assert(sizeof(Params) == 4, "layout of SynapseAI 1.18");
static_assert(sizeof(ParamsV2) == 8 && sizeof(ParamsV3) == 12 && sizeof(ParamsV4) == 16, "derived");
}  // namespace ns_TopkNodeV2

// TPC kernels: normalisation.

namespace ns_BatchNormKernel {
struct Params {
  fint_t threshold;
  float momentum;
  float epsilon;
};
struct ParamsV2 {
  fint_t threshold;
  float momentum;
  float epsilon;
  bool isTraining;
  uint8_t pad[3];
};
static_assert(sizeof(Params) == 12 && sizeof(ParamsV2) == 16, "layout of SynapseAI 1.18");
}  // namespace ns_BatchNormKernel

namespace ns_LayerNormKernel {
struct Params {
  bool epsValid;
  uint8_t pad[3];
  float eps;
};
struct ParamsNorm {
  bool epsValid;
  uint8_t pad[3];
  float eps;
  int32_t NormAxisBmp;
  int32_t ParamAxisBmp;
};
struct ParamsPt {
  bool epsValid;
  uint8_t pad[3];
  float eps;
  uint32_t normalizedShapeDims;
};
// Derived: it extends Params.
struct ParamsRmsNorm {
  bool epsValid;
  uint8_t pad[3];
  float eps;
  bool fastMath;
  uint8_t pad2[3];
};
static_assert(sizeof(Params) == 8 && sizeof(ParamsNorm) == 16, "layout of SynapseAI 1.18");
static_assert(sizeof(ParamsPt) == 12 && sizeof(ParamsRmsNorm) == 12, "derived");
}  // namespace ns_LayerNormKernel

namespace ns_LrnKernel {
struct Params {
  float alpha;
  float beta;
  float knorm;
  int32_t nsize;
};
static_assert(sizeof(Params) == 16, "layout of SynapseAI 1.18");
}  // namespace ns_LrnKernel

// TPC kernels: windows and images.

enum EPoolingConvention : uint32_t {
  POOLING_CONVENTION_VALID = 0,
  POOLING_CONVENTION_FULL = 1,
  POOLING_CONVENTION_SAME = 2,
  POOLING_CONVENTION_FULL_PYTORCH = 3,
};

// maxpool_2d
namespace ns_SpatialReduction {
struct Params {
  int32_t pad_w_begin, pad_w_end;
  int32_t pad_h_begin, pad_h_end;
  int32_t kernel_w, kernel_h;
  int32_t stride_w, stride_h;
  int32_t dilation_w, dilation_h;
  EPoolingConvention pooling_convention;
};
static_assert(sizeof(Params) == 44, "layout of SynapseAI 1.18");
}  // namespace ns_SpatialReduction

// avg_pool_2d
namespace ns_AveragePooling {
struct Params {
  int32_t pad_w_begin, pad_w_end;
  int32_t pad_h_begin, pad_h_end;
  int32_t kernel_w, kernel_h;
  int32_t stride_w, stride_h;
  int32_t dilation_w, dilation_h;
  EPoolingConvention pooling_convention;
  int32_t includePadding;
};
static_assert(sizeof(Params) == 48, "layout of SynapseAI 1.18");
}  // namespace ns_AveragePooling

// The values of the modes are unknown. The size is derived.
namespace ns_ResizeKernel {
struct Params {
  uint32_t mode;
  float scaleDim1, scaleDim2, scaleDim3;
  uint32_t coordTransMode;
  uint32_t nearestMode;
  bool excludeOutside;
  bool useScales;
  uint8_t pad[2];
  float cubicCoeffA;
  int32_t size1, size2, size3;
};
static_assert(sizeof(Params) == 44, "derived");
}  // namespace ns_ResizeKernel

// The values of `mode` are unknown.
namespace ns_CropAndResizeKernel {
struct Params {
  uint32_t mode;
  float extrapolationValue;
};
static_assert(sizeof(Params) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_CropAndResizeKernel

// TPC kernels: data movement.

// Pads before each of 5 dimensions, then after each (derived).
namespace ns_PadKernel {
struct Params {
  fint_t value;
  uint32_t pads[10];
};
static_assert(sizeof(Params) == 44, "layout of SynapseAI 1.18");
}  // namespace ns_PadKernel

// Derived: `mode` comes last. Its values are unknown.
namespace ns_PadKernelEx {
struct Params {
  fint_t value;
  uint32_t pads[10];
  uint32_t mode;
};
static_assert(sizeof(Params) == 48, "layout of SynapseAI 1.18");
}  // namespace ns_PadKernelEx

namespace ns_TileKernel {
struct Params {
  int32_t repeat[4];
};
struct ParamsV2 {
  int32_t repeat[5];
};
static_assert(sizeof(Params) == 16 && sizeof(ParamsV2) == 20, "layout of SynapseAI 1.18");
}  // namespace ns_TileKernel

namespace ns_GatherKernel {
struct Params {
  int32_t axis;
};
struct ParamsV2 {
  int32_t axis;
  int32_t batchDims;
};
static_assert(sizeof(Params) == 4 && sizeof(ParamsV2) == 8, "layout of SynapseAI 1.18");
}  // namespace ns_GatherKernel

// Derived: namespace and type.
namespace ns_GatherElementsKernel {
struct Params {
  int32_t axis;
};
static_assert(sizeof(Params) == 4, "derived");
}  // namespace ns_GatherElementsKernel

namespace ns_OneHotKernel {
struct Params {
  int32_t axis;
  int32_t depth;
  float on_value;
  float off_value;
};
static_assert(sizeof(Params) == 16, "layout of SynapseAI 1.18");
}  // namespace ns_OneHotKernel

namespace ns_UnsortedSegmentSum {
struct Params {
  int32_t numSegments;
};
static_assert(sizeof(Params) == 4, "layout of SynapseAI 1.18");
}  // namespace ns_UnsortedSegmentSum

namespace ns_ScatterNDKernel {
struct Params {
  int32_t origIndicesDims;
  int32_t origIndicesShape[5];
};
static_assert(sizeof(Params) == 24, "layout of SynapseAI 1.18");
}  // namespace ns_ScatterNDKernel

// scatter_reduce_fwd. Derived: namespace and types. The values of `mode` are unknown.
namespace ns_ScatterReduceKernel {
struct Params {
  uint32_t mode;
  bool include_self;
  uint8_t pad[3];
};
static_assert(sizeof(Params) == 8, "derived");
}  // namespace ns_ScatterReduceKernel

// TPC kernels: random numbers.

namespace ns_DropoutKernel {
struct Params {
  float ratio;
  uint32_t seed;
};
// Derived: one later version has both members.
struct ParamsOptionalMaskOut {
  float ratio;
  uint32_t seed;
  bool disableMaskOut;
  uint8_t pad[3];
  int32_t isTraining;
};
static_assert(sizeof(Params) == 8, "layout of SynapseAI 1.18");
static_assert(sizeof(ParamsOptionalMaskOut) == 16, "derived");
}  // namespace ns_DropoutKernel

namespace ns_RandomUniform {
struct Params {
  float low;
  float high;
  uint32_t seed;
};
static_assert(sizeof(Params) == 12, "layout of SynapseAI 1.18");
}  // namespace ns_RandomUniform

namespace ns_PhiloxRandomUniform {
struct Params {
  float low;
  float high;
  uint32_t seed;
};
// Derived: the type of `counterInitial`.
struct ParamsV2 {
  float low;
  float high;
  uint32_t seed;
  uint32_t counterInitial;
};
static_assert(sizeof(Params) == 12, "layout of SynapseAI 1.18");
static_assert(sizeof(ParamsV2) == 16, "derived");
}  // namespace ns_PhiloxRandomUniform

namespace ns_RandomNormal {
struct Params {
  float mean;
  float stddev;
  uint32_t seed;
};
static_assert(sizeof(Params) == 12, "layout of SynapseAI 1.18");
}  // namespace ns_RandomNormal

// TPC kernels: optimizers.

namespace ns_OptimizerSGD {
struct Params {
  float wd;
  float mom;
  float damp;
  bool nesterov;
  uint8_t pad[3];
};
static_assert(sizeof(Params) == 16, "layout of SynapseAI 1.18");
}  // namespace ns_OptimizerSGD

namespace ns_ResourceApplyNesterov {
struct Params {
  bool use_nesterov;
};
static_assert(sizeof(Params) == 1, "layout of SynapseAI 1.18");
}  // namespace ns_ResourceApplyNesterov

namespace ns_ResourceApplyUpdateSlots {
struct Params {
  bool update_slots;
};
static_assert(sizeof(Params) == 1, "layout of SynapseAI 1.18");
}  // namespace ns_ResourceApplyUpdateSlots

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PARAMS_H_

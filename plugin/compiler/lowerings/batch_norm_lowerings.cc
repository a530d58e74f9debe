// Direct lowerings of batch normalisation. TensorFlow's own lowerings build, rewrite and translate an MLIR module for
// each op, which takes 2 to 3 ms. These lowerings build the same programs directly.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/util/tensor_format.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// Base class with the attributes of both ops.
class BatchNormLowering : public XlaOpKernel {
 public:
  explicit BatchNormLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES_OK(construction, construction->GetAttr("is_training", &is_training_));
    std::string format;
    OP_REQUIRES_OK(construction, construction->GetAttr("data_format", &format));
    OP_REQUIRES(construction, tensorflow::FormatFromString(format, &format_),
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": invalid data_format '", format, "', expected NHWC or NCHW")));
  }

 protected:
  int64_t FeatureDimension(int64_t rank) const {
    return tensorflow::GetTensorFeatureDimIndex(static_cast<int>(rank), format_);
  }

  // The input with the type of the statistics, float32.
  static XlaOp Wide(XlaOpKernelContext* context, int input) {
    const XlaOp value = context->Input(input);
    return context->input_xla_type(input) == xla::F32 ? value : xla::ConvertElementType(value, xla::F32);
  }

  static XlaOp Narrow(XlaOp value, xla::PrimitiveType type) {
    return type == xla::F32 ? value : xla::ConvertElementType(value, type);
  }

  static XlaOp Filled(xla::XlaBuilder* builder, float value, int64_t size) {
    return xla::Broadcast(xla::ConstantR0<float>(builder, value), {size});
  }

  // The feature maps' number of elements for each feature, float32. `maps` has a dynamic dimension.
  static XlaOp CountSamples(XlaOp maps, const xla::Shape& shape, int64_t feature) {
    XlaOp samples = xla::One(maps.builder(), xla::S32);
    for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
      if (d != feature) samples = samples * xla::GetDimensionSize(maps, d);
    }
    return xla::ConvertElementType(samples, xla::F32);
  }

  // XLA's padder computes statistics for the bound of a dynamic number of features.
  absl::Status CheckFeatures(const xla::Shape& shape, int64_t feature) const {
    if (!shape.is_dynamic_dimension(feature)) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat(name(), ": ", type_string(),
                                                 " does not support a dynamic number of features, got shape ",
                                                 shape.ToString(), "; make dimension ", feature, " static"));
  }

  // The value of results that only CUDA's kernels use.
  static XlaOp NoValue(xla::XlaBuilder* builder) {
    return xla::ConstantLiteral(builder, xla::LiteralUtil::CreateR1<float>({}));
  }

  float epsilon_;
  bool is_training_;

 private:
  tensorflow::TensorFormat format_;
};

class FusedBatchNormLowering : public BatchNormLowering {
 public:
  explicit FusedBatchNormLowering(OpKernelConstruction* construction) : BatchNormLowering(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("exponential_avg_factor", &factor_));
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    const int64_t feature = FeatureDimension(shape->dimensions_size());
    OP_REQUIRES_OK(context, CheckFeatures(*shape, feature));
    const xla::PrimitiveType type = context->input_xla_type(0);
    const XlaOp x = Wide(context, 0), scale = context->Input(1), offset = context->Input(2);
    const XlaOp mean = context->Input(3), variance = context->Input(4);
    context->SetOutput(5, NoValue(context->builder()));
    if (!is_training_) {
      context->SetOutput(0, Narrow(xla::BatchNormInference(x, scale, offset, mean, variance, epsilon_, feature), type));
      for (const int output : {1, 3}) {
        context->SetOutput(output, mean);
        context->SetOutput(output + 1, variance);
      }
      return;
    }
    const XlaOp norm = xla::BatchNormTraining(x, scale, offset, epsilon_, feature);
    const XlaOp batch_mean = xla::GetTupleElement(norm, 1), batch_variance = xla::GetTupleElement(norm, 2);
    const int64_t channels = shape->dimensions(feature);
    const int64_t samples = channels == 0 ? 0 : xla::ShapeUtil::ElementsIn(*shape) / channels;
    // Bessel's correction: the result is the unbiased estimate of the variance.
    const double correction = static_cast<double>(samples) / static_cast<double>(std::max<int64_t>(1, samples - 1));
    XlaOp unbiased = batch_variance;
    if (shape->is_dynamic()) {
      const XlaOp count = CountSamples(context->Input(0), *shape, feature);
      unbiased = unbiased * (count / xla::Max(count - xla::ScalarLike(count, 1), xla::ScalarLike(count, 1)));
    } else if (correction != 1) {
      unbiased = unbiased * Filled(context->builder(), static_cast<float>(correction), channels);
    }
    context->SetOutput(0, Narrow(xla::GetTupleElement(norm, 0), type));
    if (factor_ == 1.0F) {
      context->SetOutput(1, batch_mean);
      context->SetOutput(2, unbiased);
    } else {
      // Moving averages, in which the batch has the weight exponential_avg_factor.
      const XlaOp weight = Filled(context->builder(), factor_, channels);
      const XlaOp rest = Filled(context->builder(), 1.0F - factor_, channels);
      context->SetOutput(1, mean * rest + batch_mean * weight);
      context->SetOutput(2, variance * rest + unbiased * weight);
    }
    context->SetOutput(3, batch_mean);
    context->SetOutput(4, batch_variance);
  }

 private:
  float factor_;
};

class FusedBatchNormGradLowering : public BatchNormLowering {
 public:
  using BatchNormLowering::BatchNormLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, shape.status());
    const int64_t rank = shape->dimensions_size();
    const int64_t feature = FeatureDimension(rank);
    OP_REQUIRES_OK(context, CheckFeatures(*shape, feature));
    const xla::PrimitiveType type = context->input_xla_type(1);
    const XlaOp gradient = Wide(context, 0), x = Wide(context, 1), scale = context->Input(2);
    const XlaOp mean = context->Input(3), variance = context->Input(4);
    const XlaOp no_value = NoValue(context->builder());
    for (const int output : {3, 4}) context->SetOutput(output, no_value);
    if (is_training_) {
      const XlaOp gradients = xla::BatchNormGrad(x, scale, mean, variance, gradient, epsilon_, feature);
      context->SetOutput(0, Narrow(xla::GetTupleElement(gradients, 0), type));
      for (const int output : {1, 2}) {
        XlaOp statistic = xla::GetTupleElement(gradients, output);
        if (shape->is_dynamic()) {  // a sum over no samples is 0
          const XlaOp count = CountSamples(context->Input(1), *shape, feature);
          statistic =
              xla::Select(xla::Broadcast(xla::Eq(count, xla::ScalarLike(count, 0)), {shape->dimensions(feature)}),
                          xla::ZerosLike(statistic), statistic);
        }
        context->SetOutput(output, statistic);
      }
      return;
    }
    std::vector<int64_t> others;
    for (int64_t dimension = 0; dimension < rank; ++dimension) {
      if (dimension != feature) others.push_back(dimension);
    }
    xla::XlaBuilder* builder = context->builder();
    const absl::Span<const int64_t> sizes = shape->dimensions();
    // Sums start at -0, because x + -0 is x even if x is -0.
    const XlaOp nothing = xla::ConstantR0<float>(builder, -0.0F);
    const auto sum = [&](XlaOp values) {
      return xla::Reduce(values, nothing, xla::CreateScalarAddComputation(xla::F32, builder), others);
    };
    const auto wide = [&](XlaOp channels) { return xla::BroadcastInDim(channels, sizes, {feature}); };
    const int64_t channels = sizes[feature];
    const XlaOp inverse_deviation = xla::Rsqrt(variance + Filled(builder, epsilon_, channels));
    context->SetOutput(0, Narrow(gradient * wide(scale * inverse_deviation), type));
    context->SetOutput(1, inverse_deviation * sum(gradient * (x - wide(mean))));
    context->SetOutput(2, sum(gradient));
  }
};

REGISTER_XLA_OP(Name("FusedBatchNormV3").Device(kCompilationDevice), FusedBatchNormLowering)
REGISTER_XLA_OP(Name("FusedBatchNormGradV3").Device(kCompilationDevice), FusedBatchNormGradLowering)

}  // namespace
}  // namespace hpu

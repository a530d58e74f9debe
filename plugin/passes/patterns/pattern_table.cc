// Pattern table. docs/developer/patterns.md describes each pattern. tests/passes/test_patterns.py tests that each
// pattern matches graphs of TensorFlow or Keras, and that the fused op returns the same values.
#include "plugin/passes/patterns/pattern.h"
#include "plugin/passes/patterns/pattern_checks.h"

namespace hpu::passes {
namespace {

// Shared text of entries that differ only in the activation.
#define HPU_BATCH_NORM(activation)                                                                            \
  "y = " activation                                                                                           \
  "(normal)\n"                                                                                                \
  "normal = FusedBatchNormV3(x, scale, offset, mean, variance)[epsilon=$epsilon, is_training=$is_training, "  \
  "exponential_avg_factor=$exponential_avg_factor, data_format=NHWC]",                                        \
      "HabanaFusedBatchNormV3(x, scale, offset, mean, variance)[epsilon=$epsilon, is_training=$is_training, " \
      "exponential_avg_factor=$exponential_avg_factor, data_format=NHWC, activation=" activation "]"
#define HPU_BATCH_NORM_RESULTS "y, normal:1, normal:2, normal:3, normal:4, normal:5"
// Match text shared by layer and instance normalisation, which differ in $axes. Keras 3 adds -mean * scale and beta,
// and TensorFlow's graph optimizer adds beta last if its shape differs.
#define HPU_NORM                                                                                                      \
  "y = {AddV2(Mul(x, scale), Sub(beta, Mul(mean, scale))) | AddV2(Mul(x, scale), AddV2(Mul(Neg(mean), scale), beta))" \
  " | AddV2(AddV2(Mul(x, scale), Mul(Neg(mean), scale)), beta)}\n"                                                    \
  "scale = Mul(istd, gamma)\n"                                                                                        \
  "istd = Rsqrt(AddV2(Mean(SquaredDifference(x, {mean | StopGradient(mean)}), $axes)[keep_dims=true], $epsilon))\n"   \
  "mean = Mean(x, $axes)[keep_dims=true]"
#define HPU_BIAS_ADD(activation)                                    \
  "y = " activation "(BiasAdd(x, bias)[data_format=$data_format])", \
      "HabanaBiasAddActivation(x, bias)[data_format=$data_format, activation=" activation "]"

// Shapes and weights of layer normalisation written as batch normalisation: constants, or computed nodes if a size is
// unknown.
#define HPU_FLAT_SHAPES                                                                                               \
  "*shape = {$shape | Shape(x)}\n"                                                                                    \
  "*flat_shape = {$flat_shape | Pack(1, rows, columns, 1)[axis=0]}\n"                                                 \
  "*rows = Prod(StridedSlice(Shape(x), _, $first, 1)[begin_mask=1, end_mask=0, ellipsis_mask=0, new_axis_mask=0, "    \
  "shrink_axis_mask=0], 0)[keep_dims=false]\n"                                                                        \
  "*columns = Prod(StridedSlice(Shape(x), $first, _, 1)[begin_mask=0, end_mask=1, ellipsis_mask=0, new_axis_mask=0, " \
  "shrink_axis_mask=0], 0)[keep_dims=false]\n"                                                                        \
  "*ones = {1 | Fill(_, 1)}\n"                                                                                        \
  "*zeros = {0 | Fill(_, 0)}"

// Gradients precede forward ops (see PatternEntries()).
constexpr PatternEntry kEntries[] = {
    // Older TensorFlow computes GELU by Erf, newer by Erfc.
    {"gelu_erf_grad", "gradient of GELU by the error function",
     R"(
       *scaled = {0.70710678 * x | -0.70710678 * x}
       *sum = {AddV2(1, Erf(0.70710678 * x)) | Erfc(-0.70710678 * x)}
       *half = 0.5 * x
       dx = AddN(slope, share, ...)
       slope = 0.39894228 * Mul(Mul(dy, x)~sum, Exp(Neg(Square(scaled))))
       share = 0.5 * Mul(dy, sum)~half
     )",
     "HabanaGeluGrad(dy, x)[approximate=false]", "dx", nullptr},
    {"gelu_tanh_grad", "gradient of GELU by the hyperbolic tangent",
     R"(
       *half = 0.5 * x
       *cube = 0.044715 * Pow(x, 3)
       *tanh = Tanh(0.79788456 * AddV2(x, cube))
       *sum = AddV2(1, tanh)
       dx = AddN(slope, inner, share, ...)
       slope = 0.10703222 * Mul(through~cube, Pow(x, 2))
       inner = 0.79788456 * through~x
       share = 0.5 * Mul(dy, sum)~half
       through = TanhGrad(tanh, 0.5 * Mul(dy, x)~sum)
     )",
     "HabanaGeluGrad(dy, x)[approximate=true]", "dx", nullptr},
    // Keras 3 negates the mean, Keras 2 the gradient.
    {"layer_norm_grad", "gradient of layer normalisation in the form of Keras and tf.nn.batch_normalization",
     R"(
       *mean = Mean(x, $axes)[keep_dims=true]
       *squares = SquaredDifference(x, {mean | StopGradient(mean)})
       *istd = Rsqrt(AddV2(Mean(squares, $axes)[keep_dims=true], $epsilon))
       *scale = Mul(istd, gamma)
       *scaled = Mul(x, scale)
       *negative = Neg(mean)
       *shift = {Sub(_, Mul(mean, scale)) | AddV2(Mul(negative, scale), _)}
       *minus = Neg(dy~shift)
       *slope = AddN(Mul(dy~scaled, x)~scale, {Mul(mean, minus) | Mul(negative, dy~shift)}~scale)
       dx = AddN(by_variance, by_mean, direct, ...)
       direct = Mul(dy~scaled, scale)~x
       by_mean = {Mul(Tile(center, $multiples), $share) | RealDiv(BroadcastTo(center, Shape(x)), count)}
       center = {Sum(Mul(minus, scale), $sum_axes)[keep_dims=true]~mean | Neg(Sum(Mul(dy~shift, scale), $sum_axes)[keep_dims=true]~negative)}
       by_variance = Mul(Mul(2, spread), Sub(x, mean))~x
       spread = {Mul(Tile(width, $multiples), $share) | RealDiv(BroadcastTo(width, Shape(squares)), count)}
       width = RsqrtGrad(istd, Sum(Mul(slope, gamma), $sum_axes)[keep_dims=true]~istd)
       *count = Cast(Prod(GatherV2({Shape(x) | Shape(squares)}, $sum_axes, 0), _))
       dbeta = Sum(dy~shift, $batch_axes)[keep_dims=true]
       dgamma = Sum(Mul(istd, slope), $batch_axes)[keep_dims=true]
     )",
     "HabanaLayerNormGrad(x, dy, mean, istd, gamma)[axes=$axes, epsilon=$epsilon]", "dx, dbeta, dgamma",
     CheckLayerNormGrad},
    {"flat_layer_norm_grad", "gradient of layer normalisation that Keras builds from batch normalisation",
     R"(
       *flat = Reshape(x, flat_shape)
       *normal = FusedBatchNormV3(flat, ones, zeros, _, _)[epsilon=$epsilon, data_format=NCHW, is_training=true]
       *unit = Reshape(normal, shape)
       *y = AddV2(Mul(unit, gamma), beta)
       dx = Reshape(flat_dx, shape)
       flat_dx = FusedBatchNormGradV3(Reshape(Mul(dy, gamma), {$flat_shape | Shape(normal)}), flat, ones, normal:3, normal:4, normal:5)[epsilon=$epsilon, data_format=NCHW, is_training=true]
       dbeta = Reshape(Sum(dy, $batch_axes)[keep_dims=true], $weight_shape)
       dgamma = Reshape(Sum(Mul(unit, dy), $batch_axes)[keep_dims=true], $weight_shape)
     )" HPU_FLAT_SHAPES,
     "HabanaLayerNormGrad(x, dy, HabanaLayerNorm(x, beta, gamma)[axes=$axes, epsilon=$epsilon]:1, "
     "HabanaLayerNorm(x, beta, gamma)[axes=$axes, epsilon=$epsilon]:2, gamma)[axes=$axes, epsilon=$epsilon]",
     "dx, dbeta, dgamma", CheckFlatNorm},
    {"instance_norm_grad", "gradient of instance normalisation: statistics of each channel over the image",
     R"(
       *mean = Mean(x, $axes)[keep_dims=true]
       *squares = SquaredDifference(x, {mean | StopGradient(mean)})
       *istd = Rsqrt(AddV2(Mean(squares, $axes)[keep_dims=true], $epsilon))
       *scale = Mul(istd, gamma)
       *scaled = Mul(x, scale)
       *shift = Sub(_, Mul(mean, scale))
       *total = Sum(dy, $sum_axes)[keep_dims=true]~shift
       *minus = Neg(total)
       *slope = AddN(Sum(Mul(dy~scaled, x), $sum_axes)[keep_dims=true]~scale, Mul(mean, minus)~scale)
       dx = AddN(by_variance, by_mean, direct, ...)
       direct = Mul(dy~scaled, scale)~x
       by_mean = {Mul(Tile(center, $multiples), $share) | RealDiv(BroadcastTo(center, Shape(x)), count)}
       center = Mul(minus, scale)~mean
       by_variance = Mul(Mul(2, spread), Sub(x, mean))~x
       spread = {Mul(Tile(width, $multiples), $share) | RealDiv(BroadcastTo(width, Shape(squares)), count)}
       width = RsqrtGrad(istd, Mul(slope, gamma))
       *count = Cast(Prod(GatherV2({Shape(x) | Shape(squares)}, $sum_axes, 0), _))
       dbeta = Reshape(Sum(total, $batch_axes)[keep_dims=true], $weight_shape)
       dgamma = Reshape(Sum(Mul(istd, slope), $batch_axes)[keep_dims=true], $weight_shape)
     )",
     "HabanaInstanceNormGrad(x, dy, gamma, mean, istd)[axes=$axes, epsilon=$epsilon]", "dx, dbeta, dgamma",
     CheckInstanceNormGrad},
    {"batch_norm_grad", "gradient of batch normalisation in the form of Keras 3",
     R"(
       *mean = Squeeze(wide_mean)
       *wide_mean = Mean(x, $axes)[keep_dims=true]
       *variance = Squeeze(Mean(squares, $axes)[keep_dims=true])
       *squares = SquaredDifference(x, {wide_mean | StopGradient(wide_mean)})
       *istd = Rsqrt(AddV2(variance, $epsilon))
       *scale = Mul(istd, gamma)
       dx = AddN(by_variance, by_mean, direct, ...)
       direct = Mul(dy, scale)
       by_mean = {Mul(Tile(center, $multiples), $share) | RealDiv(BroadcastTo(center, Shape(x)), count)}
       center = Reshape(Mul(minus, scale), $kept_shape)
       by_variance = Mul(Mul(2, spread), Sub(x, wide_mean))
       spread = {Mul(Tile(width, $multiples), $share) | RealDiv(BroadcastTo(width, Shape(squares)), count)}
       width = Reshape(RsqrtGrad(istd, Mul(slope, gamma)), $kept_shape)
       *count = Cast(Prod(GatherV2({Shape(x) | Shape(squares)}, $sum_axes, 0), _))
       slope = AddN(Reshape(Sum(Mul(dy, x), $sum_axes)[keep_dims=true], $weight_shape), Mul(mean, minus))
       minus = Neg(dbeta)
       dbeta = Reshape(Sum(dy, $sum_axes)[keep_dims=true], $weight_shape)
       dgamma = Mul(slope, istd)
     )",
     "FusedBatchNormGradV3(dy, x, gamma, mean, variance, mean)[epsilon=$epsilon, is_training=true, data_format=NHWC]",
     "dx, dgamma, dbeta", CheckBatchNormGrad},
    {"softmax_grad", "gradient of tf.nn.softmax",
     R"(
       *y = Softmax(_)
       dx = Mul(Sub(dy, Sum(Mul(dy, y), -1)[keep_dims=true]), y)
     )",
     "HabanaSoftmaxGrad(dy, y)", "dx", nullptr},
    {"scaled_softmax_grad", "gradient of tf.nn.softmax(x * scale)",
     R"(
       *y = Softmax(_)
       dx = Mul(Sub(dy, Sum(Mul(dy, y), -1)[keep_dims=true]), Mul(y, scale))
     )",
     "Mul(HabanaSoftmaxGrad(dy, y), scale)", "dx", nullptr},
    {"log_softmax_grad", "gradient of tf.nn.log_softmax",
     R"(
       *y = LogSoftmax(_)
       dx = Sub(dy, Mul(Sum(dy, -1)[keep_dims=true], Exp(y)))
     )",
     "HabanaLogSoftmaxGrad(dy, y)", "dx", nullptr},
    {"composed_softmax_grad", "gradient of a softmax written as exp(x - max) / sum",
     R"(
       *max = Max(x, -1)[keep_dims=true]
       *exp = Exp(Sub(x, max))
       *sum = Sum(exp, -1)[keep_dims=true]
       *y = RealDiv(exp, sum)
       through = Mul(AddN(RealDiv(dy, sum)~exp, shares), exp)
       shares = {Tile(share, _) | BroadcastTo(share, Shape(exp))}
       share = Sum(Mul(dy, RealDiv(RealDiv(Neg(exp), sum), sum)), _)[keep_dims=true]~sum
       dx = AddN(through~x, largest, ...)
       largest = Mul(RealDiv(hit, Reshape(Sum(hit, -1)[keep_dims=false], _)), Sum(Neg(through), _)[keep_dims=true]~max)
       hit = Cast(Equal(max, x))
     )",
     "HabanaSoftmaxGrad(dy, y)", "dx", nullptr},
    {"composed_softmax_stopped_grad", "gradient of a softmax written as exp(x - tf.stop_gradient(max)) / sum",
     R"(
       *exp = Exp(_)
       *sum = Sum(exp, -1)[keep_dims=true]
       *y = RealDiv(exp, sum)
       dx = Mul(AddN(RealDiv(dy, sum)~exp, shares), exp)
       shares = {Tile(share, _) | BroadcastTo(share, Shape(exp))}
       share = Sum(Mul(dy, RealDiv(RealDiv(Neg(exp), sum), sum)), _)[keep_dims=true]~sum
     )",
     "HabanaSoftmaxGrad(dy, y)", "dx", nullptr},
    {"composed_log_softmax_grad", "gradient of a log-softmax written as x - tf.reduce_logsumexp(x)",
     R"(
       *sum = Sum(exp, -1)[keep_dims=true]
       *exp = Exp(Sub(x, shift))
       *shift = Select(IsFinite(_), _, _)
       *log = Log(sum)
       *all = AddV2(log, shift)
       *y = Sub(x, all)
       dx = AddN(Mul(shares, exp)~x, dy~x, ...)
       shares = {Tile(share, _) | BroadcastTo(share, Shape(exp))}
       share = Mul(total~log, Reciprocal(sum))
       total = Sum(Neg(dy), _)[keep_dims=true]~all
     )",
     "HabanaLogSoftmaxGrad(dy, y)", "dx", nullptr},
    {"dropout_grad", "gradient of dropout",
     R"(
       *mask = GreaterEqual(noise, $rate)
       *noise = {RandomUniform(_) | StatelessRandomUniformV2(_, _, _, _) | StatelessRandomUniform(_, _)}
       *scaled = Mul(_, _)
       dx = Mul(SelectV2(mask, dy, zero)~scaled, $scale)
       zero = {0 | ZerosLike(_)}
     )",
     "HabanaDropoutGrad(dy, mask)[scale=$scale]", "dx", CheckScale},
    {"clamp_grad", "gradient of tf.clip_by_value",
     R"(
       *less = Minimum(x, $max)
       dx = SelectV2(LessEqual(x, $max), SelectV2(GreaterEqual(less, $min), dy, zero), zero)
       zero = {0 | ZerosLike(_)}
     )",
     "HabanaClampBwd(dy, x)[min=$min, max=$max]", "dx", CheckRange},
    {"max_grad", "gradient of tf.reduce_max",
     R"(
       *max = {Reshape(Max(x, $axes)[keep_dims=false], _) | Max(x, $axes)[keep_dims=true]}
       dx = Mul(RealDiv(largest, Reshape(Sum(largest, $axes)[keep_dims=false], _)), dy)
       largest = Cast(Equal(max, x))
     )",
     "HabanaMaxGrad(dy, x, max)[axes=$axes]", "dx", nullptr},
    {"min_grad", "gradient of tf.reduce_min",
     R"(
       *min = {Reshape(Min(x, $axes)[keep_dims=false], _) | Min(x, $axes)[keep_dims=true]}
       dx = Mul(RealDiv(smallest, Reshape(Sum(smallest, $axes)[keep_dims=false], _)), dy)
       smallest = Cast(Equal(min, x))
     )",
     "HabanaMinGrad(dy, x, min)[axes=$axes]", "dx", nullptr},
    {"padded_conv_input_grad", "gradient of a convolution after tf.pad by its input",
     R"(
       dx = Slice(padded, $begin, sizes)
       padded = Conv2DBackpropInput(padded_sizes, w, dy)[padding=VALID, strides=$strides, data_format=$data_format, dilations=$dilations]
     )",
     "HabanaConv2DWithPaddingBackpropInput(sizes, w, dy)"
     "[paddings=$paddings, strides=$strides, data_format=$data_format, dilations=$dilations]",
     "dx", CheckPaddedInputGrad},
    {"padded_conv_filter_grad", "gradient of a convolution after tf.pad by its filter",
     R"(
       *padded = Pad(x, $paddings)
       dw = Conv2DBackpropFilter(padded, sizes, dy)[padding=VALID, strides=$strides, data_format=$data_format, dilations=$dilations]
     )",
     "HabanaConv2DWithPaddingBackpropFilter(x, sizes, dy)"
     "[paddings=$paddings, strides=$strides, data_format=$data_format, dilations=$dilations]",
     "dw", CheckPaddings},
    {"explicit_conv_input_grad", "gradient of a convolution with explicit padding by its input",
     R"(
       dx = Conv2DBackpropInput(sizes, w, dy)[padding=EXPLICIT, explicit_paddings=$paddings, strides=$strides, data_format=NHWC, dilations=$dilations]
     )",
     "HabanaConv2DWithPaddingBackpropInput(sizes, w, dy)"
     "[paddings=$paddings, strides=$strides, data_format=NHWC, dilations=$dilations]",
     "dx", nullptr},
    {"explicit_conv_filter_grad", "gradient of a convolution with explicit padding by its filter",
     R"(
       dw = Conv2DBackpropFilter(x, sizes, dy)[padding=EXPLICIT, explicit_paddings=$paddings, strides=$strides, data_format=NHWC, dilations=$dilations]
     )",
     "HabanaConv2DWithPaddingBackpropFilter(x, sizes, dy)"
     "[paddings=$paddings, strides=$strides, data_format=NHWC, dilations=$dilations]",
     "dw", nullptr},

    {"gelu_erf", "GELU by the error function, in the form of tf.nn.gelu",
     R"(
       y = 0.5 * Mul(x, {AddV2(1, Erf(0.70710678 * x)) | Erfc(-0.70710678 * x)})
     )",
     "HabanaGelu(x)[approximate=false]", "y", nullptr},
    {"gelu_tanh", "GELU by the hyperbolic tangent",
     R"(
       y = 0.5 * Mul(x, AddV2(1, Tanh(0.79788456 * AddV2(x, 0.044715 * Pow(x, 3)))))
     )",
     "HabanaGelu(x)[approximate=true]", "y", nullptr},
    {"layer_norm", "layer normalisation in the form of Keras and tf.nn.batch_normalization", HPU_NORM,
     "HabanaLayerNorm(x, beta, gamma)[axes=$axes, epsilon=$epsilon]", "y, mean, istd", CheckLayerNorm},
    {"flat_layer_norm", "layer normalisation that Keras builds from batch normalisation",
     R"(
       y = AddV2(Mul(Reshape(normal, shape), gamma), beta)
       normal = FusedBatchNormV3(Reshape(x, flat_shape), ones, zeros, _, _)[epsilon=$epsilon, data_format=NCHW, is_training=true]
     )" HPU_FLAT_SHAPES,
     "HabanaLayerNorm(x, beta, gamma)[axes=$axes, epsilon=$epsilon]", "y", CheckFlatNorm},
    {"instance_norm", "instance normalisation: statistics of each channel over the image", HPU_NORM,
     "HabanaInstanceNorm(x, beta, gamma)[axes=$axes, epsilon=$epsilon]", "y, mean, istd", CheckInstanceNorm},
    {"composed_softmax", "a softmax written as exp(x - max) / sum",
     R"(
       y = RealDiv(exp, Sum(exp, -1)[keep_dims=true])
       exp = Exp(Sub(x, {max | StopGradient(max) | Identity(max)}))
       max = Max(x, -1)[keep_dims=true]
     )",
     "Softmax(x)", "y", nullptr},
    {"composed_log_softmax", "a log-softmax written as x - tf.reduce_logsumexp(x)",
     R"(
       y = Sub(x, AddV2(Log(Sum(Exp(Sub(x, shift)), -1)[keep_dims=true]), shift))
       shift = Select(IsFinite(max), max, {0 | ZerosLike(max)})
       max = Max(x, -1)[keep_dims=true]
     )",
     "LogSoftmax(x)", "y", nullptr},
    {"dropout", "dropout in the form of Keras and tf.nn.dropout",
     R"(
       y = SelectV2(mask, Mul(x, $scale), {0 | ZerosLike(_)})
       mask = GreaterEqual(noise, $rate)
       *noise = {RandomUniform(_) | StatelessRandomUniformV2(_, _, _, _) | StatelessRandomUniform(_, _)}
     )",
     "HabanaDropout(x, noise)[rate=$rate, scale=$scale]", "y, mask", CheckScale},
    {"clamp", "tf.clip_by_value with numbers as limits",
     R"(
       y = Maximum(Minimum(x, $max), $min)
     )",
     "HabanaClampFwd(x)[min=$min, max=$max]", "y", CheckRange},
    {"padded_conv", "a convolution after tf.pad or ZeroPadding2D",
     R"(
       y = Conv2D(Pad(x, $paddings), w)[padding=VALID, strides=$strides, data_format=$data_format, dilations=$dilations]
     )",
     "HabanaConv2DWithPadding(x, w)"
     "[paddings=$paddings, strides=$strides, data_format=$data_format, dilations=$dilations]",
     "y", CheckPaddings},
    {"explicit_conv", "a convolution with explicit padding",
     R"(
       y = Conv2D(x, w)[padding=EXPLICIT, explicit_paddings=$paddings, strides=$strides, data_format=NHWC, dilations=$dilations]
     )",
     "HabanaConv2DWithPadding(x, w)"
     "[paddings=$paddings, strides=$strides, data_format=NHWC, dilations=$dilations]",
     "y", nullptr},
    // The last two inputs, the moments before the step, have no effect with the default exponential_avg_factor.
    {"batch_norm", "batch normalisation in the form of Keras 3",
     R"(
       y = AddV2(Mul(x, scale), Sub(beta, Mul(mean, scale)))
       mean = Squeeze(wide_mean)
       wide_mean = Mean(x, $axes)[keep_dims=true]
       variance = Squeeze(Mean(squares, $axes)[keep_dims=true])
       squares = SquaredDifference(x, {wide_mean | StopGradient(wide_mean)})
       istd = Rsqrt(AddV2(variance, $epsilon))
       scale = Mul(istd, gamma)
     )",
     "FusedBatchNormV3(x, gamma, beta, beta, gamma)[epsilon=$epsilon, is_training=true, data_format=NHWC]",
     "y, _, _, mean, variance", CheckBatchNorm},
    {"batch_norm_relu", "batch normalisation and ReLU", HPU_BATCH_NORM("Relu"), HPU_BATCH_NORM_RESULTS, nullptr},
    {"batch_norm_relu6", "batch normalisation and ReLU6", HPU_BATCH_NORM("Relu6"), HPU_BATCH_NORM_RESULTS, nullptr},
    {"bias_relu", "addition of a bias and ReLU", HPU_BIAS_ADD("Relu"), "y", nullptr},
    {"bias_relu6", "addition of a bias and ReLU6", HPU_BIAS_ADD("Relu6"), "y", nullptr},
    {"bias_tanh", "addition of a bias and hyperbolic tangent", HPU_BIAS_ADD("Tanh"), "y", nullptr},
    {"bias_sigmoid", "addition of a bias and sigmoid", HPU_BIAS_ADD("Sigmoid"), "y", nullptr},
};

#undef HPU_BATCH_NORM
#undef HPU_BATCH_NORM_RESULTS
#undef HPU_BIAS_ADD
#undef HPU_FLAT_SHAPES
#undef HPU_NORM

}  // namespace

absl::Span<const PatternEntry> PatternEntries() { return kEntries; }

}  // namespace hpu::passes

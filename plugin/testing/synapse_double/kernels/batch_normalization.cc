// Batch normalization: statistics for each element of dimension 0 over all other dimensions.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/reduction.h"

namespace hpu::synapse_double {
namespace {

using Channels = std::vector<double>;

struct Moments {
  Channels mean;
  Channels variance;  // divided by the number of elements
};

int64_t RowCount(const DenseArray<double>& x) { return x.size(0) == 0 ? 0 : x.count() / x.size(0); }

Channels ChannelSums(const DenseArray<double>& x) {
  Channels sums(x.size(0));
  for (int64_t i = 0; i < x.count(); ++i) sums[i % x.size(0)] += x[i];
  return sums;
}

Moments MomentsOf(const DenseArray<double>& x) {
  const auto rows = static_cast<double>(RowCount(x));
  Moments moments = {ChannelSums(x), Channels(x.size(0))};
  for (double& mean : moments.mean) mean /= rows;
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t c = i % x.size(0);
    moments.variance[c] += (x[i] - moments.mean[c]) * (x[i] - moments.mean[c]);
  }
  for (double& variance : moments.variance) variance /= rows;
  return moments;
}

// Loads an operand of one element for each channel.
bool LoadChannels(KernelContext* context, size_t i, int64_t count, Channels* channels) {
  if (!context->Require(ElementCount(context->input(i).sizes) == count, "input ", i, ": expected ", count,
                        " elements, found ", TextOf(context->input(i).sizes))) {
    return false;
  }
  const DenseArray<double> values = Load<double>(context->input(i));
  channels->resize(count);
  for (int64_t c = 0; c < count; ++c) (*channels)[c] = values[c];
  return true;
}

bool StoreChannels(KernelContext* context, size_t i, const Channels& channels) {
  if (!context->has_output(i)) return true;
  const auto count = static_cast<int64_t>(channels.size());
  if (!context->Require(ElementCount(context->output(i).sizes) == count, "output ", i, ": expected ", count,
                        " elements, found ", TextOf(context->output(i).sizes))) {
    return false;
  }
  DenseArray<double> values({count});
  for (int64_t c = 0; c < count; ++c) values[c] = channels[c];
  Store(values, context->output(i));
  return true;
}

Channels InverseDeviation(const Channels& variance, double epsilon) {
  Channels result(variance.size());
  for (size_t c = 0; c < variance.size(); ++c) result[c] = 1 / std::sqrt(variance[c] + epsilon);
  return result;
}

// Stores (x - mean) · inverse deviation · gamma + beta.
void StoreNormalized(KernelContext* context, const DenseArray<double>& x, const Channels& mean,
                     const Channels& inverse_deviation, const Channels& gamma, const Channels& beta) {
  if (!context->RequireSizes(context->output(0), x.sizes(), "output 0")) return;
  DenseArray<double> y(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t c = i % x.size(0);
    y[i] = (x[i] - mean[c]) * inverse_deviation[c] * gamma[c] + beta[c];
  }
  Store(y, context->output(0));
}

// X, beta, gamma, running mean, running variance -> Y, mean, inverse deviation[, running mean, running variance].
// running' = (1 - momentum) · running + momentum · batch, with the unbiased variance, as in PyTorch: a card's formula
// is unknown. If isTraining is 0, normalizes with the running statistics.
void BatchNormForward(KernelContext& context) {
  const auto params = context.params<synapse::ns_BatchNormKernel::ParamsV2>({{0}, 0, 0, true, {}});
  const DenseArray<double> x = Load<double>(context.input(0));
  Channels beta, gamma, running_mean, running_variance;
  if (!LoadChannels(&context, 1, x.size(0), &beta) || !LoadChannels(&context, 2, x.size(0), &gamma) ||
      !LoadChannels(&context, 3, x.size(0), &running_mean) ||
      !LoadChannels(&context, 4, x.size(0), &running_variance)) {
    return;
  }
  Moments moments = {running_mean, running_variance};
  if (params.isTraining) moments = MomentsOf(x);
  const Channels inverse_deviation = InverseDeviation(moments.variance, params.epsilon);
  StoreNormalized(&context, x, moments.mean, inverse_deviation, gamma, beta);
  if (params.isTraining) {
    const auto rows = static_cast<double>(RowCount(x));
    const double m = params.momentum;
    for (int64_t c = 0; c < x.size(0); ++c) {
      const double unbiased = rows > 1 ? moments.variance[c] * rows / (rows - 1) : moments.variance[c];
      running_mean[c] = (1 - m) * running_mean[c] + m * moments.mean[c];
      running_variance[c] = (1 - m) * running_variance[c] + m * unbiased;
    }
  }
  StoreChannels(&context, 1, moments.mean);
  StoreChannels(&context, 2, inverse_deviation);
  StoreChannels(&context, 3, running_mean);
  StoreChannels(&context, 4, running_variance);
}

// X, beta, gamma, mean, variance -> Y
void Inference(KernelContext& context) {
  const auto params = context.params<synapse::ns_BatchNormKernel::Params>();
  const DenseArray<double> x = Load<double>(context.input(0));
  Channels beta, gamma, mean, variance;
  if (!LoadChannels(&context, 1, x.size(0), &beta) || !LoadChannels(&context, 2, x.size(0), &gamma) ||
      !LoadChannels(&context, 3, x.size(0), &mean) || !LoadChannels(&context, 4, x.size(0), &variance)) {
    return;
  }
  StoreNormalized(&context, x, mean, InverseDeviation(variance, params.epsilon), gamma, beta);
}

struct Gradients {
  Channels beta;
  Channels gamma;
};

// Stores dX as output 0, and sets `gradients` to the other gradients.
bool Differentiate(KernelContext* context, const TensorView& x_view, const TensorView& dy_view, const Channels& mean,
                   const Channels& inverse_deviation, const Channels& gamma, Gradients* gradients) {
  if (!context->RequireSizes(dy_view, x_view.sizes, "dY")) return false;
  if (!context->RequireSizes(context->output(0), x_view.sizes, "output 0")) return false;
  const DenseArray<double> x = Load<double>(x_view);
  const DenseArray<double> dy = Load<double>(dy_view);
  const int64_t channels = x.size(0);
  const auto rows = static_cast<double>(RowCount(x));
  gradients->beta = ChannelSums(dy);
  gradients->gamma = Channels(channels);
  const auto normalized = [&](int64_t i) { return (x[i] - mean[i % channels]) * inverse_deviation[i % channels]; };
  for (int64_t i = 0; i < x.count(); ++i) gradients->gamma[i % channels] += dy[i] * normalized(i);
  DenseArray<double> dx(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t c = i % channels;
    dx[i] = gamma[c] * inverse_deviation[c] *
            (dy[i] - gradients->beta[c] / rows - normalized(i) * gradients->gamma[c] / rows);
  }
  Store(dx, context->output(0));
  return true;
}

// X, dY, mean, inverse deviation, gamma -> dX, dBeta, dGamma
void BatchNormBackward(KernelContext& context) {
  const int64_t channels = SizeOf(context.input(0).sizes, 0);
  Channels mean, inverse_deviation, gamma;
  if (!LoadChannels(&context, 2, channels, &mean) || !LoadChannels(&context, 3, channels, &inverse_deviation) ||
      !LoadChannels(&context, 4, channels, &gamma)) {
    return;
  }
  Gradients gradients;
  if (!Differentiate(&context, context.input(0), context.input(1), mean, inverse_deviation, gamma, &gradients)) return;
  StoreChannels(&context, 1, gradients.beta);
  StoreChannels(&context, 2, gradients.gamma);
}

// dY, X, gamma, mean, variance -> dX, dGamma, dBeta
void TensorFlowBackward(KernelContext& context) {
  const auto params = context.params<synapse::synTfBatchNormalizationParams>();
  const int64_t channels = SizeOf(context.input(1).sizes, 0);
  Channels gamma, mean, variance;
  if (!LoadChannels(&context, 2, channels, &gamma) || !LoadChannels(&context, 3, channels, &mean) ||
      !LoadChannels(&context, 4, channels, &variance)) {
    return;
  }
  Gradients gradients;
  if (!Differentiate(&context, context.input(1), context.input(0), mean,
                     InverseDeviation(variance, params.variance_epsilon), gamma, &gradients)) {
    return;
  }
  StoreChannels(&context, 1, gradients.gamma);
  StoreChannels(&context, 2, gradients.beta);
}

// X, mean, variance, beta, gamma -> Y
void TensorFlowForward(KernelContext& context) {
  const auto params = context.params<synapse::synTfBatchNormalizationParams>();
  const DenseArray<double> x = Load<double>(context.input(0));
  Channels mean, variance, beta, gamma;
  if (!LoadChannels(&context, 1, x.size(0), &mean) || !LoadChannels(&context, 2, x.size(0), &variance) ||
      !LoadChannels(&context, 3, x.size(0), &beta) || !LoadChannels(&context, 4, x.size(0), &gamma)) {
    return;
  }
  StoreNormalized(&context, x, mean, InverseDeviation(variance, params.variance_epsilon), gamma, beta);
}

// X -> mean, variance of each channel
void ChannelMoments(KernelContext& context) {
  const Moments moments = MomentsOf(Load<double>(context.input(0)));
  StoreChannels(&context, 0, moments.mean);
  StoreChannels(&context, 1, moments.variance);
}

// X -> mean, variance over the dimensions of a mask. Whether a card's second result is the variance is unknown.
void NormMoments(KernelContext& context) {
  const DenseArray<double> x = Load<double>(context.input(0));
  const uint32_t mask = context.params<synapse::ns_NormMomentsKernel::Params>().NormAxisBmp;
  const size_t rank = x.sizes().size();
  if (!context.Require(mask != 0 && mask < uint64_t{1} << rank, "mask ", mask, ": the rank is ", rank)) return;
  std::vector<bool> reduced(rank);
  for (size_t d = 0; d < rank; ++d) reduced[d] = (mask >> d & 1) != 0;
  const Sizes sizes = ReducedSizes(x.sizes(), reduced);
  if (!context.RequireSizes(context.output(0), sizes, "output 0")) return;
  if (!context.RequireSizes(context.output(1), sizes, "output 1")) return;
  const auto add = [](double a, double b) { return a + b; };
  DenseArray<double> mean = Reduce(x, reduced, 0.0, add);
  const double window = static_cast<double>(x.count()) / static_cast<double>(mean.count());
  for (int64_t i = 0; i < mean.count(); ++i) mean[i] /= window;
  const DenseArray<double> means = mean.BroadcastTo(x.sizes());
  DenseArray<double> squares(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) squares[i] = (x[i] - means[i]) * (x[i] - means[i]);
  DenseArray<double> variance = Reduce(squares, reduced, 0.0, add);
  for (int64_t i = 0; i < variance.count(); ++i) variance[i] /= window;
  Store(mean, context.output(0));
  Store(variance, context.output(1));
}

}  // namespace

void AddBatchNormalization(KernelRegistry* registry) {
  constexpr size_t kParams = sizeof(synapse::ns_BatchNormKernel::Params);
  constexpr size_t kParamsV2 = sizeof(synapse::ns_BatchNormKernel::ParamsV2);
  constexpr size_t kEpsilon = sizeof(synapse::synTfBatchNormalizationParams);
  registry->Add({"batch_norm_bwd", Suffix::kType, {5, 5}, {1, 3}, {0, kParams, kParamsV2}, BatchNormBackward});
  registry->Add({"batch_norm_fwd", Suffix::kType, {5, 5}, {1, 5}, {kParams, kParamsV2}, BatchNormForward});
  registry->Add({"batch_norm_inf", Suffix::kType, {5, 5}, {1, 1}, {kParams, kParamsV2}, Inference});
  registry->Add({"moments_fwd", Suffix::kNone, {1, 1}, {1, 2}, {0}, ChannelMoments});
  registry->Add({"norm_moments_fwd",
                 Suffix::kType,
                 {1, 1},
                 {2, 2},
                 {sizeof(synapse::ns_NormMomentsKernel::Params)},
                 NormMoments});
  registry->Add({"tf_batch_normalization_fwd", Suffix::kNone, {5, 5}, {1, 1}, {kEpsilon}, TensorFlowForward});
  registry->Add({"tf_fused_batch_norm_grad", Suffix::kNone, {5, 5}, {1, 3}, {kEpsilon}, TensorFlowBackward});
}

}  // namespace hpu::synapse_double

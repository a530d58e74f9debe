// Softmax, its logarithm, cross entropy, and their gradients.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

// Calls visit(position of the first element, stride, length) for each row along a dimension.
template <typename Visit>
void ForEachSoftmaxRow(const Sizes& sizes, size_t dimension, const Visit& visit) {
  const int64_t stride = DenseStrides(sizes)[dimension];
  const int64_t length = sizes[dimension];
  const int64_t count = ElementCount(sizes);
  for (int64_t i = 0; i < count; ++i) {
    if (i / stride % length == 0) visit(i, stride, length);
  }
}

// NaN anywhere in a row makes the whole row NaN.
DenseArray<double> LogSoftmaxOf(const DenseArray<double>& x, size_t dimension) {
  DenseArray<double> y(x.sizes());
  ForEachSoftmaxRow(x.sizes(), dimension, [&](int64_t first, int64_t stride, int64_t length) {
    double max = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < length; ++i) max = std::max(max, x[first + i * stride]);
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += std::exp(x[first + i * stride] - max);
    for (int64_t i = 0; i < length; ++i) y[first + i * stride] = x[first + i * stride] - max - std::log(sum);
  });
  return y;
}

bool ReadDimension(KernelContext* context, size_t* dimension) {
  const int dim = context->params<synapse::ns_Softmax::Params>().dim;
  const Sizes& sizes = context->input(0).sizes;
  if (!context->Require(dim >= 0 && dim < static_cast<int>(sizes.size()), "dim ", dim, " is out of range for rank ",
                        sizes.size())) {
    return false;
  }
  *dimension = dim;
  return context->RequireSizes(context->output(0), sizes, "output 0");
}

template <bool is_log>
void SoftmaxForward(KernelContext& context) {
  size_t dimension;
  if (!ReadDimension(&context, &dimension)) return;
  DenseArray<double> y = LogSoftmaxOf(Load<double>(context.input(0)), dimension);
  if (!is_log) {
    for (int64_t i = 0; i < y.count(); ++i) y[i] = std::exp(y[i]);
  }
  Store(y, context.output(0));
}

// Y, dY -> dX
template <bool is_log>
void SoftmaxBackward(KernelContext& context) {
  size_t dimension;
  if (!ReadDimension(&context, &dimension)) return;
  if (!context.RequireSizes(context.input(1), context.input(0).sizes, "input 1")) return;
  const DenseArray<double> y = Load<double>(context.input(0));
  const DenseArray<double> dy = Load<double>(context.input(1));
  DenseArray<double> dx(y.sizes());
  ForEachSoftmaxRow(y.sizes(), dimension, [&](int64_t first, int64_t stride, int64_t length) {
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += dy[first + i * stride] * (is_log ? 1 : y[first + i * stride]);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = first + i * stride;
      dx[at] = is_log ? dy[at] - std::exp(y[at]) * sum : y[at] * (dy[at] - sum);
    }
  });
  Store(dx, context.output(0));
}

struct CrossEntropy {
  uint32_t mode;
  int64_t batch;
  DenseArray<int64_t> labels;
};

// Logits are {classes, batch}. Labels are indices of classes.
bool ReadCrossEntropy(KernelContext* context, CrossEntropy* entropy) {
  const auto params = context->params<synapse::ns_SoftmaxCrossEntropy::ParamsV3>();
  const TensorView& logits = context->input(0);
  const TensorView& labels = context->input(1);
  if (!context->Require(logits.rank() == 2, "input 0: expected rank 2, found ", TextOf(logits.sizes))) return false;
  if (!context->Require(params.axis == 0 && !params.isTfMode, "only axis 0 without isTfMode is modelled")) return false;
  if (!context->Require(params.mode <= synapse::ns_SoftmaxCrossEntropy::CROSS_ENTROPY_MODE_NO_REDUCTION, "mode ",
                        params.mode, " is unknown")) {
    return false;
  }
  if (!context->Require(labels.type == ElementType::kI32 && ElementCount(labels.sizes) == logits.sizes[1],
                        "input 1: expected ", logits.sizes[1], " labels of i32, found ", SuffixOf(labels.type),
                        TextOf(labels.sizes))) {
    return false;
  }
  if (!context->Require(params.batchSize == logits.sizes[1], "batchSize ", params.batchSize, ": the logits are ",
                        TextOf(logits.sizes))) {
    return false;
  }
  entropy->mode = params.mode;
  entropy->batch = logits.sizes[1];
  entropy->labels = Load<int64_t>(labels);
  for (int64_t i = 0; i < entropy->batch; ++i) {
    if (!context->Require(entropy->labels[i] >= 0 && entropy->labels[i] < logits.sizes[0], "label ", entropy->labels[i],
                          ": there are ", logits.sizes[0], " classes")) {
      return false;
    }
  }
  return true;
}

// logits, labels -> loss, log-probabilities
void CrossEntropyForward(KernelContext& context) {
  CrossEntropy entropy{0, 0, DenseArray<int64_t>({})};
  if (!ReadCrossEntropy(&context, &entropy)) return;
  const bool reduces = entropy.mode != synapse::ns_SoftmaxCrossEntropy::CROSS_ENTROPY_MODE_NO_REDUCTION;
  const int64_t losses = reduces ? 1 : entropy.batch;
  if (!context.Require(ElementCount(context.output(0).sizes) == losses, "output 0: expected ", losses,
                       " elements, found ", TextOf(context.output(0).sizes))) {
    return;
  }
  const DenseArray<double> log = LogSoftmaxOf(Load<double>(context.input(0)), 0);
  if (context.has_output(1) && !context.RequireSizes(context.output(1), log.sizes(), "output 1")) return;
  DenseArray<double> loss({losses});
  for (int64_t i = 0; i < entropy.batch; ++i) loss[reduces ? 0 : i] -= log[i * log.size(0) + entropy.labels[i]];
  if (entropy.mode == synapse::ns_SoftmaxCrossEntropy::CROSS_ENTROPY_MODE_MEAN) {
    loss[0] /= static_cast<double>(entropy.batch);
  }
  Store(loss, context.output(0));
  if (context.has_output(1)) Store(log, context.output(1));
}

// log-probabilities, labels -> dLogits
void CrossEntropyBackward(KernelContext& context) {
  CrossEntropy entropy{0, 0, DenseArray<int64_t>({})};
  if (!ReadCrossEntropy(&context, &entropy)) return;
  DenseArray<double> dx = Load<double>(context.input(0));
  if (!context.RequireSizes(context.output(0), dx.sizes(), "output 0")) return;
  const bool is_mean = entropy.mode == synapse::ns_SoftmaxCrossEntropy::CROSS_ENTROPY_MODE_MEAN;
  const double divisor = is_mean ? static_cast<double>(entropy.batch) : 1;
  for (int64_t i = 0; i < dx.count(); ++i) {
    const bool is_label = entropy.labels[i / dx.size(0)] == i % dx.size(0);
    dx[i] = (std::exp(dx[i]) - (is_label ? 1 : 0)) / divisor;
  }
  Store(dx, context.output(0));
}

}  // namespace

void AddSoftmax(KernelRegistry* registry) {
  using synapse::ns_SoftmaxCrossEntropy::Params;
  using synapse::ns_SoftmaxCrossEntropy::ParamsV2;
  using synapse::ns_SoftmaxCrossEntropy::ParamsV3;
  const std::vector<size_t> entropy = {sizeof(Params), sizeof(ParamsV2), sizeof(ParamsV3)};
  const std::vector<size_t> dim = {sizeof(synapse::ns_Softmax::Params)};
  registry->Add({"logsoftmax_bwd", Suffix::kType, {2, 2}, {1, 1}, dim, SoftmaxBackward<true>});
  registry->Add({"logsoftmax_fwd", Suffix::kType, {1, 1}, {1, 1}, dim, SoftmaxForward<true>});
  registry->Add({"softmax_bwd", Suffix::kType, {2, 2}, {1, 1}, dim, SoftmaxBackward<false>});
  registry->Add({"softmax_cross_entropy_bwd", Suffix::kType, {2, 2}, {1, 1}, entropy, CrossEntropyBackward});
  registry->Add({"softmax_cross_entropy_fwd", Suffix::kType, {2, 2}, {1, 2}, entropy, CrossEntropyForward});
  registry->Add({"softmax_fwd", Suffix::kType, {1, 1}, {1, 1}, dim, SoftmaxForward<false>});
}

}  // namespace hpu::synapse_double

// Shapes of reductions, moments, cumulative sums and softmax.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

// Sizes without the dimensions of a mask, or with 1 in their place.
bool Reduced(ShapeCheck& check, uint64_t mask, bool keeps, Sizes* reduced) {
  const Sizes& x = check.in(0);
  if (!check.Require(mask != 0 && mask < uint64_t{1} << x.size(), "dimensions ", mask, " (a mask) of ", TextOf(x))) {
    return false;
  }
  reduced->clear();
  for (size_t d = 0; d < x.size(); ++d) {
    const bool is_reduced = (mask >> d & 1) != 0;
    if (!is_reduced || keeps) reduced->push_back(is_reduced ? 1 : x[d]);
  }
  if (reduced->empty()) *reduced = {1};
  return true;
}

void OneDimension(ShapeCheck& check) {
  const uint32_t dimension = check.params<synapse::ns_Reduction::Params>().reductionDimension;
  Sizes sizes;
  if (!check.RequireAxis(dimension, check.in(0).size())) return;
  if (Reduced(check, uint64_t{1} << dimension, true, &sizes)) check.RequireOutput(0, sizes);
}

void ManyDimensions(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_Reduction::ParamsV2>();
  Sizes sizes;
  if (Reduced(check, params.reductionDimensionMask, params.keepDim, &sizes)) check.RequireOutput(0, sizes);
}

// x -> mean, variance
void NormMoments(ShapeCheck& check) {
  Sizes sizes;
  if (!Reduced(check, check.params<synapse::ns_NormMomentsKernel::Params>().NormAxisBmp, true, &sizes)) return;
  check.RequireOutput(0, sizes);
  check.RequireOutput(1, sizes);
}

// x -> mean, variance of each channel, the fastest dimension
void ChannelMoments(ShapeCheck& check) {
  for (size_t i = 0; i < check.output_count(); ++i) {
    if (!check.has_output(i)) continue;
    check.Require(ElementCount(check.out(i)) == check.in(0)[0], "output ", i, ": expected ", check.in(0)[0],
                  " elements, found ", TextOf(check.out(i)));
  }
}

void CumulativeSum(ShapeCheck& check) {
  check.RequireAxis(check.params<synapse::ns_CumSumKernel::Params>().axis, check.in(0).size());
  check.RequireOutput(0, check.in(0));
}

void Softmax(ShapeCheck& check) {
  check.RequireAxis(check.params<synapse::ns_Softmax::Params>().dim, check.in(0).size());
  check.RequireInput(1, check.in(0));
  check.RequireOutput(0, check.in(0));
}

void CheckLabels(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_SoftmaxCrossEntropy::Params>();
  const Sizes& logits = check.in(0);
  if (!check.Require(logits.size() == 2, "logits ", TextOf(logits), ": expected rank 2")) return;
  check.RequireInputElements(1, logits[1]);
  check.Require(params.batchSize == logits[1], "batchSize ", params.batchSize, " of logits ", TextOf(logits));
}

// logits, labels -> loss, log-probabilities
void CrossEntropy(ShapeCheck& check) {
  CheckLabels(check);
  const auto params = check.params<synapse::ns_SoftmaxCrossEntropy::Params>();
  const bool reduces = params.mode != synapse::ns_SoftmaxCrossEntropy::CROSS_ENTROPY_MODE_NO_REDUCTION;
  const int64_t expected = reduces ? 1 : SizeOf(check.in(0), 1);
  check.Require(ElementCount(check.out(0)) == expected, "output 0: expected ", expected, " elements, found ",
                TextOf(check.out(0)));
  check.RequireOutput(1, check.in(0));
}

// log-probabilities, labels -> dLogits
void CrossEntropyGradient(ShapeCheck& check) {
  CheckLabels(check);
  check.RequireOutput(0, check.in(0));
}

}  // namespace

ShapeRules ReductionShapes() {
  ShapeRules rules = {{"cumsum_fwd", CumulativeSum},
                      {"logsoftmax_bwd", Softmax},
                      {"logsoftmax_fwd", Softmax},
                      {"moments_fwd", ChannelMoments},
                      {"norm_moments_fwd", NormMoments},
                      {"softmax_bwd", Softmax},
                      {"softmax_cross_entropy_bwd", CrossEntropyGradient},
                      {"softmax_cross_entropy_fwd", CrossEntropy},
                      {"softmax_fwd", Softmax}};
  for (const char* stem : {"reduce_sum_fwd", "reduce_mean_fwd", "reduce_max_fwd", "reduce_min_fwd", "reduce_prod_fwd",
                           "argmax_fwd", "argmin_fwd"}) {
    rules.push_back({stem, OneDimension});
  }
  for (const char* stem :
       {"reduce_sum_multi_dim_fwd", "reduce_mean_multi_dim_fwd", "reduce_max_multi_dim_fwd", "reduce_min_multi_dim_fwd",
        "reduce_prod_multi_dim_fwd", "argmax_multi_dim_fwd", "argmin_multi_dim_fwd"}) {
    rules.push_back({stem, ManyDimensions});
  }
  return rules;
}

}  // namespace hpu::synapse_double

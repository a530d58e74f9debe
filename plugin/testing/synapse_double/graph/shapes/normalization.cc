// Shapes of batch normalisation and layer normalisation.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

void RequireOutputElements(ShapeCheck& check, size_t i, int64_t expected) {
  if (!check.has_output(i)) return;
  check.Require(ElementCount(check.out(i)) == expected, "output ", i, ": expected ", expected, " elements, found ",
                TextOf(check.out(i)));
}

// x, 4 vectors of channels -> y[, vectors of channels]
void BatchNormalization(ShapeCheck& check) {
  const int64_t channels = check.in(0)[0];
  for (size_t i = 1; i < check.input_count(); ++i) check.RequireInputElements(i, channels);
  check.RequireOutput(0, check.in(0));
  for (size_t i = 1; i < check.output_count(); ++i) RequireOutputElements(check, i, channels);
}

// Two images, 3 vectors of channels -> dX[, vectors of channels]
void BatchNormalizationGradient(ShapeCheck& check) {
  const int64_t channels = check.in(0)[0];
  check.RequireInput(1, check.in(0));
  for (size_t i = 2; i < check.input_count(); ++i) check.RequireInputElements(i, channels);
  check.RequireOutput(0, check.in(0));
  for (size_t i = 1; i < check.output_count(); ++i) RequireOutputElements(check, i, channels);
}

struct Rows {
  int64_t length = 1;
  Sizes statistics;
};

Rows RowsOf(ShapeCheck& check) {
  using synapse::ns_LayerNormKernel::ParamsNorm;
  uint64_t mask = 1;
  if (check.params_size() == sizeof(ParamsNorm)) mask = static_cast<uint32_t>(check.params<ParamsNorm>().NormAxisBmp);
  Rows rows = {1, check.in(0)};
  check.Require(mask != 0 && mask < uint64_t{1} << rows.statistics.size(), "NormAxisBmp ", mask, " of ",
                TextOf(rows.statistics));
  for (size_t d = 0; d < rows.statistics.size(); ++d) {
    if ((mask >> d & 1) == 0) continue;
    rows.length *= rows.statistics[d];
    rows.statistics[d] = 1;
  }
  return rows;
}

// x, beta, gamma -> y, mean, istd
void LayerNormalization(ShapeCheck& check) {
  const Rows rows = RowsOf(check);
  check.RequireInputElements(1, rows.length);
  check.RequireInputElements(2, rows.length);
  check.RequireOutput(0, check.in(0));
  check.RequireOutput(1, rows.statistics);
  check.RequireOutput(2, rows.statistics);
}

// x, dY, mean, istd, gamma -> dX, dBeta, dGamma
void LayerNormalizationGradient(ShapeCheck& check) {
  const Rows rows = RowsOf(check);
  check.RequireInput(1, check.in(0));
  check.RequireInput(2, rows.statistics);
  check.RequireInput(3, rows.statistics);
  check.RequireInputElements(4, rows.length);
  check.RequireOutput(0, check.in(0));
  RequireOutputElements(check, 1, rows.length);
  RequireOutputElements(check, 2, rows.length);
}

}  // namespace

ShapeRules NormalizationShapes() {
  return {{"batch_norm_fwd", BatchNormalization},
          {"batch_norm_inf", BatchNormalization},
          {"batch_norm_bwd", BatchNormalizationGradient},
          {"tf_batch_normalization_fwd", BatchNormalization},
          {"tf_fused_batch_norm_grad", BatchNormalizationGradient},
          {"layer_norm_fwd", LayerNormalization},
          {"layer_norm_bwd", LayerNormalizationGradient}};
}

}  // namespace hpu::synapse_double

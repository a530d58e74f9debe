// Layer normalization: normalizes each row by its statistics, multiplies it by gamma and adds beta.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/reduction.h"

namespace hpu::synapse_double {
namespace {

constexpr double kDefaultEpsilon = 1e-5;  // where epsValid is false; a card's default is unknown

// Reads the dimensions that form a row; dimension 0 by default.
bool ReadRow(KernelContext* context, std::vector<bool>* row) {
  const size_t rank = context->input(0).rank();
  uint32_t mask = 1;
  if (context->params_size() == sizeof(synapse::ns_LayerNormKernel::ParamsNorm)) {
    mask = static_cast<uint32_t>(context->params<synapse::ns_LayerNormKernel::ParamsNorm>().NormAxisBmp);
  }
  if (!context->Require(mask != 0 && mask < uint64_t{1} << rank, "mask ", mask, ": the rank is ", rank)) return false;
  for (size_t d = 0; d < rank; ++d) row->push_back((mask >> d & 1) != 0);
  return true;
}

// Gamma or beta, with the elements of a row.
bool LoadScale(KernelContext* context, size_t i, const Sizes& sizes, const std::vector<bool>& row,
               DenseArray<double>* scale) {
  Sizes row_sizes = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!row[d]) row_sizes[d] = 1;
  }
  if (!context->Require(ElementCount(context->input(i).sizes) == ElementCount(row_sizes), "input ", i, ": expected ",
                        ElementCount(row_sizes), " elements, found ", TextOf(context->input(i).sizes))) {
    return false;
  }
  *scale = Load<double>(context->input(i)).Reshaped(row_sizes).BroadcastTo(sizes);
  return true;
}

double Plus(double a, double b) { return a + b; }

// Means over the row.
DenseArray<double> RowMeans(const DenseArray<double>& x, const std::vector<bool>& row) {
  DenseArray<double> means = Reduce(x, row, 0.0, Plus);
  const double length = static_cast<double>(x.count()) / static_cast<double>(means.count());
  for (int64_t i = 0; i < means.count(); ++i) means[i] /= length;
  return means;
}

// X[, beta[, gamma]] -> Y, mean, inverse deviation
void LayerNormForward(KernelContext& context) {
  const auto params = context.params<synapse::ns_LayerNormKernel::Params>();
  const double epsilon = params.epsValid ? params.eps : kDefaultEpsilon;
  const DenseArray<double> x = Load<double>(context.input(0));
  std::vector<bool> row;
  if (!ReadRow(&context, &row) || !context.RequireSizes(context.output(0), x.sizes(), "output 0")) return;
  DenseArray<double> beta(x.sizes(), 0);
  DenseArray<double> gamma(x.sizes(), 1);
  if (context.has_input(1) && !LoadScale(&context, 1, x.sizes(), row, &beta)) return;
  if (context.has_input(2) && !LoadScale(&context, 2, x.sizes(), row, &gamma)) return;
  const DenseArray<double> mean = RowMeans(x, row);
  const DenseArray<double> means = mean.BroadcastTo(x.sizes());
  DenseArray<double> squares(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) squares[i] = (x[i] - means[i]) * (x[i] - means[i]);
  DenseArray<double> inverse = RowMeans(squares, row);
  for (int64_t i = 0; i < inverse.count(); ++i) inverse[i] = 1 / std::sqrt(inverse[i] + epsilon);
  const DenseArray<double> inverses = inverse.BroadcastTo(x.sizes());
  DenseArray<double> y(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) y[i] = (x[i] - means[i]) * inverses[i] * gamma[i] + beta[i];
  for (size_t i = 1; i < context.output_count(); ++i) {
    if (context.has_output(i) && !context.RequireSizes(context.output(i), mean.sizes(), "statistics")) return;
  }
  Store(y, context.output(0));
  if (context.has_output(1)) Store(mean, context.output(1));
  if (context.has_output(2)) Store(inverse, context.output(2));
}

// X, dY, mean, inverse deviation, gamma -> dX, dBeta, dGamma
void LayerNormBackward(KernelContext& context) {
  const DenseArray<double> x = Load<double>(context.input(0));
  std::vector<bool> row;
  if (!ReadRow(&context, &row) || !context.RequireSizes(context.output(0), x.sizes(), "output 0")) return;
  if (!context.RequireSizes(context.input(1), x.sizes(), "input 1")) return;
  const Sizes statistics = ReducedSizes(x.sizes(), row);
  if (!context.RequireSizes(context.input(2), statistics, "input 2")) return;
  if (!context.RequireSizes(context.input(3), statistics, "input 3")) return;
  DenseArray<double> gamma(x.sizes());
  if (!LoadScale(&context, 4, x.sizes(), row, &gamma)) return;
  const DenseArray<double> dy = Load<double>(context.input(1));
  const DenseArray<double> means = Load<double>(context.input(2)).BroadcastTo(x.sizes());
  const DenseArray<double> inverses = Load<double>(context.input(3)).BroadcastTo(x.sizes());
  DenseArray<double> normalized(x.sizes());
  DenseArray<double> scaled(x.sizes());
  DenseArray<double> products(x.sizes());
  DenseArray<double> gamma_terms(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) {
    normalized[i] = (x[i] - means[i]) * inverses[i];
    scaled[i] = dy[i] * gamma[i];
    products[i] = scaled[i] * normalized[i];
    gamma_terms[i] = dy[i] * normalized[i];
  }
  const DenseArray<double> scaled_means = RowMeans(scaled, row).BroadcastTo(x.sizes());
  const DenseArray<double> product_means = RowMeans(products, row).BroadcastTo(x.sizes());
  DenseArray<double> dx(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) {
    dx[i] = inverses[i] * (scaled[i] - scaled_means[i] - normalized[i] * product_means[i]);
  }
  std::vector<bool> others = row;
  others.flip();
  const DenseArray<double> dbeta = Reduce(dy, others, 0.0, Plus);
  const DenseArray<double> dgamma = Reduce(gamma_terms, others, 0.0, Plus);
  for (size_t i = 1; i < context.output_count(); ++i) {
    if (context.has_output(i) && !context.Require(ElementCount(context.output(i).sizes) == dbeta.count(), "output ", i,
                                                  ": expected ", dbeta.count(), " elements")) {
      return;
    }
  }
  Store(dx, context.output(0));
  if (context.has_output(1)) Store(dbeta, context.output(1));
  if (context.has_output(2)) Store(dgamma, context.output(2));
}

}  // namespace

void AddLayerNormalization(KernelRegistry* registry) {
  using synapse::ns_LayerNormKernel::Params;
  using synapse::ns_LayerNormKernel::ParamsNorm;
  const std::vector<size_t> sizes = {sizeof(Params), sizeof(ParamsNorm)};
  registry->Add({"layer_norm_bwd", Suffix::kType, {5, 5}, {1, 3}, sizes, LayerNormBackward});
  registry->Add({"layer_norm_fwd", Suffix::kType, {1, 3}, {1, 3}, sizes, LayerNormForward});
}

}  // namespace hpu::synapse_double

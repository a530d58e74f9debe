// Random numbers and dropout.
//
// The sequences of a card are unknown. Here element i is a hash of i and the seeds of the params, of the optional input
// and of the switches. Equal seeds produce equal numbers.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

// SplitMix64.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A sequence of numbers in [0, 1), by position.
class Sequence {
 public:
  explicit Sequence(uint64_t key) : key_(key) {}

  double At(uint64_t position) const {
    constexpr int kBits = 24;
    return std::ldexp(static_cast<double>(Mix(key_ ^ Mix(position)) >> (64 - kBits)), -kBits);
  }

 private:
  uint64_t key_;
};

// Input `seed_input`, if present, holds one integer.
bool MakeSequence(KernelContext* context, uint32_t params_seed, size_t seed_input, Sequence* sequence) {
  uint64_t key = Mix(context->switches().seed) ^ params_seed;
  if (context->has_input(seed_input)) {
    const TensorView& seed = context->input(seed_input);
    if (!context->Require(seed.type == ElementType::kI32 && ElementCount(seed.sizes) == 1, "input ", seed_input,
                          ": expected one i32, found ", SuffixOf(seed.type), TextOf(seed.sizes))) {
      return false;
    }
    key = Mix(key) ^ Load<uint64_t>(seed)[0];
  }
  *sequence = Sequence(Mix(key));
  return true;
}

// Numbers in [low, high), rounded down to the output's type.
template <typename Params>
void Uniform(KernelContext& context, const Params& params, uint64_t first) {
  Sequence sequence(0);
  if (!MakeSequence(&context, params.seed, 0, &sequence)) return;
  const TensorView& output = context.output(0);
  DenseArray<double> y(output.sizes);
  const double range = static_cast<double>(params.high) - params.low;
  for (int64_t i = 0; i < y.count(); ++i) {
    y[i] = params.low + range * sequence.At(first + static_cast<uint64_t>(i));
    y[i] = IsFloat(output.type) ? RoundToFloat(y[i], output.type, RoundMode::kDown) : std::floor(y[i]);
  }
  Store(y, output);
}

void RandomUniform(KernelContext& context) { Uniform(context, context.params<synapse::ns_RandomUniform::Params>(), 0); }

void PhiloxRandomUniform(KernelContext& context) {
  const auto params = context.params<synapse::ns_PhiloxRandomUniform::ParamsV2>();
  Uniform(context, params, params.counterInitial);
}

// Box-Muller transform.
void RandomNormal(KernelContext& context) {
  const auto params = context.params<synapse::ns_RandomNormal::Params>();
  Sequence sequence(0);
  if (!MakeSequence(&context, params.seed, 0, &sequence)) return;
  DenseArray<double> y(context.output(0).sizes);
  for (int64_t i = 0; i < y.count(); ++i) {
    const auto at = static_cast<uint64_t>(2 * i);
    const double radius = std::sqrt(-2 * std::log(1 - sequence.At(at)));
    y[i] = params.mean + params.stddev * radius * std::cos(2 * M_PI * sequence.At(at + 1));
  }
  Store(y, context.output(0));
}

// X[, seed] -> Y[, mask]. `ratio` is the probability of 0.
void Dropout(KernelContext& context) {
  const auto params = context.params<synapse::ns_DropoutKernel::ParamsOptionalMaskOut>({0, 0, false, {}, 1});
  if (!context.Require(params.ratio >= 0 && params.ratio <= 1, "ratio ", params.ratio, " is not in [0, 1]")) return;
  Sequence sequence(0);
  if (!MakeSequence(&context, params.seed, 1, &sequence)) return;
  const DenseArray<double> x = Load<double>(context.input(0));
  if (!context.RequireSizes(context.output(0), x.sizes(), "output 0")) return;
  if (context.has_output(1) && !context.RequireSizes(context.output(1), x.sizes(), "output 1")) return;
  DenseArray<double> y(x.sizes());
  DenseArray<int64_t> mask(x.sizes());
  const double ratio = params.isTraining != 0 ? params.ratio : 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    mask[i] = sequence.At(static_cast<uint64_t>(i)) >= ratio ? 1 : 0;
    if (mask[i] != 0) y[i] = x[i] / (1 - ratio);
  }
  Store(y, context.output(0));
  if (context.has_output(1)) Store(mask, context.output(1));
}

// dY, mask -> dX
void DropoutGradient(KernelContext& context) {
  const double ratio = context.params<synapse::ns_DropoutKernel::Params>().ratio;
  DenseArray<double> dx = Load<double>(context.input(0));
  if (!context.RequireSizes(context.input(1), dx.sizes(), "input 1")) return;
  if (!context.RequireSizes(context.output(0), dx.sizes(), "output 0")) return;
  const DenseArray<int64_t> mask = Load<int64_t>(context.input(1));
  for (int64_t i = 0; i < dx.count(); ++i) dx[i] = mask[i] != 0 ? dx[i] / (1 - ratio) : 0;
  Store(dx, context.output(0));
}

}  // namespace

void AddRandom(KernelRegistry* registry) {
  namespace dropout = synapse::ns_DropoutKernel;
  namespace philox = synapse::ns_PhiloxRandomUniform;
  const auto add = [&](const char* stem, Arity inputs, Arity outputs, std::vector<size_t> params, Kernel kernel) {
    registry->Add({stem, Suffix::kType, inputs, outputs, std::move(params), kernel});
  };
  add("dropout_bwd", {2, 2}, {1, 1}, {sizeof(dropout::Params)}, DropoutGradient);
  add("dropout_fwd", {1, 2}, {1, 2}, {sizeof(dropout::Params), sizeof(dropout::ParamsOptionalMaskOut)}, Dropout);
  add("philox_random_uniform", {0, 1}, {1, 1}, {sizeof(philox::Params), sizeof(philox::ParamsV2)}, PhiloxRandomUniform);
  add("random_normal_fwd", {0, 1}, {1, 1}, {sizeof(synapse::ns_RandomNormal::Params)}, RandomNormal);
  add("random_uniform_fwd", {0, 1}, {1, 1}, {sizeof(synapse::ns_RandomUniform::Params)}, RandomUniform);
}

}  // namespace hpu::synapse_double

// Shapes of elementwise nodes, of activations and their gradients, and of fills.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

// All results have the sizes to which all operands broadcast.
void Broadcasting(ShapeCheck& check) {
  std::vector<size_t> inputs(check.input_count());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = i;
  Sizes sizes;
  if (!BroadcastOf(check, inputs, &sizes)) return;
  for (size_t i = 0; i < check.output_count(); ++i) check.RequireOutput(i, sizes);
}

// All operands and results have the sizes of the first operand.
void Uniform(ShapeCheck& check) {
  for (size_t i = 1; i < check.input_count(); ++i) check.RequireInput(i, check.in(0));
  for (size_t i = 0; i < check.output_count(); ++i) check.RequireOutput(i, check.in(0));
}

// dY -> dA, dB, of operands that broadcast to dY.
void BroadcastGradient(ShapeCheck& check) {
  const Sizes& dy = check.in(0);
  for (size_t i = 0; i < check.output_count(); ++i) {
    if (!check.has_output(i)) continue;
    const Sizes& gradient = check.out(i);
    bool agree = gradient.size() <= dy.size();
    for (size_t d = 0; agree && d < gradient.size(); ++d) agree = gradient[d] == 1 || gradient[d] == dy[d];
    check.Require(agree, "output ", i, ": sizes ", TextOf(gradient), " do not broadcast to ", TextOf(dy));
  }
}

// x, seed -> y, mask
void Dropout(ShapeCheck& check) {
  check.RequireInputElements(1, 1);
  for (size_t i = 0; i < check.output_count(); ++i) check.RequireOutput(i, check.in(0));
}

// A constant takes the sizes of its result.
void Constant(ShapeCheck&) {}

void ElementRange(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_RangeKernel::Params>();
  const bool is_float = check.output(0).type == synapse::syn_type_single;
  const auto value = [&](synapse::fint_t number) { return is_float ? double{number.f} : double(number.i); };
  const double delta = value(params.delta);
  if (!check.Require(delta != 0, "delta is 0")) return;
  const double count = std::ceil((value(params.limit) - value(params.start)) / delta);
  check.Require(static_cast<double>(ElementCount(check.out(0))) == (count > 0 ? count : 0), "output 0: expected ",
                count, " elements, found ", TextOf(check.out(0)));
}

}  // namespace

ShapeRules ElementwiseShapes() {
  ShapeRules rules;
  for (const char* stem : {"add_fwd",
                           "sub_fwd",
                           "mult_fwd",
                           "div_fwd",
                           "div_mod_fwd",
                           "floor_divide_fwd",
                           "mod_fwd",
                           "rem_fwd",
                           "max_fwd",
                           "min_fwd",
                           "pow_fwd",
                           "atan2_fwd",
                           "bitwise_and_fwd",
                           "bitwise_or_fwd",
                           "bitwise_xor_fwd",
                           "bitshift_fwd",
                           "and",
                           "or",
                           "xor",
                           "equal_fwd",
                           "less_fwd",
                           "less_equal_fwd",
                           "greater_fwd",
                           "greater_equal_fwd",
                           "where_fwd"}) {
    rules.push_back({stem, Broadcasting});
  }
  for (const char* stem :
       {"clamp_pt_fwd", "bitwise_not_fwd", "not",           "not_fwd",     "isfinite_fwd", "neg_fwd",  "abs_fwd",
        "sign_fwd",     "sqrt_fwd",        "rsqrt_fwd",     "exp_fwd",     "expm1_fwd",    "log_fwd",  "log1p_fwd",
        "round_fwd",    "floor_fwd",       "ceil_fwd",      "pow2_fwd",    "sin_fwd",      "cos_fwd",  "tan_fwd",
        "sinh_fwd",     "cosh_fwd",        "asin_fwd",      "digamma_fwd", "tanh_fwd",     "tanh_bwd", "sigmoid_fwd",
        "sigmoid_bwd",  "erf_fwd",         "erfc_fwd",      "erfinv_fwd",  "gammaln_fwd",  "relu_fwd", "relu_bwd",
        "elu_fwd",      "leakyrelu_fwd",   "leakyrelu_bwd", "gelu_fwd",    "gelu_bwd",     "cast",     "dropout_bwd"}) {
    rules.push_back({stem, Uniform});
  }
  rules.push_back({"add_bwd", BroadcastGradient});
  rules.push_back({"constant", Constant});
  rules.push_back({"dropout_fwd", Dropout});
  rules.push_back({"range", ElementRange});
  return rules;
}

}  // namespace hpu::synapse_double

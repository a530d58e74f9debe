// Ops whose CPU kernel fails for some values, where compiled code returns a number.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_VALUE_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_VALUE_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::passes {

struct ValueRule {
  enum class Test {
    kNonzero,      // no element of the input is 0
    kNonNegative,  // no element of the input is negative
    kPositive,     // all elements of the input are positive
    kOrdered,      // the input, a scalar, is not greater than the next input
    kBand,         // the input and the next one are at most the rows and columns of input 0
    kFactored,     // the op's first result has no NaN, unless the input or a later one is not finite
  };
  Test test;
  int input;
  absl::StatusCode code;
  const char* error;      // error text of the CPU kernel
  bool host_safe = true;  // the CPU kernel itself fails; else it writes outside its results
};

// The rule of an op with these attributes; null for most ops.
const ValueRule* FindValueRule(std::string_view op, tensorflow::AttrSlice attributes);

// Whether values in host memory pass a test of one tensor: the input, or the result for kFactored.
bool Passes(const ValueRule& rule, const tensorflow::Tensor& values);

// The same for kOrdered.
bool IsOrdered(const tensorflow::Tensor& low, const tensorflow::Tensor& high);

// The same for kBand, for matrices of this shape.
bool IsBand(const tensorflow::Tensor& lower, const tensorflow::Tensor& upper, const tensorflow::TensorShape& matrices);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_VALUE_RULES_H_

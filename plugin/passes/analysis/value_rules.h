// Ops whose CPU kernel fails for some values, where compiled code returns a number.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_VALUE_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_VALUE_RULES_H_

#include <string_view>

#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::passes {

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

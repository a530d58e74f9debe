// Conditions on values that CPU kernels check and compiled code does not.
#ifndef HPU_PLUGIN_CHECKS_VALUE_RULE_H_
#define HPU_PLUGIN_CHECKS_VALUE_RULE_H_

#include <string_view>

#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::checks {

// The value rule of an op with these attributes; null for most ops.
const ValueRule* FindValueRule(std::string_view op, tensorflow::AttrSlice attributes);

// Whether a tensor in host memory satisfies a rule that tests one tensor: the input, or result 0 for kFactored.
bool Satisfies(const ValueRule& rule, const tensorflow::Tensor& values);

// Whether `low` and `high` in host memory satisfy kOrdered.
bool IsOrdered(const tensorflow::Tensor& low, const tensorflow::Tensor& high);

// Whether `lower` and `upper` in host memory satisfy kBand for matrices of this shape.
bool IsBand(const tensorflow::Tensor& lower, const tensorflow::Tensor& upper, const tensorflow::TensorShape& matrices);

}  // namespace hpu::checks

#endif  // HPU_PLUGIN_CHECKS_VALUE_RULE_H_

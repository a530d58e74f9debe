// Values of constant nodes and attributes.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_VALUE_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_VALUE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The value of a constant (int32, int64, or floats of 16 to 64 bits) whose elements are all equal. nullopt for other
// nodes, and for constants that are empty or have more than 64 Ki elements.
std::optional<double> NumberOf(const tensorflow::Node& node);

// NumberOf for the attribute "value" of a constant.
std::optional<double> NumberOf(const tensorflow::AttrValue& value);

// The elements of an int32 or int64 tensor of up to 64 Ki elements, or of a list of integers; empty for other
// attributes.
std::vector<int64_t> WholeNumbersOf(const tensorflow::AttrValue& value);

// Whether NumberOf(node) equals `number`, to the precision of the constant's type.
bool IsNumber(const tensorflow::Node& node, double number);

// Whether two numbers are equal up to the rounding errors of a few operations in `type`.
bool IsAbout(double value, double expected, tensorflow::DataType type);

// Whether two attributes are equal. Constants are compared by value.
bool SameValue(const tensorflow::AttrValue& a, const tensorflow::AttrValue& b);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_VALUE_H_

// Values of constants in a graph.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_VALUE_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_VALUE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The value of a floating-point or whole-number constant whose elements are all equal; nothing for other nodes and for
// constants of more than 64 Ki elements that are spelt out.
std::optional<double> NumberOf(const tensorflow::Node& node);

// The same of a constant's attribute.
std::optional<double> NumberOf(const tensorflow::AttrValue& value);

// The elements of a tensor of int32 or int64, or of a list of whole numbers; none for anything else.
std::vector<int64_t> WholeNumbersOf(const tensorflow::AttrValue& value);

// Whether NumberOf(node) is this number, to the precision of the constant's type.
bool IsNumber(const tensorflow::Node& node, double number);

// Whether two numbers are equal to the precision of a type, after some arithmetic in it.
bool IsAbout(double value, double expected, tensorflow::DataType type);

// Whether two attributes are equal; constants by their values.
bool SameValue(const tensorflow::AttrValue& a, const tensorflow::AttrValue& b);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_VALUE_H_

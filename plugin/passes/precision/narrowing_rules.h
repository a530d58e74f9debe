// Which 64-bit values are 32-bit ones in disguise, and which ops can do with them.
#ifndef HPU_PLUGIN_PASSES_PRECISION_NARROWING_RULES_H_
#define HPU_PLUGIN_PASSES_PRECISION_NARROWING_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "plugin/passes/analysis/op_list.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// int64 gives int32, float64 gives float32; others give themselves.
tensorflow::DataType NarrowType(tensorflow::DataType type);
inline bool IsWide(tensorflow::DataType type) { return NarrowType(type) != type; }

// What an op does with the values whose type an attribute holds.
enum class WideRole {
  kTakes,    // its inputs; results are of other types and equal for equal values
  kCarries,  // its inputs and outputs, which hold nothing but values of the inputs
  kGives,    // its outputs
};

struct WideAttribute {
  std::string name;
  WideRole role;
};

// The attributes of a node that hold a wide type and may be narrowed if its values allow it. `list` tells which
// attributes hold types of indices.
std::vector<WideAttribute> WideAttributes(const tensorflow::Node& node, const OpListData& list);

// Whether every value is one of the narrow type. Numbers that a device might flush to zero are not.
bool FitsNarrow(const tensorflow::Tensor& value);
tensorflow::Tensor ToNarrow(const tensorflow::Tensor& value);

// Whether a node that gives wide values by kGives (positions, sizes) gives small ones only: known from shapes.
bool GivesSmallValues(const tensorflow::Node& node, const StaticShapes& shapes);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_NARROWING_RULES_H_

// Rules for narrowing: which 64-bit values fit in 32 bits, and which ops accept 32-bit types instead.
#ifndef HPU_PLUGIN_PASSES_PRECISION_NARROWING_RULES_H_
#define HPU_PLUGIN_PASSES_PRECISION_NARROWING_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/op_list.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// int32 for int64, float32 for float64; other types are returned unchanged.
tensorflow::DataType NarrowType(tensorflow::DataType type);
inline bool IsWide(tensorflow::DataType type) { return NarrowType(type) != type; }

struct WideAttribute {
  std::string name;
  NarrowingRule::Role role;
};

// The type attributes of a node that are wide and may be narrowed if the values fit. `list` determines which attributes
// are index types.
std::vector<WideAttribute> WideAttributes(const tensorflow::Node& node, const OpListData& list);

// Whether the narrow type represents every value exactly. Rejects values that a device might flush to zero.
bool FitsNarrow(const tensorflow::Tensor& value);
tensorflow::Tensor ToNarrow(const tensorflow::Tensor& value);

// Whether known shapes prove that the positions or sizes that a node returns fit in the narrow type.
bool OutputsFitNarrow(const tensorflow::Node& node, const StaticShapes& shapes);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_NARROWING_RULES_H_

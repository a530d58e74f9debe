// Shapes of the results of an If's or Case's functions.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_BRANCH_SHAPES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_BRANCH_SHAPES_H_

#include <optional>
#include <string>

#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The reason why two functions of an If or Case cannot return equal shapes, as compiled code requires. nullopt if the
// shapes may be equal.
std::optional<std::string> WhyShapesDiffer(const tensorflow::Node& node,
                                           const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_BRANCH_SHAPES_H_

// Ops that stay out of clusters although XLA would take them: docs/developer/pamsen.md explains each rule.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_

#include <optional>
#include <string>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct OpRefusal {
  std::string rule;
  std::string reason;
};

// Why a node stays out of clusters, judged by its op and types alone; nullopt says nothing about its compilability.
// Applies to nodes of a graph and of functions that a cluster holds whole.
std::optional<OpRefusal> RefuseByOp(const tensorflow::Node& node);

// Whether a result holds only values of its op's first input.
bool KeepsValues(const tensorflow::OutputTensor& tensor);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_

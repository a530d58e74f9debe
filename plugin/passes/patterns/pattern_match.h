// Pattern matching at a single node.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_MATCH_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_MATCH_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/patterns/pattern.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// One result of a node.
struct Output {
  tensorflow::Node* node = nullptr;
  int index = 0;

  bool operator==(const Output& other) const { return node == other.node && index == other.index; }
};

// Inputs of MatchPattern that are the same for all nodes of a graph.
struct MatchScope {
  std::function<bool(const tensorflow::Node&)> filter;  // whether a match may contain a node
  LazyShapes* shapes;                                   // shapes of the graph
};

// An occurrence of a pattern.
struct PatternMatch {
  const Output* Find(std::string_view name) const;
  const tensorflow::AttrValue* FindAttr(std::string_view name) const;

  std::vector<std::pair<std::string_view, Output>> values;                // inputs and statements, by name
  std::vector<std::pair<std::string_view, tensorflow::AttrValue>> attrs;  // captures of $name; constants as tensors
  tensorflow::Node* root = nullptr;
  LazyShapes* shapes = nullptr;
  std::vector<tensorflow::Node*> nodes;    // nodes that the fused op replaces
  std::vector<tensorflow::Node*> shared;   // nodes that the fused op does not need, but other nodes may
  std::vector<tensorflow::Node*> trivial;  // constants and products with constants; replaced if unused elsewhere
  std::vector<Output> more_terms;          // terms of a sum "AddN(…, ...)" at the root that are not in the pattern
};

// The match of `pattern` with root `root`; nullopt if there is none. The run time does not depend on the graph's size.
std::optional<PatternMatch> MatchPattern(const Pattern& pattern, tensorflow::Node* root, const MatchScope& scope);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_MATCH_H_

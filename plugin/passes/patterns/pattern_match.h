// Finds a pattern at a node.
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

// What a search may use besides the pattern.
struct MatchScope {
  std::function<bool(const tensorflow::Node&)> concerned;  // whether a match may have a node
  LazyShapes* shapes;                                      // of the graph
};

// Where a pattern was found.
struct PatternMatch {
  const Output* Find(std::string_view name) const;
  const tensorflow::AttrValue* FindAttr(std::string_view name) const;

  std::vector<std::pair<std::string_view, Output>> values;                // inputs and statements by name
  std::vector<std::pair<std::string_view, tensorflow::AttrValue>> attrs;  // what $name captured; constants as tensors
  tensorflow::Node* root = nullptr;
  LazyShapes* shapes = nullptr;
  std::vector<tensorflow::Node*> nodes;    // that the fused op replaces
  std::vector<tensorflow::Node*> shared;   // that it no longer needs, but others may
  std::vector<tensorflow::Node*> trivial;  // constants and products with constants: replaced where no other uses them
  std::vector<Output> more_terms;  // of a sum "AddN(…, ...)" at the root: those that the pattern does not have
};

// The match of `pattern` whose root is `root`, if there is one. Takes time bounded by the pattern, not by the graph.
std::optional<PatternMatch> MatchPattern(const Pattern& pattern, tensorflow::Node* root, const MatchScope& scope);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_MATCH_H_

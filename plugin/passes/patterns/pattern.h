// Patterns, as data: groups of ops that one fused op can replace.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "plugin/passes/patterns/op_text.h"

namespace hpu::passes {

struct PatternMatch;

// One entry of the table (pattern_table.cc), in the notation of op_text.h.
struct PatternEntry {
  const char* name;
  const char* meaning;  // description for docs/developer/patterns.md
  // Statements: name = expression. Names without a statement are inputs. Nodes outside the match may use the results,
  // and the values of a statement with *. So a gradient can include ops that its forward part computed. Any other
  // outside use prevents the match.
  const char* match;
  // The op that replaces the match, with its inputs and attributes. Another op may make an input; entries that make it
  // from the same inputs share that op.
  const char* fused;
  // The values that its results replace, in order, as name or name:result; _ for none. The first is the root. Later
  // ones that are not among the root's ancestors are searched for among users, and may be missing.
  const char* results;
  // Condition that the text cannot express; may be null. Returns false to reject the match; may add attributes.
  bool (*check)(PatternMatch*);
};

// An entry, parsed.
struct Pattern {
  struct Result {
    std::string name;  // "_": none
    int output = 0;
  };

  const OpStatement* Find(std::string_view statement) const;
  const OpExpression& Root() const { return Find(results[0].name)->expression; }

  const PatternEntry* entry;
  std::vector<OpStatement> statements;
  OpExpression fused;
  std::vector<Result> results;
  std::vector<std::string> root_ops;      // op types that the root may have
  std::vector<std::string> required_ops;  // op types without which a graph has no match
};

// The table. Gradients come before their forward ops, so that they no longer use the values of these.
absl::Span<const PatternEntry> PatternEntries();

// The table, parsed on the first call. Thread safe. An entry that does not parse ends the process.
const std::vector<Pattern>& Patterns();

// Canonical name for ops that patterns need not distinguish: "AddV2" for "Add", "AddN" for both in sums. Other ops keep
// their own name.
std::string_view SameOp(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_

// Patterns: groups of ops that one fused op can replace, as data.
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
  const char* meaning;  // for people, in docs/developer/patterns.md
  // Statements: name = expression. Names without a statement are inputs. Values of a statement with * may be used
  // elsewhere, so that a gradient can take in what its forward part has computed; any other value that is used outside
  // prevents the match, unless it is among the results.
  const char* match;
  // The op that takes their place, with its inputs and attributes. An input may be made by an op in turn: the same one
  // for all entries that make it from the same inputs.
  const char* fused;
  // What its results replace, in order, as name or name:result; _ for none. The first is the root; later ones that the
  // root does not lead to are looked for among users and may be missing.
  const char* results;
  // Null, or what the text cannot say: false is no match; may add attributes.
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

// The table: gradients before what they are gradients of, so that they no longer use its values.
absl::Span<const PatternEntry> PatternEntries();

// The table, parsed at the first call. Thread safe; an entry that does not parse ends the process.
const std::vector<Pattern>& Patterns();

// "AddV2" for "Add", "AddN" for both in sums; otherwise the op itself: spellings of one op that a pattern need not tell
// apart.
std::string_view SameOp(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_

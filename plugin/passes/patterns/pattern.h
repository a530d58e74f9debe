// Pattern table: groups of ops that one fused op can replace.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "plugin/passes/patterns/op_text.h"

namespace hpu::passes {

struct PatternMatch;

// One entry of the table in pattern_table.cc, in the notation of op_text.h.
struct PatternEntry {
  const char* name;
  const char* meaning;  // description for docs/developer/patterns.md
  // Statements: name = expression. Names without a statement are inputs. Nodes outside the match may use the results
  // and the values of statements with *. So the match of a gradient can include forward ops. If outside nodes use any
  // other value, the match stays unchanged.
  const char* match;
  // The op that replaces the match, with its inputs and attributes. An input may be the result of another added op.
  // Entries that add the same op with the same inputs and attributes share the added op.
  const char* fused;
  // For each result of `fused`, the value that the result replaces, as name or name:result; _ for none. The first value
  // is the root. A later value that is not an ancestor of the root is looked up among the users of matched nodes and
  // may be absent.
  const char* results;
  // Condition that the text cannot express; may be null. Returns false to reject the match. May add attributes to the
  // match.
  bool (*check)(PatternMatch*);
};

// A parsed entry of the pattern table.
struct Pattern {
  struct Result {
    std::string name;  // "_": no value
    int output = 0;
  };

  const OpStatement* Find(std::string_view statement) const;
  const OpExpression& Root() const { return Find(results[0].name)->expression; }

  const PatternEntry* entry;
  std::vector<OpStatement> statements;
  OpExpression fused;
  std::vector<Result> results;
  std::vector<std::string> root_ops;      // possible op types of the root
  std::vector<std::string> required_ops;  // op types that every match contains
};

// The pattern table. The pattern of a gradient precedes the pattern of its forward op. Once the gradient is replaced,
// no op uses the forward op's intermediate values, and the forward pattern can match.
absl::Span<const PatternEntry> PatternEntries();

// The table, parsed on the first call. A parse error terminates the process. Thread safe.
const std::vector<Pattern>& Patterns();

// Canonical name of ops that patterns treat as equal: "AddV2" for "Add" and "AddN", for example. Other ops keep their
// names.
std::string_view SameOp(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_H_

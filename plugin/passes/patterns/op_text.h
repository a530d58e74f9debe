// Parser for a text notation of op graphs, used by match patterns and decompositions of fused ops.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_OP_TEXT_H_
#define HPU_PLUGIN_PASSES_PATTERNS_OP_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace hpu::passes {

// One expression. The notation of each kind:
//
//   kOp            Mul(a, b)   Sum(x, $axes)[keep_dims=true, Tidx=$type]   AddN(a, b, ...)   Split(0, x)[num_split=2]:1
//                  $activation(x)   the op whose type an attribute holds; not in match patterns
//   kName          x           bn:1   an input, or the expression of a statement; :i selects result i, 0 by default
//   kAny           _           any tensor
//   kNumber        0.5         a constant whose elements all have this value
//   kCapture       $axes       a constant whose value is captured
//   kAlternatives  {a | b}     the first alternative that matches
//   kScaled        0.5 * e     e with constant factors anywhere in it; the factors' product is 0.5
//
// e~name matches e or Reshape(e, Shape(name)).
struct OpExpression {
  enum class Kind { kOp, kName, kAny, kNumber, kCapture, kAlternatives, kScaled };

  Kind kind = Kind::kAny;
  std::string name;                                        // op type, name, or capture without its $
  int output = 0;                                          // output index of kName, or of an op that a rewrite adds
  double number = 0;                                       // value of kNumber, or factor of kScaled
  bool open = false;                                       // AddN(a, ...): the sum may have more terms
  std::vector<OpExpression> args;                          // inputs, alternatives, or the scaled expression
  std::vector<OpExpression> reshaped_to;                   // the name after ~, if any
  std::vector<std::pair<std::string, std::string>> attrs;  // name and value as text; value $name: a capture
};

// name = expression. With a * before the name, nodes outside the match may use values of the expression.
struct OpStatement {
  std::string name;
  bool shared = false;
  OpExpression expression;
};

// Parses one statement per line and skips empty lines. Fails with INVALID_ARGUMENT; the error quotes the line and names
// the expected text.
absl::StatusOr<std::vector<OpStatement>> ParseOpText(std::string_view text);

// Parses one expression without a statement's name.
absl::StatusOr<OpExpression> ParseOpExpression(std::string_view text);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_OP_TEXT_H_

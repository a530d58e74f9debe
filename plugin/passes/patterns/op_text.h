// Text notation for small graphs of ops: match patterns and decompositions of fused ops.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_OP_TEXT_H_
#define HPU_PLUGIN_PASSES_PATTERNS_OP_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace hpu::passes {

// One expression. The text of each kind:
//
//   kOp            Mul(a, b)   Sum(x, $axes)[keep_dims=true, Tidx=$type]   AddN(a, b, ...)   Split(0, x)[num_split=2]:1
//                  $activation(x)   the op that an attribute names; only where ops are made
//   kName          x           bn:1   an input, or an expression that a statement named; : picks a result, 0 by default
//   kAny           _           any tensor
//   kNumber        0.5         a constant whose elements all have this value
//   kCapture       $axes       a constant whose value is wanted
//   kAlternatives  {a | b}     the first that fits
//   kScaled        0.5 * e     a product whose constant factors, wherever they stand in e, multiply to this number
//
// A trailing ~name allows the expression to be reshaped to the shape of the named one: e, or Reshape(e, Shape(name)).
struct OpExpression {
  enum class Kind { kOp, kName, kAny, kNumber, kCapture, kAlternatives, kScaled };

  Kind kind = Kind::kAny;
  std::string name;                                        // op, name or capture without its $
  int output = 0;                                          // of a name, or of an op that is added
  double number = 0;                                       // value, or factor of kScaled
  bool open = false;                                       // "...": the sum may have more terms
  std::vector<OpExpression> args;                          // inputs, alternatives, or the scaled expression
  std::vector<OpExpression> reshaped_to;                   // the name after ~, if any
  std::vector<std::pair<std::string, std::string>> attrs;  // name and value as text; $name captures or inserts one
};

// name = expression. A * before the name: nodes outside the match may use values of this expression.
struct OpStatement {
  std::string name;
  bool shared = false;
  OpExpression expression;
};

// Parses one statement per line and skips empty lines. INVALID_ARGUMENT names the line and what was expected.
absl::StatusOr<std::vector<OpStatement>> ParseOpText(std::string_view text);

// Parses a single expression.
absl::StatusOr<OpExpression> ParseOpExpression(std::string_view text);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_OP_TEXT_H_

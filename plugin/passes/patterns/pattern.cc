#include "plugin/passes/patterns/pattern.h"

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/status.h"

namespace hpu::passes {
namespace {

using Kind = OpExpression::Kind;
using Ops = std::set<std::string>;

// Adds the op types that every match of the expression contains.
void AddRequired(const Pattern& pattern, const OpExpression& expression, Ops* ops) {
  if (expression.kind == Kind::kAlternatives) return;
  if (expression.kind == Kind::kOp) ops->insert(std::string(SameOp(expression.name)));
  for (const OpExpression& arg : expression.args) AddRequired(pattern, arg, ops);
  if (expression.kind != Kind::kName) return;
  if (const OpStatement* statement = pattern.Find(expression.name)) AddRequired(pattern, statement->expression, ops);
}

void AddRoots(const Pattern& pattern, const OpExpression& expression, Ops* ops) {
  if (expression.kind == Kind::kOp) ops->insert(expression.name);
  if (expression.kind == Kind::kOp && expression.name == "AddN") ops->insert({"AddV2", "Add"});
  if (expression.kind == Kind::kOp && expression.name == "AddV2") ops->insert("Add");
  if (expression.kind == Kind::kScaled) ops->insert({"Mul", "RealDiv", "Neg"});
  if (expression.kind == Kind::kAlternatives || expression.kind == Kind::kScaled) {
    for (const OpExpression& arg : expression.args) AddRoots(pattern, arg, ops);
  }
}

Pattern Parse(const PatternEntry& entry) {
  Pattern pattern;
  pattern.entry = &entry;
  absl::StatusOr<std::vector<OpStatement>> statements = ParseOpText(entry.match);
  TF_CHECK_OK(statements.status()) << entry.name;
  pattern.statements = *std::move(statements);
  absl::StatusOr<OpExpression> fused = ParseOpExpression(entry.fused);
  TF_CHECK_OK(fused.status()) << entry.name;
  pattern.fused = *std::move(fused);
  for (const std::string_view text : absl::StrSplit(entry.results, ',')) {
    const std::vector<std::string> parts = absl::StrSplit(absl::StripAsciiWhitespace(text), ':');
    Pattern::Result result{parts[0], 0};
    CHECK(parts.size() == 1 || absl::SimpleAtoi(parts[1], &result.output))
        << entry.name << ": invalid output index in result " << text;
    CHECK(result.name == "_" || pattern.Find(result.name) != nullptr)
        << entry.name << ": no statement defines result " << text;
    pattern.results.push_back(result);
  }
  Ops roots;
  AddRoots(pattern, pattern.Root(), &roots);
  pattern.root_ops.assign(roots.begin(), roots.end());
  Ops required;
  AddRequired(pattern, pattern.Root(), &required);
  pattern.required_ops.assign(required.begin(), required.end());
  return pattern;
}

}  // namespace

const OpStatement* Pattern::Find(std::string_view statement) const {
  const auto found = std::find_if(statements.begin(), statements.end(),
                                  [&](const OpStatement& candidate) { return candidate.name == statement; });
  return found == statements.end() ? nullptr : &*found;
}

const std::vector<Pattern>& Patterns() {
  static const auto* patterns = [] {
    auto* parsed = new std::vector<Pattern>;
    for (const PatternEntry& entry : PatternEntries()) parsed->push_back(Parse(entry));
    return parsed;
  }();
  return *patterns;
}

std::string_view SameOp(std::string_view op) {
  if (op == "Add" || op == "AddN") return "AddV2";
  if (op == "Inv") return "Reciprocal";
  if (op == "Select") return "SelectV2";
  if (op == "BatchMatMul") return "BatchMatMulV2";
  return op;
}

}  // namespace hpu::passes

#include "plugin/passes/patterns/pattern_match.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "plugin/passes/analysis/constant_value.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.pb.h"

namespace hpu::passes {
namespace {

using Kind = OpExpression::Kind;
using tensorflow::Node;

constexpr int kMaxSteps = 20000;
constexpr int kMaxTerms = 32;
constexpr int kNoProduct = -1;

bool IsCommutative(std::string_view op) {
  return op == "Mul" || op == "AddV2" || op == "Maximum" || op == "Minimum" || op == "Equal";
}

// A goal of the search, in a linked list of remaining goals. Goals are on the stack of the functions that create them.
struct Goal {
  enum class What { kMatch, kTerms, kProductIs };

  What what = What::kMatch;
  const OpExpression* expression = nullptr;
  Output output;             // value to match; for kTerms the sum
  bool shared = false;       // inside a statement with *
  int product = kNoProduct;  // index of the product to multiply by constant factors (kMatch) or to check (kProductIs)
  bool as_it_is = false;     // the expression must match without Reshape
  size_t term = 0;           // kTerms: index of the next term
  uint32_t used = 0;         // kTerms: bit set of inputs that are matched already
  const Goal* next = nullptr;
};

Goal ToMatch(const OpExpression& expression, Output output, bool shared, const Goal* next) {
  Goal goal;
  goal.expression = &expression;
  goal.output = output;
  goal.shared = shared;
  goal.next = next;
  return goal;
}

Output FeedOf(const Node& node, int index) {
  const tensorflow::Edge* edge = nullptr;
  if (!node.input_edge(index, &edge).ok()) return {};
  return {edge->src(), edge->src_output()};
}

bool AttrIs(const tensorflow::AttrValue& value, const std::string& text) {
  switch (value.value_case()) {
    case tensorflow::AttrValue::kB:
      return value.b() == (text == "true");
    case tensorflow::AttrValue::kS:
      return value.s() == text;
    case tensorflow::AttrValue::kI:
      return std::to_string(value.i()) == text;
    default:
      return false;
  }
}

bool IsPatternInput(const Pattern& pattern, const OpExpression& expression) {
  return expression.kind == Kind::kAny || (expression.kind == Kind::kName && !pattern.Find(expression.name));
}

// Backtracking search for a pattern at one node.
class Matcher {
 public:
  Matcher(const Pattern& pattern, Node* root, const MatchScope& scope)
      : pattern_(pattern), root_(root), scope_(scope) {}

  std::optional<PatternMatch> Run();

 private:
  // State that backtracking restores.
  struct Checkpoint {
    size_t values, attrs, nodes, shared, trivial, more_terms;
    absl::InlinedVector<double, 4> products;
  };

  Checkpoint Save() const;
  void Restore(const Checkpoint& checkpoint);

  bool Solve(const Goal* goal);
  bool SolveMatch(const Goal& goal);
  bool SolveReshaped(const Goal& goal);
  bool SolveInProduct(const Goal& goal);
  bool SolveName(const Goal& goal);
  bool SolveOp(const Goal& goal);
  bool SolveArgs(const Goal& goal, bool swapped);
  bool SolveTerms(const Goal& goal);
  bool SolveOneOf(const Goal& goal);
  bool SolveScaled(const Goal& goal);
  bool MatchAttrs(const OpExpression& expression, const Node& node);
  bool Capture(std::string_view name, const tensorflow::AttrValue& value);
  // Returns the value that the node multiplies by a constant, and sets `factor` to the constant. Null for other nodes.
  Output Unscaled(const Node& node, double* factor) const;
  bool IsCandidate(const Node& node) const;
  void Record(const Goal& goal, Node* node);
  bool FindAmongUsers(const OpStatement& statement, bool shared);
  bool FindInputs(const OpExpression& fused);
  bool PassesCheck();
  std::vector<Output> Candidates(const OpExpression& expression) const;

  const Pattern& pattern_;
  Node* const root_;
  const MatchScope& scope_;
  PatternMatch match_;
  absl::InlinedVector<double, 4> products_;
  int steps_ = 0;
};

Matcher::Checkpoint Matcher::Save() const {
  return {match_.values.size(),
          match_.attrs.size(),
          match_.nodes.size(),
          match_.shared.size(),
          match_.trivial.size(),
          match_.more_terms.size(),
          products_};
}

void Matcher::Restore(const Checkpoint& checkpoint) {
  match_.values.resize(checkpoint.values);
  match_.attrs.resize(checkpoint.attrs);
  match_.nodes.resize(checkpoint.nodes);
  match_.shared.resize(checkpoint.shared);
  match_.trivial.resize(checkpoint.trivial);
  match_.more_terms.resize(checkpoint.more_terms);
  products_ = checkpoint.products;
}

bool Matcher::IsCandidate(const Node& node) const {
  return node.IsOp() && node.assigned_device_name_index() == root_->assigned_device_name_index() && scope_.filter(node);
}

void Matcher::Record(const Goal& goal, Node* node) { (goal.shared ? match_.shared : match_.nodes).push_back(node); }

bool Matcher::Solve(const Goal* goal) {
  if (goal == nullptr) return true;
  if (++steps_ > kMaxSteps) return false;
  switch (goal->what) {
    case Goal::What::kMatch:
      return SolveMatch(*goal);
    case Goal::What::kTerms:
      return SolveTerms(*goal);
    case Goal::What::kProductIs: {
      const tensorflow::DataType type = root_->output_type(0);
      return IsAbout(products_[goal->product], goal->expression->number, type) && Solve(goal->next);
    }
  }
  return false;
}

bool Matcher::SolveMatch(const Goal& goal) {
  const OpExpression& expression = *goal.expression;
  if (goal.output.node == nullptr) return false;
  if (!expression.reshaped_to.empty() && !goal.as_it_is) return SolveReshaped(goal);
  if (goal.product != kNoProduct) return SolveInProduct(goal);
  switch (expression.kind) {
    case Kind::kAny:
      return Solve(goal.next);
    case Kind::kName:
      return SolveName(goal);
    case Kind::kNumber:
      if (!IsNumber(*goal.output.node, expression.number)) return false;
      match_.trivial.push_back(goal.output.node);
      return Solve(goal.next);
    case Kind::kCapture: {
      const tensorflow::AttrValue* value =
          goal.output.node->IsConstant() ? goal.output.node->attrs().Find("value") : nullptr;
      if (value == nullptr || !Capture(expression.name, *value)) return false;
      match_.trivial.push_back(goal.output.node);
      return Solve(goal.next);
    }
    case Kind::kAlternatives:
      return SolveOneOf(goal);
    case Kind::kScaled:
      return SolveScaled(goal);
    case Kind::kOp:
      return SolveOp(goal);
  }
  return false;
}

bool Matcher::SolveReshaped(const Goal& goal) {
  const Checkpoint checkpoint = Save();
  Node* node = goal.output.node;
  if (node->type_string() == "Reshape" && IsCandidate(*node)) {
    const Output shape = FeedOf(*node, 1);
    if (shape.node->type_string() == "Shape" || shape.node->type_string() == "ShapeN") {
      const Goal same =
          ToMatch(goal.expression->reshaped_to[0], FeedOf(*shape.node, shape.index), /*shared=*/true, goal.next);
      Goal inner = goal;
      inner.output = FeedOf(*node, 0);
      inner.as_it_is = true;
      inner.next = &same;
      Record(goal, node);
      match_.shared.push_back(shape.node);
      if (Solve(&inner)) return true;
      Restore(checkpoint);
    }
  }
  Goal plain = goal;
  plain.as_it_is = true;
  if (Solve(&plain)) return true;
  Restore(checkpoint);
  // A constant factor may follow the Reshape, so try the value without the factor.
  double factor = 1;
  const Output unscaled = goal.product == kNoProduct ? Output() : Unscaled(*node, &factor);
  if (unscaled.node == nullptr) return false;
  products_[goal.product] *= factor;
  match_.trivial.push_back(node);
  Goal behind = goal;
  behind.output = unscaled;
  return Solve(&behind);
}

Output Matcher::Unscaled(const Node& node, double* factor) const {
  if (!IsCandidate(node)) return {};
  if (node.type_string() == "Neg") {
    *factor = -1;
    return FeedOf(node, 0);
  }
  if (node.type_string() != "Mul" && node.type_string() != "RealDiv") return {};
  for (const int constant : {1, 0}) {
    if (constant == 0 && node.type_string() == "RealDiv") break;
    const std::optional<double> value = NumberOf(*FeedOf(node, constant).node);
    if (!value.has_value() || *value == 0) continue;
    *factor = node.type_string() == "Mul" ? *value : 1 / *value;
    return FeedOf(node, 1 - constant);
  }
  return {};
}

bool Matcher::SolveInProduct(const Goal& goal) {
  const Checkpoint checkpoint = Save();
  Goal inside = goal;
  if (goal.expression->kind != Kind::kOp || goal.expression->name != "Mul") inside.product = kNoProduct;
  if (goal.expression->kind == Kind::kOp ? SolveOp(inside) : SolveMatch(inside)) return true;
  Restore(checkpoint);
  double factor = 1;
  const Output unscaled = Unscaled(*goal.output.node, &factor);
  if (unscaled.node == nullptr) return false;
  products_[goal.product] *= factor;
  match_.trivial.push_back(goal.output.node);
  Goal behind = goal;
  behind.output = unscaled;
  return Solve(&behind);
}

bool Matcher::SolveName(const Goal& goal) {
  const OpExpression& expression = *goal.expression;
  const OpStatement* statement = pattern_.Find(expression.name);
  Output value = goal.output;
  if (statement != nullptr) {
    if (value.index != expression.output) return false;
    value.index = 0;
  }
  if (const Output* bound = match_.Find(expression.name)) {
    if (*bound == value) return Solve(goal.next);
    if (statement == nullptr) return false;
    // The name is bound to another node; this node must match the same statement.
  } else {
    match_.values.emplace_back(expression.name, value);
  }
  if (statement == nullptr) return Solve(goal.next);
  const Goal definition = ToMatch(statement->expression, value, goal.shared || statement->shared, goal.next);
  return Solve(&definition);
}

bool Matcher::SolveOneOf(const Goal& goal) {
  const Checkpoint checkpoint = Save();
  for (const OpExpression& one : goal.expression->args) {
    Goal choice = goal;
    choice.expression = &one;
    choice.as_it_is = false;
    if (Solve(&choice)) return true;
    Restore(checkpoint);
  }
  return false;
}

bool Matcher::SolveScaled(const Goal& goal) {
  products_.push_back(1);
  const int product = static_cast<int>(products_.size()) - 1;
  Goal is = goal;
  is.what = Goal::What::kProductIs;
  is.product = product;
  Goal scaled = ToMatch(goal.expression->args[0], goal.output, goal.shared, &is);
  scaled.product = product;
  return Solve(&scaled);
}

bool Matcher::SolveOp(const Goal& goal) {
  const OpExpression& expression = *goal.expression;
  Node* node = goal.output.node;
  if (goal.output.index != 0 || SameOp(node->type_string()) != SameOp(expression.name) || !IsCandidate(*node))
    return false;
  const int inputs = node->num_inputs();
  const int args = static_cast<int>(expression.args.size());
  const bool sum = expression.name == "AddN";
  if (sum ? inputs > kMaxTerms || (expression.open ? inputs < args : inputs != args) : inputs != args) return false;
  const Checkpoint checkpoint = Save();
  if (!MatchAttrs(expression, *node)) return false;
  Record(goal, node);
  if (sum) {
    Goal terms = goal;
    terms.what = Goal::What::kTerms;
    return Solve(&terms);
  }
  if (SolveArgs(goal, /*swapped=*/false)) return true;
  if (args != 2 || !IsCommutative(SameOp(expression.name))) return false;
  Restore(checkpoint);
  if (!MatchAttrs(expression, *node)) return false;
  Record(goal, node);
  return SolveArgs(goal, /*swapped=*/true);
}

bool Matcher::SolveArgs(const Goal& goal, bool swapped) {
  const std::vector<OpExpression>& args = goal.expression->args;
  absl::InlinedVector<Goal, 8> goals(args.size());
  const Goal* next = goal.next;
  // Ops precede inputs: an input matches any value, unless an op has already determined the input. The list is built
  // from the end.
  size_t made = 0;
  for (const bool inputs : {true, false}) {
    for (size_t i = args.size(); i-- > 0;) {
      if (IsPatternInput(pattern_, args[i]) != inputs) continue;
      const int from = static_cast<int>(swapped ? args.size() - 1 - i : i);
      goals[made] = ToMatch(args[i], FeedOf(*goal.output.node, from), goal.shared, next);
      goals[made].product = goal.product;
      next = &goals[made++];
    }
  }
  return Solve(next);
}

bool Matcher::SolveTerms(const Goal& goal) {
  const OpExpression& sum = *goal.expression;
  const Node& node = *goal.output.node;
  if (goal.term == sum.args.size()) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      if ((goal.used >> i & 1) == 0) match_.more_terms.push_back(FeedOf(node, i));
    }
    return Solve(goal.next);
  }
  const Checkpoint checkpoint = Save();
  for (int i = 0; i < node.num_inputs(); ++i) {
    if ((goal.used >> i & 1) != 0) continue;
    Goal rest = goal;
    rest.term = goal.term + 1;
    rest.used = goal.used | 1u << i;
    const Goal term = ToMatch(sum.args[goal.term], FeedOf(node, i), goal.shared, &rest);
    if (Solve(&term)) return true;
    Restore(checkpoint);
  }
  return false;
}

bool Matcher::MatchAttrs(const OpExpression& expression, const Node& node) {
  for (const auto& [name, text] : expression.attrs) {
    const tensorflow::AttrValue* value = node.attrs().Find(name);
    if (value == nullptr) return false;
    if (text[0] == '$' ? !Capture(std::string_view(text).substr(1), *value) : !AttrIs(*value, text)) return false;
  }
  return true;
}

bool Matcher::Capture(std::string_view name, const tensorflow::AttrValue& value) {
  if (const tensorflow::AttrValue* captured = match_.FindAttr(name)) return SameValue(*captured, value);
  match_.attrs.emplace_back(name, value);
  return true;
}

std::vector<Output> UsersOf(const Output& value, std::string_view op) {
  std::vector<Output> users;
  for (const tensorflow::Edge* edge : value.node->out_edges()) {
    if (edge->IsControlEdge() || edge->src_output() != value.index) continue;
    if (SameOp(edge->dst()->type_string()) == SameOp(op)) users.push_back({edge->dst(), 0});
  }
  absl::c_sort(users, [](const Output& a, const Output& b) { return a.node->id() < b.node->id(); });
  return users;
}

// Possible roots of an expression, found from the matched values that the expression uses.
std::vector<Output> Matcher::Candidates(const OpExpression& expression) const {
  std::vector<Output> found;
  const Output* bound = expression.kind == Kind::kName ? match_.Find(expression.name) : nullptr;
  if (bound != nullptr) found.push_back(*bound);
  for (const OpExpression& arg : expression.args) {
    for (const Output& used : Candidates(arg)) {
      if (expression.kind != Kind::kOp) {
        found.push_back(used);
      } else {
        absl::c_copy(UsersOf(used, expression.name), std::back_inserter(found));
      }
    }
    if (!found.empty()) break;
  }
  if (expression.reshaped_to.empty()) return found;
  for (size_t i = found.size(); i-- > 0;) absl::c_copy(UsersOf(found[i], "Reshape"), std::back_inserter(found));
  return found;
}

// Searches the users of matched values for a match of a statement.
bool Matcher::FindAmongUsers(const OpStatement& statement, bool shared) {
  for (const Output& candidate : Candidates(statement.expression)) {
    const Checkpoint checkpoint = Save();
    match_.values.emplace_back(statement.name, candidate);
    const Goal definition = ToMatch(statement.expression, candidate, shared, nullptr);
    if (Solve(&definition) && PassesCheck()) return true;
    Restore(checkpoint);
  }
  return false;
}

bool Mentions(const OpExpression& expression, std::string_view name) {
  if (expression.kind == Kind::kName && expression.name == name) return true;
  return absl::c_any_of(expression.args, [name](const OpExpression& arg) { return Mentions(arg, name); });
}

// Finds the inputs of the fused op that have no match yet. Searches the users of matched values for such an input, or
// for a statement that uses the input.
bool Matcher::FindInputs(const OpExpression& fused) {
  return absl::c_all_of(fused.args, [this](const OpExpression& argument) {
    if (argument.kind == Kind::kOp) return FindInputs(argument);
    if (match_.Find(argument.name) != nullptr) return true;
    return absl::c_any_of(pattern_.statements, [&](const OpStatement& statement) {
      if (statement.name != argument.name && !Mentions(statement.expression, argument.name)) return false;
      return match_.Find(statement.name) == nullptr && FindAmongUsers(statement, statement.shared);
    });
  });
}

bool Matcher::PassesCheck() { return pattern_.entry->check == nullptr || pattern_.entry->check(&match_); }

std::optional<PatternMatch> Matcher::Run() {
  const OpStatement& root = *pattern_.Find(pattern_.results[0].name);
  match_.root = root_;
  match_.shapes = scope_.shapes;
  match_.values.emplace_back(root.name, Output{root_, 0});
  const Goal goal = ToMatch(root.expression, {root_, 0}, root.shared, nullptr);
  if (!Solve(&goal) || !PassesCheck()) return std::nullopt;
  if (!FindInputs(pattern_.fused)) return std::nullopt;
  for (const Pattern::Result& result : pattern_.results) {
    if (result.name == "_" || match_.Find(result.name) != nullptr) continue;
    FindAmongUsers(*pattern_.Find(result.name), /*shared=*/false);
  }
  return std::move(match_);
}

}  // namespace

const Output* PatternMatch::Find(std::string_view name) const {
  const auto found = absl::c_find_if(values, [name](const auto& value) { return value.first == name; });
  return found == values.end() ? nullptr : &found->second;
}

const tensorflow::AttrValue* PatternMatch::FindAttr(std::string_view name) const {
  const auto found = absl::c_find_if(attrs, [name](const auto& attr) { return attr.first == name; });
  return found == attrs.end() ? nullptr : &found->second;
}

std::optional<PatternMatch> MatchPattern(const Pattern& pattern, Node* root, const MatchScope& scope) {
  return Matcher(pattern, root, scope).Run();
}

}  // namespace hpu::passes

#include "plugin/passes/random/random_pass.h"

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/card_draw.h"
#include "plugin/passes/analysis/shape_formulas.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/random/categorical_sampling.h"
#include "plugin/passes/random/fused_random_ops.h"
#include "plugin/passes/random/seed_key.h"
#include "plugin/passes/random/uniform_bits.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;

using Need = ShapeFormulas::Need;

enum class State { kStateful, kSeed, kKeyAndCounter };
enum class Numbers { kUniform, kNormal, kUniformInt, kFullInt };

struct RandomOp {
  State state;
  Numbers numbers;
  int minval = -1;  // input index of minval, for integers in a range; maxval is the next input
};

const RandomOp* FindRandomOp(const std::string& op) {
  static const auto* ops = new absl::flat_hash_map<std::string, RandomOp>({
      {"RandomUniform", {State::kStateful, Numbers::kUniform}},
      {"RandomStandardNormal", {State::kStateful, Numbers::kNormal}},
      {"RandomUniformInt", {State::kStateful, Numbers::kUniformInt, 1}},
      {"StatelessRandomUniform", {State::kSeed, Numbers::kUniform}},
      {"StatelessRandomNormal", {State::kSeed, Numbers::kNormal}},
      {"StatelessRandomUniformInt", {State::kSeed, Numbers::kUniformInt, 2}},
      {"StatelessRandomUniformFullInt", {State::kSeed, Numbers::kFullInt}},
      {"StatelessRandomUniformV2", {State::kKeyAndCounter, Numbers::kUniform}},
      {"StatelessRandomNormalV2", {State::kKeyAndCounter, Numbers::kNormal}},
      {"StatelessRandomUniformIntV2", {State::kKeyAndCounter, Numbers::kUniformInt, 4}},
      {"StatelessRandomUniformFullIntV2", {State::kKeyAndCounter, Numbers::kFullInt}},
  });
  const auto found = ops->find(op);
  return found == ops->end() ? nullptr : &found->second;
}

constexpr char kSeedKeyOp[] = "StatelessRandomGetKeyCounter";
constexpr int kPhilox = 1;
constexpr int kAutoSelect = 3;

// Whether a …V2 op is known to use Philox. On the CPU, AUTO_SELECT is Philox.
bool DrawsByPhilox(const Node& node) {
  const Node* alg = nullptr;
  if (!node.input_node(3, &alg).ok()) return false;
  if (alg->type_string() == "StatelessRandomGetAlg") return true;
  const std::optional<tensorflow::Tensor> value = ConstantOf(*alg);
  if (!value.has_value() || value->NumElements() != 1 || value->dtype() != tensorflow::DT_INT32) return false;
  return value->flat<int32_t>()(0) == kPhilox || value->flat<int32_t>()(0) == kAutoSelect;
}

DataType NumberType(const Node& node) { return node.output_type(0); }

// Whether this pass has added the node as a draw by the card's generator. The pass does not rewrite such a node again.
bool IsCardDraw(const Node& node) { return node.attrs().Find(kCardDrawAttribute) != nullptr; }
bool DrawsByCard(const RandomOp& op) {
  const bool is_float = op.numbers == Numbers::kUniform || op.numbers == Numbers::kNormal;
  return op.state == State::kStateful && is_float && flags::GaudiRandom() == flags::GaudiRandomSetting::kCard;
}

bool CanRewrite(const Node& node, const RandomOp& op) {
  if (IsCardDraw(node)) return false;
  if (op.state == State::kKeyAndCounter && !DrawsByPhilox(node)) return false;
  return op.minval >= 0 || op.numbers == Numbers::kFullInt || CanConvertBits(NumberType(node));
}

NodeBuilder::NodeOut Input(const Node& node, int index) { return NodeBuilder::NodeOut(InputOf(node, index)); }

// Copies the seeds of a stateful op to the op that holds its state.
absl::Status AddSeeds(const Node& node, NodeBuilder* builder) {
  int64_t seed = 0;
  int64_t seed2 = 0;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), "seed", &seed));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), "seed2", &seed2));
  builder->Attr("seed", seed).Attr("seed2", seed2);
  return absl::OkStatus();
}

// Whether an HPU computes the seed. A StatelessRandomGetKeyCounter outside would then split the cluster.
bool IsComputedSeed(const tensorflow::OutputTensor& seed) { return !IsOnHost(seed) && !seed.node->IsConstant(); }

// Excludes int32 tensors, which are in host memory: the CPU kernel shuffles int32.
bool IsShuffle(const Node& node) {
  return node.type_string() == "RandomShuffle" && NumberType(node) != tensorflow::DT_INT32;
}

bool IsCategoricalSampling(const Node& node) {
  return node.type_string() == "Multinomial" || node.type_string() == "StatelessMultinomial";
}

// The number of samples per row, or -1 if the number is not constant.
int64_t SamplesOf(const Node& node) {
  const Node* samples = nullptr;
  if (!node.input_node(1, &samples).ok()) return -1;
  const std::optional<tensorflow::Tensor> value = ConstantOf(*samples);
  return value.has_value() && value->dtype() == tensorflow::DT_INT32 && value->dims() == 0 ? value->scalar<int32_t>()()
                                                                                           : -1;
}

class RandomRewriter {
 public:
  RandomRewriter(PassContext* context, const std::vector<Node*>& shaped)
      : context_(context), lowered_(HasLoweredControlFlow(**context->graph)) {
    if (!lowered_ && !shaped.empty()) shapes_ = std::make_unique<ShapeFormulas>(context->graph->get(), shaped);
  }

  absl::Status Rewrite(Node* node, const RandomOp& op);
  // Keeps the node if its shape cannot be computed outside clusters.
  absl::Status RewriteShuffle(Node* node);
  // Keeps the node if its shape cannot be computed outside clusters, or if the number of classes or samples is unknown.
  absl::Status RewriteCategories(Node* node);
  absl::Status RewriteSeedKey(Node* node);

 private:
  struct Key {
    NodeBuilder::NodeOut key;
    NodeBuilder::NodeOut counter;
    Node* anchor;
  };

  // Replaces `node` by `last`, and adds the control inputs of `node` to `last` and `first`. `first` may be null.
  void Replace(Node* node, Node* first, Node* last, const std::string& how);
  absl::StatusOr<Key> AddKey(const Node& node, const RandomOp& op, NodeMaker* maker);
  // Adds a state that reserves `numbers_of_row` numbers for each row of `shape` (0: one number for each element), and
  // returns the state's key.
  static absl::StatusOr<Key> AddKeyOfState(const Node& node, NodeBuilder::NodeOut shape, int64_t numbers_of_row,
                                           const NodeMaker& maker);
  absl::StatusOr<Key> AddKeyOfSeed(const Node& node, int seed, const NodeMaker& maker);
  absl::StatusOr<Node*> AddNumbers(const Node& node, const RandomOp& op, const NodeMaker& maker, const Key& key);
  absl::StatusOr<Node*> AddWholeNumbers(const Node& node, const RandomOp& op, const NodeMaker& maker, const Key& key);
  static absl::StatusOr<Node*> AddCardDraw(const Node& node, const RandomOp& op, const NodeMaker& maker,
                                           const Key& key);

  PassContext* const context_;
  const bool lowered_;                     // the graph has lowered control flow, so constants need an anchor
  std::unique_ptr<ShapeFormulas> shapes_;  // null if no shape is needed, or in lowered control flow
};

absl::StatusOr<RandomRewriter::Key> RandomRewriter::AddKey(const Node& node, const RandomOp& op, NodeMaker* maker) {
  if (op.state == State::kKeyAndCounter) {
    const NodeBuilder::NodeOut key = Input(node, 1);
    return Key{key, Input(node, 2), key.node};
  }
  if (op.state == State::kSeed) return AddKeyOfSeed(node, 1, *maker);
  NodeBuilder::NodeOut shape = Input(node, 0);
  const bool computed_on_hpu = IsHpuDevice(shape.node->assigned_device_name()) && !shape.node->IsConstant();
  if (shapes_ != nullptr && computed_on_hpu) {
    HPU_ASSIGN_OR_RETURN(const std::optional<Node*> outside,
                         shapes_->ShapeOf(node, 0, node.assigned_device_name(), Need::kLikely));
    if (outside.has_value()) shape = NodeBuilder::NodeOut(*outside, 0);
  }
  return AddKeyOfState(node, shape, /*numbers_of_row=*/0, *maker);
}

absl::StatusOr<RandomRewriter::Key> RandomRewriter::AddKeyOfState(const Node& node, NodeBuilder::NodeOut shape,
                                                                  int64_t numbers_of_row, const NodeMaker& maker) {
  NodeBuilder builder = maker.NewState("state", kPhiloxStateOp);
  HPU_RETURN_IF_ERROR(AddSeeds(node, &builder.Input(shape).Attr("numbers_of_row", numbers_of_row)));
  HPU_ASSIGN_OR_RETURN(Node * state, maker.Add(builder));
  return Key{NodeBuilder::NodeOut(state, 0), NodeBuilder::NodeOut(state, 1), state};
}

absl::StatusOr<RandomRewriter::Key> RandomRewriter::AddKeyOfSeed(const Node& node, int seed, const NodeMaker& maker) {
  if (IsComputedSeed(InputOf(node, seed))) {
    HPU_ASSIGN_OR_RETURN(const SeedKey computed, AddSeedKey(maker, Input(node, seed), lowered_));
    return Key{NodeBuilder::NodeOut(computed.key, 0), NodeBuilder::NodeOut(computed.counter, 0), computed.first};
  }
  NodeBuilder builder = maker.New("key_counter", kSeedKeyOp);
  HPU_ASSIGN_OR_RETURN(Node * key, maker.Add(builder.Input(Input(node, seed))));
  return Key{NodeBuilder::NodeOut(key, 0), NodeBuilder::NodeOut(key, 1), key};
}

absl::StatusOr<Node*> RandomRewriter::AddWholeNumbers(const Node& node, const RandomOp& op, const NodeMaker& maker,
                                                      const Key& key) {
  HPU_ASSIGN_OR_RETURN(Node * alg, maker.Constant("alg", tensorflow::Tensor(int32_t{kPhilox})));
  const bool ranged = op.numbers == Numbers::kUniformInt;
  NodeBuilder builder =
      maker.New("numbers", ranged ? "StatelessRandomUniformIntV2" : "StatelessRandomUniformFullIntV2");
  builder.Input(Input(node, 0)).Input(key.key).Input(key.counter).Input(alg);
  if (ranged) builder.Input(Input(node, op.minval)).Input(Input(node, op.minval + 1));
  return maker.Add(builder.Attr("dtype", NumberType(node)));
}

absl::StatusOr<Node*> RandomRewriter::AddCardDraw(const Node& node, const RandomOp& op, const NodeMaker& maker,
                                                  const Key& key) {
  HPU_ASSIGN_OR_RETURN(Node * alg, maker.Constant("alg", tensorflow::Tensor(int32_t{kPhilox})));
  NodeBuilder builder =
      maker.New("numbers", op.numbers == Numbers::kUniform ? "StatelessRandomUniformV2" : "StatelessRandomNormalV2");
  builder.Input(Input(node, 0)).Input(key.key).Input(key.counter).Input(alg);
  return maker.Add(builder.Attr("dtype", NumberType(node)).Attr(kCardDrawAttribute, true));
}

absl::StatusOr<Node*> RandomRewriter::AddNumbers(const Node& node, const RandomOp& op, const NodeMaker& maker,
                                                 const Key& key) {
  if (DrawsByCard(op)) return AddCardDraw(node, op, maker, key);
  const Draw draw{Input(node, 0), key.key, key.counter, NumberType(node)};
  switch (op.numbers) {
    case Numbers::kUniform:
      return AddUniform(maker, draw);
    case Numbers::kNormal:
      return AddNormal(maker, draw);
    default:
      return AddWholeNumbers(node, op, maker, key);
  }
}

absl::Status RandomRewriter::Rewrite(Node* node, const RandomOp& op) {
  NodeMaker maker(context_->graph->get(), node->name(), node->assigned_device_name());
  HPU_ASSIGN_OR_RETURN(const Key key, AddKey(*node, op, &maker));
  if (lowered_) maker.set_anchor(key.anchor);
  HPU_ASSIGN_OR_RETURN(Node * numbers, AddNumbers(*node, op, maker, key));
  Replace(node, op.state != State::kKeyAndCounter ? key.anchor : nullptr, numbers,
          absl::StrCat(DrawsByCard(op) ? "draws numbers of the card" : "draws Philox numbers", " with the key from ",
                       key.anchor->name()));
  return absl::OkStatus();
}

void RandomRewriter::Replace(Node* node, Node* first, Node* last, const std::string& how) {
  Graph* graph = context_->graph->get();
  for (const tensorflow::Edge* edge : node->in_edges()) {
    if (!edge->IsControlEdge() || edge->src()->IsSource()) continue;
    if (first != nullptr) graph->AddControlEdge(edge->src(), first, /*allow_duplicates=*/true);
    graph->AddControlEdge(edge->src(), last, /*allow_duplicates=*/true);
  }
  MoveConsumers(graph, node, last);
  const std::string name = node->name();
  AddRewrite(&context_->report, name, node->type_string(), "random", how);
  graph->RemoveNode(node);
  last->set_name(name);
}

absl::Status RandomRewriter::RewriteShuffle(Node* node) {
  if (shapes_ == nullptr || shapes_->InputRank(*node, 0) < 1) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const std::optional<Node*> shape,
                       shapes_->ShapeOf(*node, 0, node->assigned_device_name(), Need::kExact));
  if (!shape.has_value()) return absl::OkStatus();
  const NodeMaker maker(context_->graph->get(), node->name(), node->assigned_device_name());
  NodeBuilder builder = maker.NewState("order", kRandomOrderOp);
  HPU_RETURN_IF_ERROR(AddSeeds(*node, &builder.Input(*shape)));
  HPU_ASSIGN_OR_RETURN(Node * order, maker.Add(builder));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", tensorflow::Tensor(int32_t{0})));
  NodeBuilder gather = maker.New("rows", "GatherV2");
  HPU_ASSIGN_OR_RETURN(Node * rows, maker.Add(gather.Input(Input(*node, 0)).Input(order).Input(axis)));
  // The Reshape fails if `order` does not have one element for each row.
  NodeBuilder shape_builder = maker.New("shape", "Shape");
  HPU_ASSIGN_OR_RETURN(Node * all, maker.Add(shape_builder.Input(Input(*node, 0))));
  NodeBuilder reshape = maker.New("all_rows", "Reshape");
  HPU_ASSIGN_OR_RETURN(Node * shuffled, maker.Add(reshape.Input(rows).Input(all)));
  Replace(node, order, shuffled, absl::StrCat("gathers its rows in the order from ", order->name()));
  return absl::OkStatus();
}

absl::Status RandomRewriter::RewriteCategories(Node* node) {
  const int64_t samples = SamplesOf(*node);
  if (shapes_ == nullptr || samples < 1 || shapes_->InputRank(*node, 0) != 2) return absl::OkStatus();
  if (shapes_->FixedInputSize(*node, 0, 1) < 1) return absl::OkStatus();  // unknown, or 0: the CPU kernel fails
  const NodeMaker maker(context_->graph->get(), node->name(), node->assigned_device_name());
  Key key{};
  if (node->type_string() == "Multinomial") {
    HPU_ASSIGN_OR_RETURN(const std::optional<Node*> shape,
                         shapes_->ShapeOf(*node, 0, node->assigned_device_name(), Need::kLikely));
    if (!shape.has_value()) return absl::OkStatus();
    HPU_ASSIGN_OR_RETURN(key, AddKeyOfState(*node, *shape, WordsOfCategories(samples), maker));
  } else {
    HPU_ASSIGN_OR_RETURN(key, AddKeyOfSeed(*node, 2, maker));
  }
  DataType type = tensorflow::DT_INVALID;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "output_dtype", &type));
  HPU_ASSIGN_OR_RETURN(Node * categories, AddCategories(maker, {Input(*node, 0), key.key, key.counter, samples, type}));
  Replace(node, key.anchor, categories, absl::StrCat("draws Philox numbers with the key from ", key.anchor->name()));
  return absl::OkStatus();
}

absl::Status RandomRewriter::RewriteSeedKey(Node* node) {
  Graph* graph = context_->graph->get();
  const NodeMaker maker(graph, node->name(), node->assigned_device_name());
  HPU_ASSIGN_OR_RETURN(const SeedKey computed, AddSeedKey(maker, Input(*node, 0), lowered_));
  for (const tensorflow::Edge* edge : OutEdges(*node)) {
    if (edge->src_output() != 1) continue;
    Node* const user = edge->dst();
    const int input = edge->dst_input();
    graph->RemoveEdge(edge);
    graph->AddEdge(computed.counter, 0, user, input);
  }
  Replace(node, computed.first, computed.key, "scrambles the seed by Philox");
  return absl::OkStatus();
}

}  // namespace

absl::Status RewriteRandomOps(PassContext* context) {
  HPU_RETURN_IF_ERROR(ExpandFusedRandomOps(context));
  std::vector<std::pair<Node*, const RandomOp*>> found;
  std::vector<Node*> shuffles;
  std::vector<Node*> categories;
  std::vector<Node*> seed_keys;
  std::vector<Node*> shaped;  // nodes whose shapes are queried
  for (Node* node : (*context->graph)->op_nodes()) {
    if (!IsOnHpu(*node)) continue;
    if (IsShuffle(*node)) {
      shuffles.push_back(node);
      shaped.push_back(node);
      continue;
    }
    if (IsCategoricalSampling(*node)) {
      if (context->must_compile && node->type_string() == "StatelessMultinomial") continue;
      categories.push_back(node);
      shaped.push_back(node);
      continue;
    }
    if (node->type_string() == kSeedKeyOp && !context->must_compile && IsComputedSeed(InputOf(*node, 0))) {
      seed_keys.push_back(node);
      continue;
    }
    const RandomOp* op = FindRandomOp(node->type_string());
    if (op == nullptr || !CanRewrite(*node, *op)) continue;
    if (context->must_compile && op->state != State::kStateful) continue;
    found.emplace_back(node, op);
    if (op->state == State::kStateful) shaped.push_back(node);
  }
  if (found.empty() && shaped.empty() && seed_keys.empty()) return absl::OkStatus();
  RandomRewriter rewriter(context, shaped);
  for (Node* node : seed_keys) HPU_RETURN_IF_ERROR(rewriter.RewriteSeedKey(node));
  for (Node* node : shuffles) HPU_RETURN_IF_ERROR(rewriter.RewriteShuffle(node));
  for (Node* node : categories) HPU_RETURN_IF_ERROR(rewriter.RewriteCategories(node));
  for (const auto& [node, op] : found) HPU_RETURN_IF_ERROR(rewriter.Rewrite(node, *op));
  return absl::OkStatus();
}

}  // namespace hpu::passes

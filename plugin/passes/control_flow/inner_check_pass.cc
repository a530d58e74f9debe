#include "plugin/passes/control_flow/inner_check_pass.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/index_bounds.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "plugin/passes/analysis/loop_counters.h"
#include "plugin/passes/analysis/lowerings.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/analysis/value_rules.h"
#include "plugin/passes/analysis/value_tests.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/functions/reachable_nodes.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::NodeDef;
using tensorflow::OutputTensor;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorShape;

// Indices of an op in a loop's body or in a branch.
struct Site {
  Node* node;
  OutputTensor indices;
  TensorShape shape;  // of the indices
  IndexBound bound;
  OutputTensor bounding;   // the tensor that is indexed, its shape, or a handle or TensorList
  std::vector<int> sizes;  // the sizes that bound the indices, if they are known
  int rank = 0;            // number of these sizes
};

// A test of an op's values in a loop's body or in a branch.
struct ValueSite {
  Node* node;
  const ValueRule* rule;  // null for a HabanaInnerValues, whose input is the test
  int code;               // of the error
  std::string error;
};

// The checks of one function.
struct Sites {
  std::vector<Site> indices;
  std::vector<ValueSite> values;

  bool empty() const { return indices.empty() && values.empty(); }
};

std::vector<ValueSite> FindValueSites(const Graph& function, ValueTests* tests) {
  std::vector<ValueSite> sites;
  for (Node* node : function.op_nodes()) {
    if (node->attrs().Find(kInRangeAttr) != nullptr) continue;
    if (node->type_string() == kInnerValuesOp) {
      ValueSite site{node, nullptr, 0, ""};
      tensorflow::TryGetNodeAttr(node->attrs(), "code", &site.code);
      tensorflow::TryGetNodeAttr(node->attrs(), "error", &site.error);
      sites.push_back(std::move(site));
      continue;
    }
    const ValueRule* const rule = FindValueRule(node->type_string(), node->attrs());
    if (rule == nullptr || tests->Known(node, *rule) == true || tests->OtherHasElements(*node, *rule) == false)
      continue;
    sites.push_back({node, rule, static_cast<int>(rule->code), rule->error});
  }
  return sites;
}

// Adds nodes that compute whether the values pass.
absl::StatusOr<Node*> TestOf(const ValueSite& site, const NodeMaker& maker, ValueTests* tests) {
  site.node->AddAttr(kInRangeAttr, true);
  if (site.rule != nullptr) return tests->Make(*site.node, *site.rule, maker);
  return OnlyOutput(InputOf(*site.node, 0), maker);
}

// Finds the sites of one function.
class SiteFinder {
 public:
  SiteFinder(const Graph& body, const StaticShapes& shapes) : body_(body), shapes_(shapes) {}

  std::vector<Site> Run() {
    for (Node* node : body_.op_nodes()) {
      if (node->attrs().Find(kInRangeAttr) != nullptr) continue;
      if (const IndexedOp* op = IndexedOpOf(node->type_string())) {
        AddIndexed(node, *op);
      } else if (node->type_string() == "StridedSlice") {
        AddElements(node);
      } else if (node->type_string() == "TensorListGetItem") {
        AddListElement(node, IndexKind::kListElement);
      } else if (node->type_string() == "TensorListSetItem") {
        AddListElement(node, IndexKind::kWrittenElement);
      }
    }
    return std::move(sites_);
  }

 private:
  // The static shape of an input; nullopt if it is unknown.
  std::optional<TensorShape> ShapeOf(const OutputTensor& tensor) const {
    TensorShape shape;
    if (!shapes_.Shape(*tensor.node, tensor.index).AsTensorShape(&shape)) return std::nullopt;
    return shape;
  }

  void Add(Node* node, OutputTensor indices, IndexBound bound, OutputTensor bounding, std::vector<int> sizes,
           int rank) {
    const std::optional<TensorShape> shape = ShapeOf(indices);
    if (rank < 1 || !shape.has_value() || !IsIndexType(indices.node->output_type(indices.index))) return;
    sites_.push_back({node, indices, *shape, bound, bounding, std::move(sizes), rank});
  }

  void AddIndexed(Node* node, const IndexedOp& op) {
    const std::optional<IndexBound> bound = BoundOfIndices(*node, op);
    if (!bound.has_value() || bound->kind == IndexKind::kSegment || bound->kind == IndexKind::kPermutation) return;
    const OutputTensor bounding = InputOf(*node, op.bound);
    if (op.sizes) {
      const PartialTensorShape sizes = shapes_.Shape(*bounding.node, bounding.index);
      if (sizes.dims() == 1 && sizes.dim_size(0) >= 0)
        Add(node, InputOf(*node, op.indices), *bound, bounding, {}, static_cast<int>(sizes.dim_size(0)));
      return;
    }
    if (op.resource) {
      if (bound->kind == IndexKind::kIndex && bound->axis == 0)
        Add(node, InputOf(*node, op.indices), *bound, bounding, {}, 1);
      return;
    }
    AddTensor(node, InputOf(*node, op.indices), *bound, bounding);
  }

  // `tensor` is the tensor that is indexed.
  void AddTensor(Node* node, OutputTensor indices, IndexBound bound, OutputTensor tensor) {
    const PartialTensorShape shape = shapes_.Shape(*tensor.node, tensor.index);
    if (shape.dims() < 1) return;
    std::vector<int> sizes;
    if (shape.num_elements() > 0) {  // of a tensor without elements, even the index 0 would fail the check
      for (const int64_t size : shape.dim_sizes()) sizes.push_back(static_cast<int>(size));
    }
    Add(node, indices, bound, tensor, std::move(sizes), shape.dims());
  }

  void AddListElement(Node* node, IndexKind kind) {
    const OutputTensor index = InputOf(*node, 1);
    bool grows = false;  // the list grows instead
    tensorflow::TryGetNodeAttr(node->attrs(), "resize_if_index_out_of_bounds", &grows);
    if (grows || ConstantOf(*index.node).has_value()) return;
    const size_t before = sites_.size();
    Add(node, index, {kind, 0}, InputOf(*node, 0), {}, 1);
    if (sites_.size() > before) node->ClearAttr(kUncheckedAttr);
  }

  // Adds the indices of dimensions that a StridedSlice removes (x[i, :, j]).
  void AddElements(Node* node) {
    const OutputTensor begin = InputOf(*node, 1);
    if (begin.node->type_string() != "Pack") return;
    int shrunk = 0, ellipsis = 0, added = 0;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), "shrink_axis_mask", &shrunk) ||
        !tensorflow::TryGetNodeAttr(node->attrs(), "ellipsis_mask", &ellipsis) ||
        !tensorflow::TryGetNodeAttr(node->attrs(), "new_axis_mask", &added)) {
      return;
    }
    const OutputTensor tensor = InputOf(*node, 0);
    const int entries = begin.node->num_inputs(), rank = shapes_.Shape(*tensor.node, tensor.index).dims();
    int dimension = 0;
    for (int i = 0; i < entries; ++i) {
      const int bit = 1 << i;
      if (added & bit & ~ellipsis) continue;
      if (ellipsis & bit) {
        int later = 0;
        for (int j = i + 1; j < entries; ++j) later += (added & (1 << j)) == 0;
        dimension = rank - later;
        continue;
      }
      const OutputTensor index = InputOf(*begin.node, i);
      if ((shrunk & bit) && !ConstantOf(*index.node).has_value() && dimension < rank)
        AddTensor(node, index, {IndexKind::kElement, dimension}, tensor);
      ++dimension;
    }
  }

  const Graph& body_;
  const StaticShapes& shapes_;
  std::vector<Site> sites_;
};

Tensor Filled(DataType type, const TensorShape& shape, int value) {
  Tensor tensor(type, shape);
  if (type == tensorflow::DT_INT64) {
    tensor.flat<int64_t>().setConstant(value);
  } else {
    tensor.flat<int32_t>().setConstant(value);
  }
  return tensor;
}

Tensor SizesTensor(const std::vector<int>& sizes) {
  Tensor tensor(tensorflow::DT_INT32, {static_cast<int64_t>(sizes.size())});
  absl::c_copy(sizes, tensor.flat<int32_t>().data());
  return tensor;
}

// Indices and sizes that pass a check, for sites that did not run.
Tensor Unused(const Site& site) { return Filled(site.indices.node->output_type(site.indices.index), site.shape, 0); }
Tensor UnusedSizes(const Site& site) { return Filled(tensorflow::DT_INT32, {site.rank}, 1); }

// A new result of a loop or branch.
struct Result {
  DataType type;
  TensorShape shape;
};

absl::Status AddResult(Graph* function, int number, NodeBuilder::NodeOut value) {
  NodeBuilder builder(function->NewName("habana_result"), "_Retval");
  Node* result = nullptr;
  return builder.Input(value).Attr("index", number).Finalize(function, &result);
}

// Replaces a loop or branch by a node with more outputs and inputs, and returns it. The old outputs keep their places.
// `types`: the attribute with the types of the outputs.
absl::StatusOr<Node*> WithMoreOutputs(Graph* graph, Node* old, const char* types, const std::vector<Result>& results,
                                      const std::vector<Node*>& new_inputs) {
  NodeDef definition = old->def();
  auto* type_list = (*definition.mutable_attr())[types].mutable_list();
  auto* shapes = (*definition.mutable_attr())["output_shapes"].mutable_list();
  const bool has_shapes = shapes->shape_size() == old->num_outputs();
  for (const Result& result : results) {
    type_list->add_type(result.type);
    if (has_shapes) result.shape.AsProto(shapes->add_shape());
  }
  TF_ASSIGN_OR_RETURN(Node * node, graph->AddNode(std::move(definition)));
  node->set_assigned_device_name(old->assigned_device_name());
  for (const Edge* edge : old->in_edges()) {
    if (edge->IsControlEdge()) {
      graph->AddControlEdge(edge->src(), node);
    } else {
      graph->AddEdge(edge->src(), edge->src_output(), node, edge->dst_input());
    }
  }
  int input = old->num_inputs();
  for (Node* source : new_inputs) graph->AddEdge(source, 0, node, input++);
  MoveConsumers(graph, old, node);
  graph->RemoveNode(old);
  return node;
}

bool IsListElement(const Site& site) {
  return site.node->type_string() == "TensorListGetItem" || site.node->type_string() == "TensorListSetItem";
}

// Adds nodes for the sizes that bound a site's indices to the site's function.
absl::StatusOr<NodeBuilder::NodeOut> SizesOf(const Site& site, const NodeMaker& maker) {
  Node* sizes = nullptr;
  if (!site.sizes.empty()) {
    TF_ASSIGN_OR_RETURN(sizes, maker.Constant("sizes", SizesTensor(site.sizes)));
    return NodeBuilder::NodeOut(sizes, 0);
  }
  const NodeBuilder::NodeOut bounding(site.bounding.node, site.bounding.index);
  if (IsListElement(site)) {
    NodeBuilder length = maker.New("length", "TensorListLength");
    TF_ASSIGN_OR_RETURN(Node * scalar, maker.Add(length.Input(bounding)));
    NodeBuilder vector = maker.New("sizes", "Pack");
    TF_ASSIGN_OR_RETURN(sizes, maker.Add(vector.Input(std::vector<NodeBuilder::NodeOut>{scalar})));
    return NodeBuilder::NodeOut(sizes, 0);
  }
  const IndexedOp* const op = IndexedOpOf(site.node->type_string());
  if (op != nullptr && op->sizes) {
    if (site.bounding.node->output_type(site.bounding.index) == tensorflow::DT_INT32) return bounding;
    TF_ASSIGN_OR_RETURN(sizes, maker.Cast("sizes", bounding, tensorflow::DT_INT32));
    return NodeBuilder::NodeOut(sizes, 0);
  }
  const bool is_variable = op != nullptr && op->resource;
  NodeBuilder shape = maker.New("sizes", is_variable ? "VariableShape" : "Shape");
  TF_ASSIGN_OR_RETURN(sizes, maker.Add(shape.Input(bounding).Attr("out_type", tensorflow::DT_INT32)));
  if (!is_variable) return NodeBuilder::NodeOut(sizes, 0);
  // The rank of a variable may be unknown, so only the first size leaves the function.
  TF_ASSIGN_OR_RETURN(Node * first, maker.Constant("first", Filled(tensorflow::DT_INT32, {1}, 0)));
  TF_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", Filled(tensorflow::DT_INT32, {}, 0)));
  NodeBuilder rows = maker.New("rows", "GatherV2");
  TF_ASSIGN_OR_RETURN(sizes, maker.Add(rows.Input(sizes).Input(first).Input(axis)));
  sizes->AddAttr(kInRangeAttr, true);
  return NodeBuilder::NodeOut(sizes, 0);
}

// The outputs of a loop or branch that hold a site's indices and sizes.
struct Outputs {
  int indices;
  int sizes = -1;  // -1: the site's sizes are known
};

// Adds the ops that stand for sites after a loop or branch.
class Places {
 public:
  Places(Graph* graph, Node* node) : graph_(graph), node_(node), maker_(graph, node->name(), node->requested_device()) {
    for (const Edge* edge : node->out_edges()) {
      if (!edge->IsControlEdge()) users_.push_back(edge->dst());
    }
  }

  // What uses a result of the loop or branch waits for the check.
  absl::Status Add(const Site& site, const Outputs& outputs) {
    NodeBuilder::NodeOut sizes(node_, outputs.sizes);
    if (outputs.sizes < 0) {
      TF_ASSIGN_OR_RETURN(Node * constant, maker_.Constant("habana_check/sizes", SizesTensor(site.sizes)));
      sizes = NodeBuilder::NodeOut(constant, 0);
    }
    NodeBuilder builder(NameFor(site.node->name()), kInnerIndicesOp, graph_->op_registry());
    builder.Device(node_->requested_device()).Input(node_, outputs.indices).Input(sizes);
    builder.Attr("kind", NameOf(site.bound.kind)).Attr("axis", site.bound.axis);
    return Finish(builder);
  }

  // `output`: the output that holds the test's result.
  absl::Status Add(const ValueSite& site, int output) {
    NodeBuilder builder(NameFor(site.node->name()), kInnerValuesOp, graph_->op_registry());
    builder.Device(node_->requested_device()).Input(node_, output).Attr("code", site.code).Attr("error", site.error);
    return Finish(builder);
  }

 private:
  absl::Status Finish(NodeBuilder& builder) {
    Node* place = nullptr;
    TF_RETURN_IF_ERROR(builder.Finalize(graph_, &place));
    for (Node* user : users_) graph_->AddControlEdge(place, user);
    return absl::OkStatus();
  }

  // The error names the op in the function, as on the CPU.
  std::string NameFor(const std::string& op) const {
    const bool taken = absl::c_any_of(graph_->op_nodes(), [&](const Node* node) { return node->name() == op; });
    return taken ? graph_->NewName(op) : op;
  }

  Graph* const graph_;
  Node* const node_;
  const NodeMaker maker_;
  std::vector<Node*> users_;
};

// Adds values to a loop. The loop's old outputs keep their places.
class LoopCarrier {
 public:
  LoopCarrier(Graph* graph, Node* loop, FunctionBody* body, FunctionBody* condition)
      : graph_(graph),
        loop_(loop),
        body_(body),
        condition_(condition),
        in_body_(body->graph, absl::StrCat(loop->name(), "/habana_check"), ""),
        outside_(graph, absl::StrCat(loop->name(), "/habana_check"), loop->requested_device()) {}

  // Adds a value that is `initial` before the loop. Sets *argument to the value at the start of an iteration, and
  // returns the number of the value.
  absl::StatusOr<int> Add(const Tensor& initial, Node** argument) {
    const int number = static_cast<int>(loop_->num_inputs() + initial_.size());
    TF_ASSIGN_OR_RETURN(Node * constant, outside_.Constant("initial", initial));
    initial_.push_back(constant);
    results_.push_back({initial.dtype(), initial.shape()});
    TF_ASSIGN_OR_RETURN(*argument, Argument(body_, number, initial.dtype()));
    TF_ASSIGN_OR_RETURN(Node * in_condition, Argument(condition_, number, initial.dtype()));
    in_condition_.push_back(in_condition);
    return number;
  }

  // Sets the value at the end of an iteration.
  absl::Status Return(int number, Node* value) { return AddResult(body_->graph, number, value); }

  // Ends the loop when the value `number`, a boolean, is false.
  absl::Status EndIfFalse(int number) {
    Node* const result = condition_->ret_nodes[0];
    const OutputTensor old = InputOf(*result, 0);
    NodeBuilder builder(condition_->graph->NewName("habana_continue"), "LogicalAnd");
    Node* both = nullptr;
    TF_RETURN_IF_ERROR(builder.Input(old.node, old.index)
                           .Input(in_condition_[number - loop_->num_inputs()], 0)
                           .Finalize(condition_->graph, &both));
    return condition_->graph->UpdateEdge(both, 0, result, 0);
  }

  // Replaces the loop by one with the new values, and returns it.
  absl::StatusOr<Node*> Finish(FunctionLibraryDefinition* library) {
    TF_RETURN_IF_ERROR(SetFunction(loop_, "body", *body_, "_checked", library));
    TF_RETURN_IF_ERROR(SetFunction(loop_, "cond", *condition_, "_checked", library));
    return WithMoreOutputs(graph_, loop_, "T", results_, initial_);
  }

  const NodeMaker& in_body() const { return in_body_; }

 private:
  static absl::StatusOr<Node*> Argument(FunctionBody* function, int number, DataType type) {
    NodeBuilder builder(function->graph->NewName("habana_argument"), "_Arg");
    Node* argument = nullptr;
    TF_RETURN_IF_ERROR(builder.Attr("T", type).Attr("index", number).Finalize(function->graph, &argument));
    return argument;
  }

  Graph* const graph_;
  Node* const loop_;
  FunctionBody* const body_;
  FunctionBody* const condition_;
  const NodeMaker in_body_;
  const NodeMaker outside_;
  std::vector<Node*> initial_;
  std::vector<Result> results_;  // the types and shapes of the new values
  std::vector<Node*> in_condition_;
};

// Moves the checks of one loop behind the loop.
class LoopChecks {
 public:
  LoopChecks(Graph* graph, Node* loop, FunctionBody* body, FunctionBody* condition, Sites sites, ValueTests* tests)
      : graph_(graph), sites_(std::move(sites)), tests_(tests), carrier_(graph, loop, body, condition) {}

  // `counted`: the number of iterations does not depend on data.
  absl::Status Run(bool counted, FunctionLibraryDefinition* library) {
    Tensor passes(tensorflow::DT_BOOL, {});
    passes.scalar<bool>()() = true;
    TF_ASSIGN_OR_RETURN(const int number, carrier_.Add(passes, &passed_));
    Node* all = passed_;
    std::vector<Outputs> outputs;
    for (const Site& site : sites_.indices) {
      TF_ASSIGN_OR_RETURN(Node * test, Carry(site, &outputs.emplace_back()));
      TF_ASSIGN_OR_RETURN(all, carrier_.in_body().Binary("passes", "LogicalAnd", all, test));
    }
    std::vector<int> tests;
    for (const ValueSite& site : sites_.values) {
      TF_ASSIGN_OR_RETURN(Node * test, TestOf(site, carrier_.in_body(), tests_));
      TF_ASSIGN_OR_RETURN(tests.emplace_back(), Keep(passes, test));
      TF_ASSIGN_OR_RETURN(all, carrier_.in_body().Binary("passes", "LogicalAnd", all, test));
    }
    TF_RETURN_IF_ERROR(carrier_.Return(number, all));
    if (!counted) TF_RETURN_IF_ERROR(carrier_.EndIfFalse(number));
    TF_ASSIGN_OR_RETURN(Node * loop, carrier_.Finish(library));
    Places places(graph_, loop);
    for (size_t i = 0; i < outputs.size(); ++i) TF_RETURN_IF_ERROR(places.Add(sites_.indices[i], outputs[i]));
    for (size_t i = 0; i < tests.size(); ++i) TF_RETURN_IF_ERROR(places.Add(sites_.values[i], tests[i]));
    return absl::OkStatus();
  }

 private:
  // Returns whether the site's indices are in range.
  absl::StatusOr<Node*> Carry(const Site& site, Outputs* outputs) {
    const NodeMaker& maker = carrier_.in_body();
    const NodeBuilder::NodeOut indices(site.indices.node, site.indices.index);
    TF_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut sizes, SizesOf(site, maker));
    NodeBuilder test = maker.New("in_range", kIndicesInRangeOp);
    test.Input(indices).Input(sizes).Attr("kind", NameOf(site.bound.kind)).Attr("axis", site.bound.axis);
    TF_ASSIGN_OR_RETURN(Node * in_range, maker.Add(test));
    TF_ASSIGN_OR_RETURN(outputs->indices, Keep(Unused(site), indices));
    if (site.sizes.empty()) {
      TF_ASSIGN_OR_RETURN(outputs->sizes, Keep(UnusedSizes(site), sizes));
    }
    site.node->AddAttr(kInRangeAttr, true);
    return in_range;
  }

  // Adds a loop value that takes the value of `current` until a test has failed.
  absl::StatusOr<int> Keep(const Tensor& initial, NodeBuilder::NodeOut current) {
    Node* before = nullptr;
    TF_ASSIGN_OR_RETURN(const int number, carrier_.Add(initial, &before));
    NodeBuilder select = carrier_.in_body().New("kept", "SelectV2");
    TF_ASSIGN_OR_RETURN(Node * kept, carrier_.in_body().Add(select.Input(passed_).Input(current).Input(before)));
    TF_RETURN_IF_ERROR(carrier_.Return(number, kept));
    return number;
  }

  Graph* const graph_;
  const Sites sites_;
  ValueTests* const tests_;
  LoopCarrier carrier_;
  Node* passed_ = nullptr;  // in the body: whether all tests of earlier iterations passed
};

using Functions = std::vector<std::unique_ptr<FunctionBody>>;

// Moves the checks of an If or a Case behind it. The branches that do not run return indices in range.
class BranchChecks {
 public:
  // `sites`: of each branch.
  BranchChecks(Graph* graph, Node* branch, const Functions& functions, const std::vector<Sites>& sites,
               const std::vector<std::unique_ptr<ValueTests>>& tests)
      : graph_(graph), branch_(branch), functions_(functions), sites_(sites), tests_(tests) {}

  absl::Status Run(FunctionLibraryDefinition* library) {
    std::vector<std::pair<const Site*, Outputs>> outputs;
    std::vector<std::pair<const ValueSite*, int>> tests;
    Tensor passes(tensorflow::DT_BOOL, {});
    passes.scalar<bool>()() = true;
    for (size_t i = 0; i < sites_.size(); ++i) {
      for (const Site& site : sites_[i].indices) {
        TF_ASSIGN_OR_RETURN(const Outputs added, Return(site, i));
        outputs.emplace_back(&site, added);
      }
      for (const ValueSite& site : sites_[i].values) {
        TF_ASSIGN_OR_RETURN(Node * test, TestOf(site, MakerFor(site.node, i), tests_[i].get()));
        TF_ASSIGN_OR_RETURN(const int added, AddResults(i, test, passes));
        tests.emplace_back(&site, added);
      }
    }
    TF_RETURN_IF_ERROR(SetBranches(branch_, functions_, "_checked", library));
    TF_ASSIGN_OR_RETURN(Node * branch, WithMoreOutputs(graph_, branch_, "Tout", results_, {}));
    Places places(graph_, branch);
    for (const auto& [site, output] : outputs) TF_RETURN_IF_ERROR(places.Add(*site, output));
    for (const auto& [site, output] : tests) TF_RETURN_IF_ERROR(places.Add(*site, output));
    return absl::OkStatus();
  }

 private:
  NodeMaker MakerFor(const Node* node, size_t branch) const {
    return NodeMaker(functions_[branch]->graph, absl::StrCat(node->name(), "/habana_check"), "");
  }

  // Adds the results for a site of the branch with the given number.
  absl::StatusOr<Outputs> Return(const Site& site, size_t branch) {
    Outputs outputs;
    const NodeMaker maker = MakerFor(site.node, branch);
    TF_ASSIGN_OR_RETURN(outputs.indices,
                        AddResults(branch, NodeBuilder::NodeOut(site.indices.node, site.indices.index), Unused(site)));
    if (site.sizes.empty()) {
      TF_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut sizes, SizesOf(site, maker));
      TF_ASSIGN_OR_RETURN(outputs.sizes, AddResults(branch, sizes, UnusedSizes(site)));
    }
    site.node->AddAttr(kInRangeAttr, true);
    return outputs;
  }

  // Adds a result to all branches: `value` to the one with the given number, and `other` to the others.
  absl::StatusOr<int> AddResults(size_t branch, NodeBuilder::NodeOut value, const Tensor& other) {
    const int number = branch_->num_outputs() + static_cast<int>(results_.size());
    for (size_t i = 0; i < functions_.size(); ++i) {
      Graph* const graph = functions_[i]->graph;
      if (i == branch) {
        TF_RETURN_IF_ERROR(AddResult(graph, number, value));
        continue;
      }
      TF_ASSIGN_OR_RETURN(Node * constant, NodeMaker(graph, "habana_check", "").Constant("unused", other));
      TF_RETURN_IF_ERROR(AddResult(graph, number, constant));
    }
    results_.push_back({other.dtype(), other.shape()});
    return number;
  }

  Graph* const graph_;
  Node* const branch_;
  const Functions& functions_;
  const std::vector<Sites>& sites_;
  const std::vector<std::unique_ptr<ValueTests>>& tests_;
  std::vector<Result> results_;
};

void SetAttr(Node* node, const char* name, const PartialTensorShape& shape) {
  node->ClearAttr(name);
  node->AddAttr(name, std::vector<PartialTensorShape>{shape});
}

// Gives an argument of a function of `node` the shape `declared`, or the shape of its variable. `shapes`: of the graph
// of `node`.
void SetShape(const Node& node, int input, DataType type, const PartialTensorShape& declared,
              const StaticShapes& shapes, Node* argument) {
  if (type == tensorflow::DT_RESOURCE) {
    const OutputTensor handle = InputOf(node, input);
    const auto [shape, variable_type] = shapes.Variable(*handle.node, handle.index);
    if (variable_type == tensorflow::DT_INVALID) return;
    SetAttr(argument, "_handle_shapes", shape);
    argument->ClearAttr("_handle_dtypes");
    argument->AddAttr("_handle_dtypes", std::vector<DataType>{variable_type});
  } else if (type != tensorflow::DT_VARIANT) {
    SetAttr(argument, "_output_shapes", declared);
  }
}

// The shapes that a loop declares for its values; unknown shapes if it declares none.
std::vector<PartialTensorShape> DeclaredShapes(const Node& loop) {
  std::vector<PartialTensorShape> declared;
  if (!tensorflow::GetNodeAttr(loop.attrs(), "output_shapes", &declared).ok() ||
      static_cast<int>(declared.size()) != loop.num_inputs()) {
    declared.assign(loop.num_inputs(), {});
  }
  return declared;
}

class Mover {
 public:
  explicit Mover(FunctionLibraryDefinition* library) : library_(library) {}

  // Returns whether the graph changed.
  absl::StatusOr<bool> Run(Graph* graph) {
    KnownNumbers known(graph, library_);
    LazyShapes shapes(graph, library_);
    std::vector<Node*> nodes;
    for (Node* node : graph->op_nodes()) {
      if (IsFunctionalControlFlow(*node) && !IsPinnedToOtherDevice(*node)) nodes.push_back(node);
    }
    bool changed = false;
    for (Node* node : nodes) {
      TF_ASSIGN_OR_RETURN(const bool moved, node->IsWhileNode() ? RunLoop(graph, node, shapes.Get(), &known)
                                                                : RunBranch(graph, node, shapes.Get()));
      changed |= moved;
    }
    if (changed) tensorflow::FixupSourceAndSinkEdges(graph);  // shape inference starts at the source
    return changed;
  }

 private:
  Sites SitesOf(const FunctionBody& function, const tensorflow::NameAttrList& name, ValueTests* tests) const {
    if (UpdatesVariables(name, *library_) || IsLowered(name)) return {};
    const StaticShapes shapes(function.graph, library_);
    return {SiteFinder(*function.graph, shapes).Run(), FindValueSites(*function.graph, tests)};
  }

  // Whether a function contains an op that cannot be compiled. Its loop or branch is lowered, and its ops are checked
  // where they run.
  bool IsLowered(const tensorflow::NameAttrList& function) const {
    return FindReachableNode(function.name(), *library_, [&](const NodeDef& node) {
             const OpFacts& facts = FactsOf(node.op());
             return library_->Find(node.op()) == nullptr &&
                    (!HasLowering(node) || facts.loses_error || facts.compile != CompilePolicy::kAlways);
           }) != nullptr;
  }

  absl::StatusOr<bool> RunLoop(Graph* graph, Node* loop, const StaticShapes& shapes_outside, KnownNumbers* known) {
    tensorflow::NameAttrList name;
    TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(loop->attrs(), "body", &name));
    TF_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library_));
    const std::vector<PartialTensorShape> declared = DeclaredShapes(*loop);
    for (int i = 0; i < loop->num_inputs(); ++i)
      SetShape(*loop, i, body->arg_types[i], declared[i], shapes_outside, body->arg_nodes[i]);
    TF_ASSIGN_OR_RETURN(const bool inner, Run(body->graph));
    ValueTests tests(body->graph, library_);
    Sites sites = SitesOf(*body, name, &tests);
    TF_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(*loop, "cond", *library_));
    if (sites.empty() || condition->ret_types[0] != tensorflow::DT_BOOL) {
      if (inner) TF_RETURN_IF_ERROR(SetFunction(loop, "body", *body, "_checked", library_));
      return inner;
    }
    const LoopCounters counters(*loop, *condition, *body, known);
    const bool counted = counters.MaxIterations().has_value() || counters.LimitOfIterations() != nullptr;
    TF_RETURN_IF_ERROR(
        LoopChecks(graph, loop, body.get(), condition.get(), std::move(sites), &tests).Run(counted, library_));
    return true;
  }

  absl::StatusOr<bool> RunBranch(Graph* graph, Node* branch, const StaticShapes& shapes_outside) {
    const std::vector<tensorflow::NameAttrList> names = FunctionsOf(*branch);
    TF_ASSIGN_OR_RETURN(const Functions functions, BranchFunctions(*branch, *library_));
    bool inner = false, found = false;
    std::vector<Sites> sites;
    std::vector<std::unique_ptr<ValueTests>> tests;
    for (size_t i = 0; i < functions.size(); ++i) {
      FunctionBody& function = *functions[i];
      for (size_t j = 0; j < function.arg_nodes.size(); ++j) {
        const int input = static_cast<int>(j) + 1;  // input 0 selects the branch
        SetShape(*branch, input, function.arg_types[j], shapes_outside.InputShape(*branch, input), shapes_outside,
                 function.arg_nodes[j]);
      }
      TF_ASSIGN_OR_RETURN(const bool changed, Run(function.graph));
      inner |= changed;
      tests.push_back(std::make_unique<ValueTests>(function.graph, library_));
      sites.push_back(SitesOf(function, names[i], tests.back().get()));
      found |= !sites.back().empty();
    }
    if (found) {
      TF_RETURN_IF_ERROR(BranchChecks(graph, branch, functions, sites, tests).Run(library_));
    } else if (inner) {
      TF_RETURN_IF_ERROR(SetBranches(branch, functions, "_checked", library_));
    }
    return found || inner;
  }

  FunctionLibraryDefinition* const library_;
};

}  // namespace

absl::Status MoveChecksOut(Graph* graph, FunctionLibraryDefinition* library) {
  return Mover(library).Run(graph).status();
}

tensorflow::Status RunInnerCheckPass(const tensorflow::GraphOptimizationPassOptions& options) {
  // A Session extends its graph later, without the functions that a pass has added.
  if (!options.is_function_graph || !MayUseHpu(options) ||
      Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return MoveChecksOut(options.graph->get(), options.flib_def);
}

}  // namespace hpu::passes

#include "plugin/passes/control_flow/loop_check_pass.h"

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
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/analysis/static_shapes.h"
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

bool IsIndexType(DataType type) { return type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64; }

bool UpdatesVariable(const NodeDef& node) {
  const tensorflow::OpDef* op = nullptr;
  tensorflow::DataTypeVector inputs, outputs;
  return !IsFunctionalControlFlow(node) && tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op).ok() &&
         op->is_stateful() && !FactsOf(node.op()).only_reads &&
         tensorflow::InOutTypesForNode(node, *op, &inputs, &outputs).ok() &&
         absl::c_linear_search(inputs, tensorflow::DT_RESOURCE);
}

// Whether the function of a loop, with the functions that it calls, may update a variable.
bool UpdatesVariables(const Node& loop, const FunctionLibraryDefinition& library) {
  tensorflow::NameAttrList function;
  if (!tensorflow::GetNodeAttr(loop.attrs(), "body", &function).ok()) return true;
  return FindReachableNode(function.name(), library, [](const NodeDef& node) {
           return node.op() != "PartitionedCall" && node.op() != "StatefulPartitionedCall" && UpdatesVariable(node);
         }) != nullptr;
}

// Indices of an op in a loop's body.
struct Site {
  Node* node;
  OutputTensor indices;
  TensorShape shape;  // of the indices
  IndexBound bound;
  OutputTensor bounding;   // the tensor that is indexed, its shape, or a handle or TensorList
  std::vector<int> sizes;  // the sizes that bound the indices, if they are known
  int rank = 0;            // number of these sizes
};

// Finds the sites of one body.
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
    if (shape.IsFullyDefined()) {
      for (const int64_t size : shape.dim_sizes()) sizes.push_back(static_cast<int>(size));
    }
    Add(node, indices, bound, tensor, std::move(sizes), shape.dims());
  }

  void AddListElement(Node* node, IndexKind kind) {
    const OutputTensor index = InputOf(*node, 1);
    if (ConstantOf(*index.node).has_value()) return;
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

// Adds values to a loop. The loop's old outputs keep their places.
class LoopCarrier {
 public:
  LoopCarrier(Graph* graph, Node* loop, FunctionBody* body, FunctionBody* condition)
      : graph_(graph),
        loop_(loop),
        body_(body),
        condition_(condition),
        in_body_(body->graph, absl::StrCat(loop->name(), "/habana_check"), ""),
        outside_(graph, absl::StrCat(loop->name(), "/habana_check"), loop->requested_device()) {
    outside_.set_anchor(nullptr);
  }

  // Adds a value that is `initial` before the loop. Sets *argument to the value at the start of an iteration, and
  // returns the number of the value.
  absl::StatusOr<int> Add(const Tensor& initial, Node** argument) {
    const int number = static_cast<int>(loop_->num_inputs() + initial_.size());
    TF_ASSIGN_OR_RETURN(Node * constant, outside_.Constant("initial", initial));
    initial_.push_back(constant);
    shapes_.push_back(initial.shape());
    TF_ASSIGN_OR_RETURN(*argument, Argument(body_, number, initial.dtype()));
    TF_ASSIGN_OR_RETURN(Node * in_condition, Argument(condition_, number, initial.dtype()));
    in_condition_.push_back(in_condition);
    return number;
  }

  // Sets the value at the end of an iteration.
  absl::Status Return(int number, Node* value) {
    NodeBuilder builder(body_->graph->NewName("habana_result"), "_Retval");
    Node* result = nullptr;
    return builder.Input(value, 0).Attr("index", number).Finalize(body_->graph, &result);
  }

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
    NodeDef definition = loop_->def();
    auto& attributes = *definition.mutable_attr();
    auto* types = attributes["T"].mutable_list();
    auto* shapes = attributes["output_shapes"].mutable_list();
    const bool has_shapes = shapes->shape_size() == loop_->num_inputs();
    for (size_t i = 0; i < initial_.size(); ++i) {
      types->add_type(initial_[i]->output_type(0));
      if (has_shapes) shapes_[i].AsProto(shapes->add_shape());
    }
    TF_ASSIGN_OR_RETURN(Node * loop, graph_->AddNode(std::move(definition)));
    loop->set_assigned_device_name(loop_->assigned_device_name());
    std::vector<const Edge*> inputs;
    TF_RETURN_IF_ERROR(loop_->input_edges(&inputs));
    for (const Edge* edge : inputs) graph_->AddEdge(edge->src(), edge->src_output(), loop, edge->dst_input());
    for (const Edge* edge : loop_->in_edges()) {
      if (edge->IsControlEdge()) graph_->AddControlEdge(edge->src(), loop);
    }
    for (size_t i = 0; i < initial_.size(); ++i)
      graph_->AddEdge(initial_[i], 0, loop, loop_->num_inputs() + static_cast<int>(i));
    MoveConsumers(graph_, loop_, loop);
    graph_->RemoveNode(loop_);
    return loop;
  }

  const NodeMaker& in_body() const { return in_body_; }
  const NodeMaker& outside() const { return outside_; }

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
  NodeMaker outside_;
  std::vector<Node*> initial_;
  std::vector<TensorShape> shapes_;
  std::vector<Node*> in_condition_;
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

// Moves the checks of one loop behind the loop.
class LoopChecks {
 public:
  LoopChecks(Graph* graph, Node* loop, FunctionBody* body, FunctionBody* condition, std::vector<Site> sites)
      : graph_(graph), sites_(std::move(sites)), carrier_(graph, loop, body, condition) {}

  // `counted`: the number of iterations does not depend on data.
  absl::Status Run(bool counted, FunctionLibraryDefinition* library) {
    Tensor passes(tensorflow::DT_BOOL, {});
    passes.scalar<bool>()() = true;
    TF_ASSIGN_OR_RETURN(const int number, carrier_.Add(passes, &passed_));
    Node* all = passed_;
    for (const Site& site : sites_) {
      TF_ASSIGN_OR_RETURN(Node * test, Carry(site));
      TF_ASSIGN_OR_RETURN(all, carrier_.in_body().Binary("passes", "LogicalAnd", all, test));
    }
    TF_RETURN_IF_ERROR(carrier_.Return(number, all));
    if (!counted) TF_RETURN_IF_ERROR(carrier_.EndIfFalse(number));
    TF_ASSIGN_OR_RETURN(Node * loop, carrier_.Finish(library));
    std::vector<Node*> users;
    for (const Edge* edge : loop->out_edges()) {
      if (!edge->IsControlEdge()) users.push_back(edge->dst());
    }
    for (size_t i = 0; i < sites_.size(); ++i) TF_RETURN_IF_ERROR(AddPlace(sites_[i], carried_[i], loop, users));
    tensorflow::FixupSourceAndSinkEdges(graph_);
    return absl::OkStatus();
  }

 private:
  struct Carried {
    int indices;
    int sizes = -1;  // -1: the site's sizes are known
  };

  // Returns whether the site's indices are in range.
  absl::StatusOr<Node*> Carry(const Site& site) {
    const NodeMaker& maker = carrier_.in_body();
    const DataType type = site.indices.node->output_type(site.indices.index);
    NodeBuilder::NodeOut sizes;
    if (site.sizes.empty()) {
      TF_ASSIGN_OR_RETURN(sizes, Sizes(site));
    } else {
      TF_ASSIGN_OR_RETURN(Node * constant, maker.Constant("sizes", SizesTensor(site.sizes)));
      sizes = NodeBuilder::NodeOut(constant, 0);
    }
    NodeBuilder test = maker.New("in_range", kIndicesInRangeOp);
    test.Input(site.indices.node, site.indices.index).Input(sizes);
    test.Attr("kind", NameOf(site.bound.kind)).Attr("axis", site.bound.axis);
    TF_ASSIGN_OR_RETURN(Node * in_range, maker.Add(test));
    Carried carried;
    TF_ASSIGN_OR_RETURN(carried.indices,
                        Keep(Filled(type, site.shape, 0), NodeBuilder::NodeOut(site.indices.node, site.indices.index)));
    if (site.sizes.empty()) {
      TF_ASSIGN_OR_RETURN(carried.sizes, Keep(Filled(tensorflow::DT_INT32, {site.rank}, 1), sizes));
    }
    carried_.push_back(carried);
    site.node->ClearAttr(kInRangeAttr);
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

  absl::StatusOr<NodeBuilder::NodeOut> Sizes(const Site& site) const {
    const NodeMaker& maker = carrier_.in_body();
    const NodeBuilder::NodeOut bounding(site.bounding.node, site.bounding.index);
    Node* sizes = nullptr;
    if (site.bound.kind == IndexKind::kListElement || site.bound.kind == IndexKind::kWrittenElement) {
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
    // The rank of a variable may be unknown, so only the first size is carried.
    TF_ASSIGN_OR_RETURN(Node * first, maker.Constant("first", Filled(tensorflow::DT_INT32, {1}, 0)));
    TF_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", Filled(tensorflow::DT_INT32, {}, 0)));
    NodeBuilder rows = maker.New("rows", "GatherV2");
    TF_ASSIGN_OR_RETURN(sizes, maker.Add(rows.Input(sizes).Input(first).Input(axis)));
    sizes->AddAttr(kInRangeAttr, true);
    return NodeBuilder::NodeOut(sizes, 0);
  }

  // Adds the HabanaLoopIndices of a site. What uses a result of the loop waits for it.
  absl::Status AddPlace(const Site& site, const Carried& carried, Node* loop, const std::vector<Node*>& users) {
    const NodeMaker& maker = carrier_.outside();
    NodeBuilder::NodeOut sizes(loop, carried.sizes);
    if (carried.sizes < 0) {
      TF_ASSIGN_OR_RETURN(Node * constant, maker.Constant("sizes", SizesTensor(site.sizes)));
      sizes = NodeBuilder::NodeOut(constant, 0);
    }
    NodeBuilder builder(PlaceName(site.node->name()), kLoopIndicesOp, graph_->op_registry());
    builder.Device(loop->requested_device()).Input(loop, carried.indices).Input(sizes);
    builder.Attr("kind", NameOf(site.bound.kind)).Attr("axis", site.bound.axis);
    Node* place = nullptr;
    TF_RETURN_IF_ERROR(builder.Finalize(graph_, &place));
    for (Node* user : users) graph_->AddControlEdge(place, user);
    return absl::OkStatus();
  }

  // The error names the op in the body, as on the CPU.
  std::string PlaceName(const std::string& op) const {
    const bool taken = absl::c_any_of(graph_->op_nodes(), [&](const Node* node) { return node->name() == op; });
    return taken ? graph_->NewName(op) : op;
  }

  Graph* const graph_;
  const std::vector<Site> sites_;
  LoopCarrier carrier_;
  Node* passed_ = nullptr;        // in the body: whether all tests of earlier iterations passed
  std::vector<Carried> carried_;  // of each site
};

void SetAttr(Node* node, const char* name, const PartialTensorShape& shape) {
  node->ClearAttr(name);
  node->AddAttr(name, std::vector<PartialTensorShape>{shape});
}

// Gives the arguments of a body the shapes that the loop declares, and those of the loop's variables. `shapes`: of the
// loop's graph.
void SetShapesOfArguments(const Node& loop, const FunctionBody& body, const StaticShapes& shapes) {
  std::vector<PartialTensorShape> declared;
  if (!tensorflow::GetNodeAttr(loop.attrs(), "output_shapes", &declared).ok() ||
      declared.size() != body.arg_nodes.size()) {
    declared.assign(body.arg_nodes.size(), {});
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    Node* const argument = body.arg_nodes[i];
    if (body.arg_types[i] == tensorflow::DT_RESOURCE) {
      const OutputTensor handle = InputOf(loop, static_cast<int>(i));
      const auto [shape, type] = shapes.Variable(*handle.node, handle.index);
      if (type == tensorflow::DT_INVALID) continue;
      SetAttr(argument, "_handle_shapes", shape);
      argument->ClearAttr("_handle_dtypes");
      argument->AddAttr("_handle_dtypes", std::vector<DataType>{type});
    } else if (body.arg_types[i] != tensorflow::DT_VARIANT) {
      SetAttr(argument, "_output_shapes", declared[i]);
    }
  }
}

class Mover {
 public:
  explicit Mover(FunctionLibraryDefinition* library) : library_(library) {}

  // Returns whether the graph changed.
  absl::StatusOr<bool> Run(Graph* graph) {
    KnownNumbers known(graph, library_);
    LazyShapes shapes(graph, library_);
    bool changed = false;
    for (Node* loop : LoopsOf(*graph)) {
      TF_ASSIGN_OR_RETURN(const bool moved, RunLoop(graph, loop, shapes.Get(), &known));
      changed |= moved;
    }
    return changed;
  }

 private:
  absl::StatusOr<bool> RunLoop(Graph* graph, Node* loop, const StaticShapes& shapes_outside, KnownNumbers* known) {
    TF_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library_));
    SetShapesOfArguments(*loop, *body, shapes_outside);
    TF_ASSIGN_OR_RETURN(const bool inner, Run(body->graph));
    std::vector<Site> sites;
    if (!UpdatesVariables(*loop, *library_)) {
      const StaticShapes shapes(body->graph, library_);
      sites = SiteFinder(*body->graph, shapes).Run();
    }
    TF_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(*loop, "cond", *library_));
    if (sites.empty() || condition->ret_types[0] != tensorflow::DT_BOOL) {
      if (inner) TF_RETURN_IF_ERROR(SetFunction(loop, "body", *body, "_checked", library_));
      return inner;
    }
    const LoopCounters counters(*loop, *condition, *body, known);
    const bool counted = counters.MaxIterations().has_value() || counters.LimitOfIterations() != nullptr;
    TF_RETURN_IF_ERROR(LoopChecks(graph, loop, body.get(), condition.get(), std::move(sites)).Run(counted, library_));
    return true;
  }

  FunctionLibraryDefinition* const library_;
};

}  // namespace

absl::Status MoveChecksBehindLoops(Graph* graph, FunctionLibraryDefinition* library) {
  return Mover(library).Run(graph).status();
}

tensorflow::Status RunLoopCheckPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options) || Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return MoveChecksBehindLoops(options.graph->get(), options.flib_def);
}

}  // namespace hpu::passes

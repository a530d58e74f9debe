// Plans with one faulty node each. The double must refuse the plan, or the results must differ from the evaluator's.
// Otherwise the other tests of lowerings would miss the fault.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/compiler/graph_compiler.h"
#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/synapse/launch_table.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace mutations_test {

enum class Fault {
  kDroppedEdge,      // no order between a reader of an argument and the node that overwrites it
  kLateRead,         // the reader runs after the node that overwrites the argument
  kSwappedAxis,      // another dimension
  kWrongStride,      // a stride, or the step of a slice, is one larger
  kParamsVersion,    // params of a size that the release does not know
  kSwappedOperands,  // the last two operands of a node that is not commutative
};

constexpr const char* kFaultNames[] = {"dropped edge", "late read",      "swapped axis",
                                       "wrong stride", "params version", "swapped operands"};

uint32_t Word(const std::string& params, size_t offset) {
  uint32_t word = 0;
  std::memcpy(&word, params.data() + offset, sizeof(word));
  return word;
}

void SetWord(std::string* params, size_t offset, uint32_t word) {
  std::memcpy(params->data() + offset, &word, sizeof(word));
}

bool HasStem(const PlanNode& node, const char* stem) {
  return node.guid == stem || absl::StartsWith(node.guid, absl::StrCat(stem, "_"));
}

bool SwapAxis(const GraphPlan& plan, PlanNode* node) {
  const TensorId operand = node->operands.empty() ? kNoTensor : node->operands.front();
  if (operand == kNoTensor || plan.tensors[operand].sizes.size() < 2) return false;
  if (node->guid == "transpose") {
    const bool is_long = node->params.size() == sizeof(synapse::synTransposeParamsNDims);
    const size_t first = is_long ? offsetof(synapse::synTransposeParamsNDims, permutation) : 0;
    const uint32_t word = Word(node->params, first);
    SetWord(&node->params, first, Word(node->params, first + 4));
    SetWord(&node->params, first + 4, word);
    return true;
  }
  if (HasStem(*node, "reduce") && absl::StrContains(node->guid, "_multi_dim_")) {
    const uint32_t mask = Word(node->params, 0);
    SetWord(&node->params, 0, mask == 1 ? 2 : mask >> 1);
    return true;
  }
  const bool has_axis = node->guid == "concat" || node->guid == "topk" || HasStem(*node, "gather_fwd") ||
                        HasStem(*node, "cumsum_fwd") || HasStem(*node, "reduce");
  if (!has_axis || node->params.size() < 4) return false;
  const size_t offset = node->guid == "topk" ? offsetof(synapse::synBeamParams, axis) : 0;
  SetWord(&node->params, offset, Word(node->params, offset) == 0 ? 1 : 0);
  return true;
}

// Offset of the first stride in the params; 0 if the params have no strides.
size_t StrideOffset(const PlanNode& node) {
  if (HasStem(node, "maxpool_2d") || HasStem(node, "avg_pool_2d")) return 24;
  if (node.guid == "spatial_convolution" || node.guid == "dedx" || node.guid == "dedw") {
    return offsetof(synapse::synConvolutionParams, dW);
  }
  return 0;
}

bool WidenStride(const GraphPlan& plan, PlanNode* node) {
  if (const size_t offset = StrideOffset(*node); offset != 0) {
    SetWord(&node->params, offset, Word(node->params, offset) + 1);
    return true;
  }
  if (node->guid != "slice") return false;
  const Sizes& sizes = plan.tensors[node->results.front()].sizes;
  const bool is_long = node->params.size() == sizeof(synapse::synSliceParamsV2);
  const size_t steps = is_long ? offsetof(synapse::synSliceParamsV2, steps) : offsetof(synapse::synSliceParams, steps);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint32_t axis = Word(node->params, 4 * i);
    const size_t step = steps + (is_long ? 8 : 4) * i;
    if (axis >= sizes.size() || sizes[axis] < 2 || Word(node->params, step) == 0) continue;
    SetWord(&node->params, step, Word(node->params, step) + 1);
    return true;
  }
  return false;
}

bool GrowParams(synapse::Profile profile, PlanNode* node) {
  const auto match = FindGuid(node->guid);
  if (!match.has_value()) return false;
  do node->params.resize(node->params.size() + 4);
  while (match->guid->HasParamsOf(profile, node->params.size()));
  return true;
}

bool SwapOperands(PlanNode* node) {
  static const auto* const commutative =
      new std::vector<const char*>{"add_fwd",         "mult_fwd",       "max_fwd",         "min_fwd", "equal_fwd",
                                   "bitwise_and_fwd", "bitwise_or_fwd", "bitwise_xor_fwd", "and",     "or"};
  const size_t count = node->operands.size();
  if (count < 2 || node->operands[count - 1] == node->operands[count - 2]) return false;
  for (const char* stem : *commutative) {
    if (HasStem(*node, stem)) return false;
  }
  std::swap(node->operands[count - 1], node->operands[count - 2]);
  return true;
}

// Applies a fault to a node. Returns false if the fault does not apply to the node.
bool Apply(Fault fault, synapse::Profile profile, size_t index, GraphPlan* plan) {
  PlanNode* node = &plan->nodes[index];
  switch (fault) {
    case Fault::kDroppedEdge:
    case Fault::kLateRead: {
      if (node->after.empty()) return false;
      const int32_t reader = node->after.back();
      node->after.pop_back();
      if (fault == Fault::kLateRead) plan->nodes[reader].after.push_back(static_cast<int32_t>(index));
      return true;
    }
    case Fault::kSwappedAxis:
      return SwapAxis(*plan, node);
    case Fault::kWrongStride:
      return WidenStride(*plan, node);
    case Fault::kParamsVersion:
      return GrowParams(profile, node);
    case Fault::kSwappedOperands:
      return SwapOperands(node);
  }
  return false;
}

// Plans with one fault each, at most `limit`, evenly spaced.
std::vector<GraphPlan> Mutants(const GraphPlan& plan, Fault fault, synapse::Profile profile, size_t limit) {
  std::vector<GraphPlan> mutants;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    GraphPlan mutant = plan;
    if (Apply(fault, profile, i, &mutant)) mutants.push_back(std::move(mutant));
  }
  const size_t stride = (mutants.size() + limit - 1) / limit;
  std::vector<GraphPlan> chosen;
  for (size_t i = 0; i < mutants.size(); i += stride) chosen.push_back(std::move(mutants[i]));
  return chosen;
}

struct Family {
  const char* name;
  const char* hlo;
  std::vector<Fault> faults;  // that a node of the plan can have
};

const std::vector<Family>& Families() {
  static const auto* const families = new std::vector<Family>{
      {"elementwise",
       "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }\n"
       "ENTRY e { p = f32[4,6] parameter(0)\n g = f32[4,6] parameter(1)\n q = f32[4,6] divide(g, p)\n"
       "n = f32[4,6] subtract(p, g)\n m = pred[4,6] compare(p, g), direction=LT\n"
       "s = f32[4,6] select(m, q, g)\n ROOT r = (f32[4,6], f32[4,6]) tuple(n, s) }",
       {Fault::kDroppedEdge, Fault::kLateRead, Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"movement",
       "HloModule m\nENTRY e { x = f32[3,4,5] parameter(0)\n u = f32[3,3,4] parameter(1)\n z = f32[] parameter(2)\n"
       "t = f32[5,3,4] transpose(x), dimensions={2,0,1}\n"
       "s = f32[3,3,4] slice(t), slice={[0:5:2], [0:3], [0:4]}\n"
       "c = f32[3,6,4] concatenate(s, u), dimensions={1}\n"
       "ROOT r = f32[4,7,4] pad(c, z), padding=1_0x0_1x0_0 }",
       {Fault::kSwappedAxis, Fault::kWrongStride, Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"reduction",
       "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
       "ENTRY e { x = f32[4,4,4] parameter(0)\n z = f32[] constant(0)\n"
       "ROOT r = f32[4,4] reduce(x, z), dimensions={1}, to_apply=f }",
       {Fault::kSwappedAxis, Fault::kParamsVersion}},
      {"convolution",
       "HloModule m\nENTRY e { x = f32[2,7,7,3] parameter(0)\n w = f32[3,3,3,4] parameter(1)\n"
       "ROOT r = f32[2,4,4,4] convolution(x, w), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f "
       "}",
       {Fault::kWrongStride, Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"pooling",
       "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
       "g { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE }\n"
       "ENTRY e { x = f32[2,6,8,3] parameter(0)\n dy = f32[2,3,4,3] parameter(1)\n z = f32[] constant(0)\n"
       "ROOT r = f32[2,6,8,3] select-and-scatter(x, dy, z), window={size=1x2x2x1 stride=1x2x2x1}, select=g, "
       "scatter=f }",
       {Fault::kWrongStride, Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"gather",
       "HloModule m\nENTRY e { x = f32[6,3] parameter(0)\n i = s32[5] parameter(1)\n"
       "ROOT r = f32[5,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,3} }",
       {Fault::kSwappedAxis, Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"scatter",
       "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n"
       "ENTRY e { x = f32[3,8] parameter(0)\n i = s32[4] parameter(1)\n u = f32[4,8] parameter(2)\n"
       "ROOT r = f32[3,8] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }",
       {Fault::kSwappedAxis, Fault::kWrongStride, Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"sort",
       "HloModule m\nf { a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
       "ROOT r = pred[] compare(a, b), direction=LT }\n"
       "ENTRY e { x = s32[4,30] parameter(0)\n ROOT r = s32[4,30] sort(x), dimensions={1}, to_apply=f }",
       {Fault::kParamsVersion, Fault::kSwappedOperands}},
      {"random",
       "HloModule m\nENTRY e { s = u64[3] parameter(0)\n"
       "ROOT g = (u64[3], u32[80]) rng-bit-generator(s), algorithm=rng_philox }",
       {Fault::kParamsVersion, Fault::kSwappedOperands}},
  };
  return *families;
}

// Arguments for which each node of the plan matters: several updates of one row, states whose sums carry.
std::vector<xla::Literal> ArgumentsFor(const Family& family, const xla::HloModule& module) {
  std::vector<xla::Literal> arguments = RandomArguments(module);
  if (std::string(family.name) == "scatter") arguments[1] = xla::LiteralUtil::CreateR1<int32_t>({2, 2, 0, 2});
  if (std::string(family.name) == "random") {
    arguments[0] = xla::LiteralUtil::CreateR1<uint64_t>({0x123456789abcdef0, ~uint64_t{0} - 1, 0xfedcba9876543210});
  }
  return arguments;
}

class MutationsTest : public ProgramTest {
 protected:
  // A double that refuses plans, instead of aborting.
  MutationsTest() { Set("SYNAPSE_DOUBLE_STRICT", "log"); }

  // Compiles and launches a plan, with memory of its own. Results as in ProgramTest::Run.
  absl::StatusOr<std::vector<xla::Literal>> RunPlan(const LoweredProgram& program, const xla::HloModule& module,
                                                    const std::vector<xla::Literal>& arguments) {
    const synapse::Library& library = runtime().library();
    HPU_ASSIGN_OR_RETURN(const synapse::DeviceInfo info, library.GetDeviceInfo(device().id()));
    HPU_ASSIGN_OR_RETURN(const synapse::OwnedRecipe recipe,
                         CompileGraph(library, info.generation, "mutant", program.plan, program.table));
    std::vector<std::unique_ptr<hal::Memory>> memory;
    std::vector<hal::DeviceAddress> argument_addresses, result_addresses;
    for (const xla::Literal& argument : arguments) {
      memory.push_back(Memory(argument.size_bytes()));
      argument_addresses.push_back(memory.back()->address());
      HPU_RETURN_IF_ERROR(Write(argument, argument_addresses.back()));
    }
    for (const hal::ResultSpec& result : program.table.results) {
      if (result.aliased_argument < 0) memory.push_back(Memory(result.spec.bytes));
      result_addresses.push_back(result.aliased_argument < 0 ? memory.back()->address()
                                                             : argument_addresses[result.aliased_argument]);
    }
    HPU_RETURN_IF_ERROR(LaunchPlan(program.plan, recipe.get(), argument_addresses, result_addresses));
    std::vector<xla::Literal> literals;
    for (size_t i = 0; i < result_addresses.size(); ++i) {
      const xla::Shape& shape = module.entry_computation()->root_instruction()->shape();
      xla::Literal literal(xla::LayoutUtil::GetWithDefaultLayout(shape.tuple_shapes(static_cast<int>(i))));
      const std::vector<uint8_t> bytes = Read(result_addresses[i], literal.size_bytes());
      std::memcpy(literal.untyped_data(), bytes.data(), bytes.size());
      literals.push_back(std::move(literal));
    }
    return literals;
  }

  bool IsCaught(const LoweredProgram& program, const xla::HloModule& module,
                const std::vector<xla::Literal>& arguments) {
    const auto got = RunPlan(program, module, arguments);
    if (!got.ok()) return true;
    const std::vector<xla::Literal> want = Evaluate(module, arguments);
    for (size_t i = 0; i < want.size(); ++i) {
      if (!AreNear((*got)[i], want[i])) return true;
    }
    return false;
  }

 private:
  absl::Status Write(const xla::Literal& literal, hal::DeviceAddress address) {
    const auto host = Host(literal.size_bytes());
    std::memcpy(host->data(), literal.untyped_data(), literal.size_bytes());
    const auto stream = Stream(hal::StreamKind::kHostToDevice);
    HPU_RETURN_IF_ERROR(stream->CopyToDevice(host->data(), address, literal.size_bytes()));
    return stream->Synchronize();
  }

  absl::Status LaunchPlan(const GraphPlan& plan, synapse::synRecipeHandle recipe,
                          const std::vector<hal::DeviceAddress>& arguments,
                          const std::vector<hal::DeviceAddress>& results) {
    const synapse::Library& library = runtime().library();
    synapse::LaunchTable table(library.profile());
    std::vector<uint64_t> addresses;
    std::set<TensorId> used;
    for (const PlanNode& node : plan.nodes) {
      used.insert(node.operands.begin(), node.operands.end());
      used.insert(node.results.begin(), node.results.end());
    }
    for (const TensorId id : used) {
      if (id == kNoTensor) continue;
      const PlanTensor& tensor = plan.tensors[id];
      if (tensor.role != TensorRole::kArgument && tensor.role != TensorRole::kResult) continue;
      HPU_RETURN_IF_ERROR(table.Append(TensorName(plan, id), tensor.sizes));
      addresses.push_back((tensor.role == TensorRole::kArgument ? arguments : results)[tensor.number]);
    }
    HPU_RETURN_IF_ERROR(library.RetrieveIds(recipe, &table));
    for (size_t i = 0; i < addresses.size(); ++i) table.SetAddress(i, device().ToCard(addresses[i]));
    uint64_t bytes = 0;
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(library.functions(), synWorkspaceGetSize, (&bytes, recipe)));
    const auto workspace = Memory(std::max<uint64_t>(bytes, 128));
    HPU_ASSIGN_OR_RETURN(const synapse::OwnedStream stream,
                         library.CreateStream(device().id(), synapse::Engine::kCompute));
    HPU_RETURN_IF_ERROR(
        library.Launch(stream.get(), table, bytes == 0 ? 0 : device().ToCard(workspace->address()), recipe));
    return HPU_SYNAPSE_CALL(library.functions(), synStreamSynchronize, (stream.get()));
  }

  static bool AreNear(const xla::Literal& got, const xla::Literal& want) {
    if (!xla::primitive_util::IsFloatingPointType(want.shape().element_type())) return got == want;
    for (int64_t i = 0; i < xla::ShapeUtil::ElementsIn(want.shape()); ++i) {
      const std::vector<int64_t> index = xla::IndexUtil::LinearIndexToMultidimensionalIndex(want.shape(), i);
      const double a = got.GetAsDouble(index).value();
      const double b = want.GetAsDouble(index).value();
      if (!(std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b)))) return false;
    }
    return true;
  }
};

TEST_P(MutationsTest, EveryFaultIsCaught) {
  constexpr size_t kMutants = 6;  // of a family and a fault
  for (const Family& family : Families()) {
    SCOPED_TRACE(family.name);
    const std::unique_ptr<xla::HloModule> module = ParseProgram(family.hlo);
    const std::vector<xla::Literal> arguments = ArgumentsFor(family, *module);
    absl::StatusOr<LoweredProgram> program = Lower(*module);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_FALSE(IsCaught(*program, *module, arguments)) << "the plan is wrong without a fault";
    const GraphPlan plan = program->plan;
    for (const Fault fault : family.faults) {
      const std::vector<GraphPlan> mutants = Mutants(plan, fault, runtime().library().profile(), kMutants);
      EXPECT_FALSE(mutants.empty()) << "no node can have the fault: " << kFaultNames[static_cast<int>(fault)];
      for (const GraphPlan& mutant : mutants) {
        program->plan = mutant;
        EXPECT_TRUE(IsCaught(*program, *module, arguments))
            << "no test notices the fault: " << kFaultNames[static_cast<int>(fault)] << "\n"
            << ToText(mutant) << "is the plan with the fault; without it:\n"
            << ToText(plan);
      }
    }
  }
}

HPU_GAUDI_SUITE(MutationsTest);

}  // namespace mutations_test
}  // namespace hpu::gaudi

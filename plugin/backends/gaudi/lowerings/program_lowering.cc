#include "plugin/backends/gaudi/lowerings/program_lowering.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/gaudi/lowerings/control_flow.h"
#include "plugin/backends/gaudi/lowerings/iteration_count.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/base/version/contact.h"
#include "plugin/hal/types.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Loops with more iterations have a predicate that the host reads.
constexpr int64_t kMaxCountedIterations = 10000;

bool IsLoop(const HloInstruction* instruction) { return instruction->opcode() == HloOpcode::kWhile; }

// Whether the instruction is so cheap that every graph that uses it may repeat it.
bool IsCheap(const HloInstruction* instruction) {
  while (instruction->opcode() == HloOpcode::kBroadcast) instruction = instruction->operand(0);
  return instruction->opcode() == HloOpcode::kConstant || instruction->opcode() == HloOpcode::kIota;
}

// An array: the value of an instruction that is an array, or an element of another instruction's tuple. The instruction
// is never a tuple or a get-tuple-element of one: ValueOf looks through both.
struct ArrayValue {
  const HloInstruction* instruction = nullptr;
  int64_t index = -1;  // -1: the instruction is an array

  bool operator==(const ArrayValue& other) const { return instruction == other.instruction && index == other.index; }
  template <typename H>
  friend H AbslHashValue(H state, const ArrayValue& value) {
    return H::combine(std::move(state), value.instruction, value.index);
  }
  const xla::Shape& shape() const {
    return index < 0 ? instruction->shape() : instruction->shape().tuple_shapes(static_cast<int>(index));
  }
};

ArrayValue ElementOf(const HloInstruction* tuple, int64_t index);

ArrayValue ValueOf(const HloInstruction* array) {
  if (array->opcode() != HloOpcode::kGetTupleElement) return {array, -1};
  return ElementOf(array->operand(0), array->tuple_index());
}

ArrayValue ElementOf(const HloInstruction* tuple, int64_t index) {
  return tuple->opcode() == HloOpcode::kTuple ? ValueOf(tuple->operand(index)) : ArrayValue{tuple, index};
}

// A value that a computation must leave in memory.
struct Output {
  ArrayValue value;
  MemoryId memory;
};

// Builds the plan of a program.
class ProgramBuilder {
 public:
  ProgramBuilder(const ProgramTable& table, const PlanTarget& target, InstructionCounts* counts)
      : target_(target), counts_(counts) {
    for (size_t i = 0; i < table.arguments.size(); ++i) {
      Add(ProgramMemory::Kind::kArgument, static_cast<int32_t>(i), table.arguments[i].bytes);
    }
    for (size_t i = 0; i < table.results.size(); ++i) {
      const hal::ResultSpec& result = table.results[i];
      results_.push_back(result.aliased_argument >= 0
                             ? result.aliased_argument
                             : Add(ProgramMemory::Kind::kResult, static_cast<int32_t>(i), result.spec.bytes));
    }
  }

  // An argument's memory has the argument's number.
  MemoryId result(size_t number) const { return results_[number]; }

  // A buffer for an array that is not empty.
  absl::StatusOr<MemoryId> AddBuffer(const ArrayValue& value) {
    if (!value.shape().IsArray()) {
      return absl::UnimplementedError(absl::StrCat(Describe(*value.instruction), ": the tuple element of shape ",
                                                   xla::ShapeUtil::HumanString(value.shape()),
                                                   " is not an array; Gaudi does not support nested tuples"));
    }
    const absl::StatusOr<TensorType> type = TensorTypeOf(value.shape(), target_.generation);
    if (!type.ok()) {
      return Reworded(type.status(), absl::StrCat(Describe(*value.instruction), ": ", type.status().message()));
    }
    return Add(ProgramMemory::Kind::kBuffer, -1, ElementCount(type->sizes) * BytesOf(type->type));
  }
  uint64_t bytes(MemoryId memory) const { return plan_.memory[memory].bytes; }

  // Adds the graph of a module whose parameters and results are memory of the program. Returns the graph's number; -1
  // if the graph is empty, or if an instruction cannot be lowered.
  absl::StatusOr<int32_t> AddSegment(const xla::HloModule& module, std::vector<MemoryId> arguments,
                                     std::vector<MemoryId> results) {
    SegmentPlan segment;
    segment.table = TableOf(arguments, results);
    absl::StatusOr<GraphPlan> graph = LowerModule(module, segment.table, target_, counts_);
    if (absl::IsUnimplemented(graph.status())) {
      refusals_.emplace_back(graph.status().message());
      return -1;
    }
    HPU_RETURN_IF_ERROR(graph.status());
    if (graph->nodes.empty()) return -1;
    segment.graph = *std::move(graph);
    segment.arguments = std::move(arguments);
    segment.results = std::move(results);
    plan_.segments.push_back(std::move(segment));
    return static_cast<int32_t>(plan_.segments.size() - 1);
  }

  absl::StatusOr<ProgramPlan> Finish(std::vector<Step> steps) && {
    if (!refusals_.empty()) return absl::UnimplementedError(absl::StrJoin(refusals_, "; "));
    plan_.steps = std::move(steps);
    for (ProgramMemory& memory : plan_.memory) {
      if (memory.kind != ProgramMemory::Kind::kBuffer) continue;
      memory.offset = plan_.buffer_bytes;
      plan_.buffer_bytes += RoundUp(memory.bytes, hal::kDeviceAlignment);
    }
    return std::move(plan_);
  }

 private:
  MemoryId Add(ProgramMemory::Kind kind, int32_t number, uint64_t bytes) {
    ProgramMemory memory;
    memory.kind = kind;
    memory.number = number;
    memory.bytes = bytes;
    plan_.memory.push_back(memory);
    return static_cast<MemoryId>(plan_.memory.size() - 1);
  }

  ProgramTable TableOf(const std::vector<MemoryId>& arguments, const std::vector<MemoryId>& results) const {
    ProgramTable table;
    const auto bytes_of = [&](MemoryId id) { return id == kNoMemory ? 0 : plan_.memory[id].bytes; };
    for (const MemoryId id : arguments) table.arguments.push_back({hal::DataType::kInvalid, {}, bytes_of(id)});
    for (const MemoryId id : results) {
      const auto shared = id == kNoMemory ? arguments.end() : std::find(arguments.begin(), arguments.end(), id);
      const auto alias = shared == arguments.end() ? -1 : static_cast<int32_t>(shared - arguments.begin());
      table.results.push_back({{hal::DataType::kInvalid, {}, bytes_of(id)}, alias});
    }
    return table;
  }

  const PlanTarget target_;
  InstructionCounts* const counts_;
  ProgramPlan plan_;
  std::vector<MemoryId> results_;
  std::vector<std::string> refusals_;
};

// Splits a computation at its loops. Segment s is the graph of the instructions that run after loop s - 1 and before
// loop s. An instruction belongs to the last segment in which it may run, so work that no loop needs is in the last
// graph. Only that graph writes the computation's outputs, so outputs may share memory with arguments.
class ComputationSplit {
 public:
  // `parameters`: memory of the array parameters, or of the elements of the only parameter, a tuple.
  ComputationSplit(ProgramBuilder* program, const xla::HloComputation& computation, std::vector<MemoryId> parameters)
      : program_(program),
        module_(*computation.parent()),
        parameters_(std::move(parameters)),
        order_(computation.MakeInstructionPostOrder()) {
    FindSegments();
  }

  absl::StatusOr<std::vector<Step>> Lower(const std::vector<Output>& outputs) {
    outputs_.resize(loops_.size() + 1);
    for (size_t i = 0; i < loops_.size(); ++i) HPU_RETURN_IF_ERROR(PlaceState(i));
    outputs_.back().insert(outputs_.back().end(), outputs.begin(), outputs.end());
    // Lowers later segments first, to find the values that they need from earlier segments.
    std::vector<int32_t> graphs(outputs_.size(), -1);
    for (size_t s = outputs_.size(); s-- > 0;) {
      HPU_ASSIGN_OR_RETURN(graphs[s], LowerSegment(static_cast<int64_t>(s)));
    }
    std::vector<Step> steps;
    for (size_t s = 0; s < graphs.size(); ++s) {
      if (graphs[s] >= 0) {
        Step launch;
        launch.graph = graphs[s];
        steps.push_back(std::move(launch));
      }
      if (s == loops_.size()) break;
      HPU_ASSIGN_OR_RETURN(Step loop, LowerLoop(s));
      steps.push_back(std::move(loop));
    }
    return steps;
  }

 private:
  void FindSegments() {
    for (const HloInstruction* instruction : order_) {
      if (!IsLoop(instruction)) continue;
      loop_numbers_[instruction] = static_cast<int64_t>(loops_.size());
      loops_.push_back(instruction);
    }
    const auto last = static_cast<int64_t>(loops_.size());
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      int64_t segment = last;
      for (const HloInstruction* user : (*at)->users()) {
        segment = std::min(segment, IsLoop(user) ? loop_numbers_.at(user) : segments_.at(user));
      }
      segments_[*at] = segment;
    }
  }

  // Memory for the state of a loop. An element that stays the same has the memory of its initial value.
  absl::Status PlaceState(size_t number) {
    const HloInstruction* loop = loops_[number];
    if (!loop->shape().IsTuple()) {
      return absl::UnimplementedError(
          absl::StrCat(Describe(*loop), ": the state of the loop is not a tuple, which Gaudi requires"));
    }
    const HloInstruction* parameter = loop->while_body()->parameter_instruction(0);
    std::vector<MemoryId> state;
    for (int64_t i = 0; i < loop->shape().tuple_shapes_size(); ++i) {
      const ArrayValue initial = ElementOf(loop->operand(0), i);
      if (xla::ShapeUtil::IsZeroElementArray(initial.shape())) {
        state.push_back(kNoMemory);
      } else if (ElementOf(loop->while_body()->root_instruction(), i) == ArrayValue{parameter, i}) {
        HPU_ASSIGN_OR_RETURN(const MemoryId memory, MemoryOf(initial));
        state.push_back(memory);
      } else {
        HPU_ASSIGN_OR_RETURN(const MemoryId memory, program_->AddBuffer({loop, i}));
        state.push_back(memory);
        outputs_[number].push_back({initial, memory});
      }
    }
    states_.push_back(std::move(state));
    return absl::OkStatus();
  }

  absl::StatusOr<Step> LowerLoop(size_t number) {
    const HloInstruction* loop = loops_[number];
    const std::vector<MemoryId>& state = states_[number];
    const HloInstruction* predicate = loop->while_condition()->root_instruction();
    if (predicate->opcode() != HloOpcode::kGetTupleElement ||
        predicate->operand(0)->opcode() != HloOpcode::kParameter) {
      return absl::InternalError(
          absl::StrCat(loop->name(), ": the loop's condition is not an element of its state; " HPU_REPORT_BUG));
    }
    Step step;
    step.predicate = state[predicate->tuple_index()];
    if (const auto count = IterationCount(loop, kMaxCountedIterations)) step.count = static_cast<uint64_t>(*count);
    const HloInstruction* parameter = loop->while_body()->parameter_instruction(0);
    std::vector<Output> outputs;
    for (size_t i = 0; i < state.size(); ++i) {
      const ArrayValue next = ElementOf(loop->while_body()->root_instruction(), static_cast<int64_t>(i));
      if (state[i] != kNoMemory && !(next == ArrayValue{parameter, static_cast<int64_t>(i)})) {
        outputs.push_back({next, state[i]});
      }
    }
    HPU_ASSIGN_OR_RETURN(step.body, ComputationSplit(program_, *loop->while_body(), state).Lower(outputs));
    return step;
  }

  // Whether a segment reads the value from memory.
  bool IsFromMemory(const ArrayValue& value, int64_t segment) const {
    const HloInstruction* instruction = value.instruction;
    if (IsLoop(instruction) || instruction->opcode() == HloOpcode::kParameter) return true;
    return !IsCheap(instruction) && segments_.at(instruction) < segment;
  }

  // Memory of a value that another segment, or a loop, uses. The value's segment then writes the memory.
  absl::StatusOr<MemoryId> MemoryOf(const ArrayValue& value) {
    const HloInstruction* instruction = value.instruction;
    if (IsLoop(instruction)) return states_[loop_numbers_.at(instruction)][value.index];
    if (instruction->opcode() == HloOpcode::kParameter) {
      return parameters_[value.index < 0 ? instruction->parameter_number() : value.index];
    }
    if (const auto found = buffers_.find(value); found != buffers_.end()) return found->second;
    HPU_ASSIGN_OR_RETURN(const MemoryId memory, program_->AddBuffer(value));
    buffers_[value] = memory;
    outputs_[segments_.at(instruction)].push_back({value, memory});
    return memory;
  }

  absl::StatusOr<int32_t> LowerSegment(int64_t segment);

  ProgramBuilder* const program_;
  const xla::HloModule& module_;
  const std::vector<MemoryId> parameters_;
  const std::vector<HloInstruction*> order_;  // operands first
  std::vector<const HloInstruction*> loops_;
  absl::flat_hash_map<const HloInstruction*, int64_t> loop_numbers_;
  absl::flat_hash_map<const HloInstruction*, int64_t> segments_;
  std::vector<std::vector<MemoryId>> states_;          // by loop, then by element
  std::vector<std::vector<Output>> outputs_;           // by segment
  absl::flat_hash_map<ArrayValue, MemoryId> buffers_;  // of values that several segments use

  friend class SegmentModule;
};

// The module of one segment.
class SegmentModule {
 public:
  SegmentModule(ComputationSplit* split, int64_t segment)
      : split_(*split),
        segment_(segment),
        module_(std::make_unique<xla::HloModule>("segment", xla::HloModuleConfig())),
        context_(module_.get()),
        builder_("entry") {
    module_->set_frontend_attributes(split->module_.frontend_attributes());
  }

  // False if the segment computes nothing.
  absl::StatusOr<bool> Build() {
    std::vector<Output> outputs;
    for (const Output& output : split_.outputs_[segment_]) {
      HPU_ASSIGN_OR_RETURN(const bool is_there, IsThere(output));
      if (!is_there) outputs.push_back(output);
    }
    if (outputs.empty()) return false;
    for (const Output& output : outputs) HPU_RETURN_IF_ERROR(Need(output.value));
    for (const HloInstruction* instruction : split_.order_) {
      if (needed_.contains(instruction)) Clone(instruction);
    }
    std::vector<HloInstruction*> elements;
    for (const Output& output : outputs) {
      elements.push_back(Find(output.value));
      results_.push_back(output.memory);
    }
    module_->AddEntryComputation(builder_.Build(builder_.AddInstruction(HloInstruction::CreateTuple(elements))));
    return true;
  }

  const xla::HloModule& module() const { return *module_; }
  const std::vector<MemoryId>& arguments() const { return arguments_; }
  const std::vector<MemoryId>& results() const { return results_; }

 private:
  // Whether the memory holds the value already.
  absl::StatusOr<bool> IsThere(const Output& output) {
    if (output.memory == kNoMemory) return true;
    if (!split_.IsFromMemory(output.value, segment_)) return false;
    HPU_ASSIGN_OR_RETURN(const MemoryId memory, split_.MemoryOf(output.value));
    return memory == output.memory;
  }

  // Finds the segment's instructions that `first` needs, and adds parameters for the values that they read from memory.
  absl::Status Need(const ArrayValue& first) {
    std::vector<ArrayValue> open = {first};
    while (!open.empty()) {
      const ArrayValue value = open.back();
      open.pop_back();
      if (value.shape().IsArray() && split_.IsFromMemory(value, segment_)) {
        HPU_RETURN_IF_ERROR(AddParameter(value));
        continue;
      }
      if (IsLoop(value.instruction) || value.instruction->opcode() == HloOpcode::kParameter) {
        return absl::UnimplementedError(absl::StrCat(Describe(*value.instruction), ": the tuple element of shape ",
                                                     xla::ShapeUtil::HumanString(value.shape()),
                                                     " is not an array; Gaudi does not support nested tuples"));
      }
      if (!needed_.insert(value.instruction).second) continue;
      for (const HloInstruction* operand : value.instruction->operands()) open.push_back(ValueOf(operand));
    }
    return absl::OkStatus();
  }

  absl::Status AddParameter(const ArrayValue& value) {
    if (parameters_.contains(value)) return absl::OkStatus();
    MemoryId memory = kNoMemory;
    if (!xla::ShapeUtil::IsZeroElementArray(value.shape())) {
      HPU_ASSIGN_OR_RETURN(memory, split_.MemoryOf(value));
      const auto found = std::find(arguments_.begin(), arguments_.end(), memory);
      if (found != arguments_.end()) {
        parameters_[value] = parameter_instructions_[found - arguments_.begin()];
        return absl::OkStatus();
      }
    }
    HloInstruction* parameter = builder_.AddInstruction(HloInstruction::CreateParameter(
        static_cast<int64_t>(arguments_.size()), value.shape(), value.instruction->name()));
    arguments_.push_back(memory);
    parameter_instructions_.push_back(parameter);
    parameters_[value] = parameter;
    return absl::OkStatus();
  }

  void Clone(const HloInstruction* instruction) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(Find(ValueOf(operand)));
    clones_[instruction] =
        builder_.AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands, &context_));
  }

  HloInstruction* Find(const ArrayValue& value) {
    if (const auto found = parameters_.find(value); found != parameters_.end()) return found->second;
    HloInstruction* clone = clones_.at(value.instruction);
    if (value.index < 0) return clone;
    return builder_.AddInstruction(HloInstruction::CreateGetTupleElement(value.shape(), clone, value.index));
  }

  ComputationSplit& split_;
  const int64_t segment_;
  std::unique_ptr<xla::HloModule> module_;
  xla::HloCloneContext context_;
  xla::HloComputation::Builder builder_;
  absl::flat_hash_set<const HloInstruction*> needed_;
  absl::flat_hash_map<ArrayValue, HloInstruction*> parameters_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> clones_;
  std::vector<MemoryId> arguments_;
  std::vector<HloInstruction*> parameter_instructions_;  // parallel to arguments_
  std::vector<MemoryId> results_;
};

absl::StatusOr<int32_t> ComputationSplit::LowerSegment(int64_t segment) {
  SegmentModule module(this, segment);
  HPU_ASSIGN_OR_RETURN(const bool has_work, module.Build());
  if (!has_work) return -1;
  return program_->AddSegment(module.module(), module.arguments(), module.results());
}

}  // namespace

absl::StatusOr<ProgramPlan> LowerProgram(const xla::HloModule& module, const ProgramTable& table,
                                         const PlanTarget& target, InstructionCounts* counts) {
  ProgramBuilder program(table, target, counts);
  const xla::HloComputation& entry = *module.entry_computation();
  std::vector<MemoryId> arguments;
  for (size_t i = 0; i < table.arguments.size(); ++i) arguments.push_back(static_cast<MemoryId>(i));
  std::vector<MemoryId> results;
  for (size_t i = 0; i < table.results.size(); ++i) results.push_back(program.result(i));
  std::vector<Step> steps;
  if (HasInstruction(entry, HloOpcode::kWhile)) {
    std::vector<Output> outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      if (table.results[i].spec.bytes == 0) continue;
      outputs.push_back({ElementOf(entry.root_instruction(), static_cast<int64_t>(i)), results[i]});
    }
    HPU_ASSIGN_OR_RETURN(steps, ComputationSplit(&program, entry, arguments).Lower(outputs));
  } else {
    HPU_ASSIGN_OR_RETURN(const int32_t graph, program.AddSegment(module, std::move(arguments), std::move(results)));
    if (graph >= 0) {
      steps.emplace_back();
      steps.back().graph = graph;
    }
  }
  return std::move(program).Finish(std::move(steps));
}

}  // namespace hpu::gaudi

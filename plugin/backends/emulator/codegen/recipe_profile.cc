#include "plugin/backends/emulator/codegen/recipe_profile.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {
namespace {

std::string KindOf(const xla::HloInstruction& instruction) {
  if (!instruction.IsCustomCall(kKernelSymbol)) return instruction.ToCategory();
  // The text after the kernel's number.
  const std::string& text = instruction.raw_backend_config_string();
  return text.substr(text.find(' ') + 1);
}

// To split an instruction over threads, XLA replaces the instruction by a call without metadata. The root of the called
// computation has the metadata.
const xla::OpMetadata& OpOf(const xla::HloInstruction& instruction) {
  if (instruction.opcode() != xla::HloOpcode::kCall || !instruction.metadata().op_name().empty()) {
    return instruction.metadata();
  }
  return instruction.to_apply()->root_instruction()->metadata();
}

bool HasWork(const xla::HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case xla::HloOpcode::kAddDependency:
    case xla::HloOpcode::kAfterAll:
    case xla::HloOpcode::kBitcast:
    case xla::HloOpcode::kConstant:
    case xla::HloOpcode::kGetTupleElement:
    case xla::HloOpcode::kParameter:
    case xla::HloOpcode::kTuple:
      return false;
    default:
      return true;
  }
}

void Add(const xla::HloComputation& computation, bool inner, std::vector<hal::InstructionTime>* timed) {
  for (const xla::HloInstruction* instruction : computation.instructions()) {
    if (!HasWork(*instruction)) continue;
    const xla::OpMetadata& op = OpOf(*instruction);
    timed->push_back({std::string(instruction->name()), KindOf(*instruction), op.op_name(), op.op_type()});
    const bool runs_others =
        instruction->opcode() == xla::HloOpcode::kWhile || instruction->opcode() == xla::HloOpcode::kConditional;
    if (!inner || !runs_others) continue;
    for (const xla::HloComputation* called : instruction->called_computations()) Add(*called, inner, timed);
  }
}

}  // namespace

// One call of a recipe's code: the instructions that have begun and not ended.
class InstructionTimes::Run {
 public:
  explicit Run(InstructionTimes* times) : times_(times), outer_(current) { current = this; }
  ~Run() { current = outer_; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Returns -1 for an unknown instruction.
  int64_t Begin(const char* name) {
    const auto found = times_->numbers_.find(name);
    if (found == times_->numbers_.end()) return -1;
    open_.push_back({found->second, trace::NowNs()});
    return found->second;
  }

  void End(int64_t number) {
    const int64_t now = trace::NowNs();
    // Drops inner instructions that failed and therefore have no end.
    while (!open_.empty() && open_.back().number != number) open_.pop_back();
    if (open_.empty()) return;
    const Open ended = open_.back();
    open_.pop_back();
    const int64_t all = std::max<int64_t>(0, now - ended.begin);
    times_->nanoseconds_[number].fetch_add(std::max<int64_t>(0, all - ended.inner), std::memory_order_relaxed);
    if (!open_.empty()) open_.back().inner += all;
    if (trace::IsOn()) Record(number, ended.begin, ended.begin + all);
  }

  static thread_local Run* current;  // the calling thread's innermost run

 private:
  struct Open {
    int64_t number;
    int64_t begin;      // nanoseconds since 1970
    int64_t inner = 0;  // nanoseconds of the instructions inside
  };

  void Record(int64_t number, int64_t begin, int64_t end) const {
    trace::Event event;
    event.lane = trace::Lane::kInstruction;
    event.instruction = times_->instructions_[number];
    event.name = event.instruction->op.empty() ? event.instruction->name : event.instruction->op;
    event.begin_ns = begin;
    event.end_ns = end;
    trace::Record(std::move(event));
  }

  InstructionTimes* const times_;
  Run* const outer_;
  absl::InlinedVector<Open, 8> open_;
};

thread_local InstructionTimes::Run* InstructionTimes::Run::current = nullptr;

std::vector<hal::InstructionTime> TimedInstructions(const xla::HloModule& module, bool inner) {
  std::vector<hal::InstructionTime> timed;
  Add(*module.entry_computation(), inner, &timed);
  return timed;
}

InstructionTimes::InstructionTimes(const RecipeProfile& profile, const std::string& program)
    : profile_(profile), nanoseconds_(std::make_unique<std::atomic<int64_t>[]>(profile.instructions.size())) {
  for (const hal::InstructionTime& names : profile.instructions) {
    numbers_.emplace(names.instruction, static_cast<int64_t>(instructions_.size()));
    instructions_.push_back(std::make_shared<const trace::Instruction>(
        trace::Instruction{names.instruction, names.kind, program, names.op, names.op_type}));
  }
}

void InstructionTimes::Measure(absl::FunctionRef<void(int64_t*)> run) {
  if (profile_.counters == 0) return run(nullptr);
  thread_local std::vector<int64_t> counters;
  counters.resize(std::max<size_t>(counters.size(), profile_.counters));
  Run measured(this);
  run(counters.data());
}

std::vector<hal::InstructionTime> InstructionTimes::Seconds() const {
  std::vector<hal::InstructionTime> times = profile_.instructions;
  for (size_t i = 0; i < times.size(); ++i) {
    times[i].seconds = 1e-9 * static_cast<double>(nanoseconds_[i].load(std::memory_order_relaxed));
  }
  return times;
}

int64_t InstructionTimes::Begin(const void*, const char* name) {
  return Run::current == nullptr ? -1 : Run::current->Begin(name);
}

void InstructionTimes::End(const void*, int64_t instruction) {
  if (Run::current != nullptr && instruction >= 0) Run::current->End(instruction);
}

}  // namespace hpu::emulator

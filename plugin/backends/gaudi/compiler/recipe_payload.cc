#include "plugin/backends/gaudi/compiler/recipe_payload.h"

#include <utility>

#include "google/protobuf/repeated_ptr_field.h"
#include "hpu/recipe/v1/gaudi.pb.h"
#include "plugin/hal/types.h"

namespace hpu::gaudi {
namespace {

using recipe::v1::GaudiPayload;

// Numbers memory in order of first use.
class UsedMemory {
 public:
  explicit UsedMemory(const ProgramPlan& plan) : plan_(plan), numbers_(plan.memory.size(), kNoMemory) {}

  MemoryId Use(MemoryId id) {
    if (numbers_[id] == kNoMemory) {
      numbers_[id] = static_cast<MemoryId>(memory_.size());
      memory_.push_back(plan_.memory[id]);
    }
    return numbers_[id];
  }
  void SetWritten(MemoryId used) { memory_[used].is_written = true; }

  void UseIn(std::vector<Step>* steps) {
    for (Step& step : *steps) {
      if (step.graph >= 0) continue;
      step.predicate = Use(step.predicate);
      UseIn(&step.body);
    }
  }

  std::vector<ProgramMemory> Take() && { return std::move(memory_); }

 private:
  const ProgramPlan& plan_;
  std::vector<MemoryId> numbers_;  // by id of the plan
  std::vector<ProgramMemory> memory_;
};

void ToMessage(const std::vector<Step>& steps, google::protobuf::RepeatedPtrField<recipe::v1::Step>* messages) {
  for (const Step& step : steps) {
    recipe::v1::Step* message = messages->Add();
    if (step.graph >= 0) {
      message->set_graph(static_cast<uint32_t>(step.graph));
      continue;
    }
    recipe::v1::Loop* loop = message->mutable_loop();
    loop->set_predicate(static_cast<uint32_t>(step.predicate));
    if (step.count.has_value()) loop->set_count(*step.count);
    ToMessage(step.body, loop->mutable_body());
  }
}

recipe::v1::ProgramMemory::Kind KindOf(ProgramMemory::Kind kind) {
  switch (kind) {
    case ProgramMemory::Kind::kArgument:
      return recipe::v1::ProgramMemory::KIND_ARGUMENT;
    case ProgramMemory::Kind::kResult:
      return recipe::v1::ProgramMemory::KIND_RESULT;
    case ProgramMemory::Kind::kBuffer:
      return recipe::v1::ProgramMemory::KIND_BUFFER;
  }
  return recipe::v1::ProgramMemory::KIND_UNSPECIFIED;
}

class PayloadReader {
 public:
  PayloadReader(const GaudiPayload& message, const ProgramTable& table) : message_(message), table_(table) {}

  std::optional<RecipePayload> Read() {
    payload_.buffer_bytes = message_.buffer_bytes();
    if (payload_.buffer_bytes % hal::kDeviceAlignment != 0) return std::nullopt;
    for (const recipe::v1::ProgramMemory& memory : message_.memory()) {
      if (!ReadMemory(memory)) return std::nullopt;
    }
    for (const recipe::v1::SynapseGraph& graph : message_.graphs()) {
      if (!ReadGraph(graph)) return std::nullopt;
    }
    is_launched_.resize(payload_.graphs.size());
    if (!ReadSteps(message_.steps(), &payload_.steps)) return std::nullopt;
    for (const bool is_launched : is_launched_) {
      if (!is_launched) return std::nullopt;
    }
    return std::move(payload_);
  }

 private:
  bool ReadMemory(const recipe::v1::ProgramMemory& message) {
    ProgramMemory memory;
    memory.number = static_cast<int32_t>(message.number());
    memory.offset = message.offset();
    memory.bytes = message.bytes();
    memory.is_written = message.is_written();
    bool is_valid = memory.bytes > 0;
    switch (message.kind()) {
      case recipe::v1::ProgramMemory::KIND_ARGUMENT:
        memory.kind = ProgramMemory::Kind::kArgument;
        is_valid &=
            message.number() < table_.arguments.size() && table_.arguments[message.number()].bytes == memory.bytes;
        break;
      case recipe::v1::ProgramMemory::KIND_RESULT:
        memory.kind = ProgramMemory::Kind::kResult;
        is_valid &=
            message.number() < table_.results.size() && table_.results[message.number()].spec.bytes == memory.bytes;
        break;
      case recipe::v1::ProgramMemory::KIND_BUFFER:
        memory.kind = ProgramMemory::Kind::kBuffer;
        is_valid &= memory.offset % hal::kDeviceAlignment == 0 && memory.offset <= payload_.buffer_bytes &&
                    memory.bytes <= payload_.buffer_bytes - memory.offset;
        break;
      default:
        return false;
    }
    payload_.memory.push_back(memory);
    return is_valid;
  }

  bool ReadGraph(const recipe::v1::SynapseGraph& message) {
    std::vector<LaunchTensor> tensors;
    for (const recipe::v1::LaunchTensor& tensor : message.tensors()) {
      if (tensor.memory() >= payload_.memory.size()) return false;
      tensors.push_back(
          {tensor.name(), Sizes(tensor.sizes().begin(), tensor.sizes().end()), static_cast<MemoryId>(tensor.memory())});
    }
    payload_.graphs.push_back(std::move(tensors));
    return true;
  }

  bool ReadSteps(const google::protobuf::RepeatedPtrField<recipe::v1::Step>& messages, std::vector<Step>* steps) {
    for (const recipe::v1::Step& message : messages) {
      Step step;
      if (message.has_loop()) {
        if (message.loop().predicate() >= payload_.memory.size()) return false;
        step.predicate = static_cast<MemoryId>(message.loop().predicate());
        if (payload_.memory[step.predicate].bytes != 1) return false;
        if (message.loop().has_count()) step.count = message.loop().count();
        if (!ReadSteps(message.loop().body(), &step.body)) return false;
      } else {
        if (!message.has_graph() || message.graph() >= payload_.graphs.size()) return false;
        step.graph = static_cast<int32_t>(message.graph());
        is_launched_[step.graph] = true;
      }
      steps->push_back(std::move(step));
    }
    return true;
  }

  const GaudiPayload& message_;
  const ProgramTable& table_;
  RecipePayload payload_;
  std::vector<bool> is_launched_;  // by graph
};

}  // namespace

RecipePayload MakePayload(const ProgramPlan& plan) {
  RecipePayload payload;
  UsedMemory used(plan);
  for (const SegmentPlan& segment : plan.segments) {
    std::vector<LaunchTensor> tensors = LaunchTensors(segment);
    for (LaunchTensor& tensor : tensors) tensor.memory = used.Use(tensor.memory);
    payload.graphs.push_back(std::move(tensors));
    for (const PlanTensor& tensor : segment.graph.tensors) {
      if (tensor.role == TensorRole::kResult) used.SetWritten(used.Use(segment.results[tensor.number]));
    }
  }
  payload.steps = plan.steps;
  used.UseIn(&payload.steps);
  payload.memory = std::move(used).Take();
  payload.buffer_bytes = plan.buffer_bytes;
  return payload;
}

std::string SerializePayload(const RecipePayload& payload) {
  GaudiPayload message;
  for (const std::vector<LaunchTensor>& graph : payload.graphs) {
    recipe::v1::SynapseGraph* graph_message = message.add_graphs();
    for (const LaunchTensor& tensor : graph) {
      recipe::v1::LaunchTensor* tensor_message = graph_message->add_tensors();
      tensor_message->set_name(tensor.name);
      tensor_message->mutable_sizes()->Add(tensor.sizes.begin(), tensor.sizes.end());
      tensor_message->set_memory(static_cast<uint32_t>(tensor.memory));
    }
  }
  for (const ProgramMemory& memory : payload.memory) {
    recipe::v1::ProgramMemory* memory_message = message.add_memory();
    memory_message->set_kind(KindOf(memory.kind));
    if (memory.number >= 0) memory_message->set_number(static_cast<uint32_t>(memory.number));
    memory_message->set_offset(memory.offset);
    memory_message->set_bytes(memory.bytes);
    memory_message->set_is_written(memory.is_written);
  }
  ToMessage(payload.steps, message.mutable_steps());
  message.set_buffer_bytes(payload.buffer_bytes);
  return message.SerializeAsString();
}

std::optional<RecipePayload> ParsePayload(absl::string_view bytes, const ProgramTable& table) {
  GaudiPayload message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  return PayloadReader(message, table).Read();
}

}  // namespace hpu::gaudi

#include "plugin/backends/emulator/codegen/recipe_payload.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hpu/recipe/v1/emulator.pb.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/recipe_container.h"
#include "plugin/program/table_message.h"

namespace hpu::emulator {
namespace {

constexpr absl::string_view kKind = "emulator";
// Limits the memory of a recipe's counters.
constexpr uint32_t kMaxCounters = 1 << 24;
// Prevents overflow in sums of workspaces.
constexpr uint64_t kMaxWorkspace = uint64_t{1} << 60;

void CodeToMessage(const CodeParts& code, recipe::v1::Code* message) {
  for (const BufferSlot& slot : code.slots) {
    recipe::v1::BufferSlot& added = *message->add_slots();
    added.set_source(static_cast<uint32_t>(slot.source));
    added.set_value(slot.value);
    added.set_bytes(slot.bytes);
  }
  message->set_workspace_bytes(code.workspace_bytes);
}

void ProfileToMessage(const RecipeProfile& profile, recipe::v1::Profile* message) {
  message->set_counters(profile.counters);
  for (const hal::InstructionTime& instruction : profile.instructions) {
    recipe::v1::ProfiledInstruction& added = *message->add_instructions();
    added.set_instruction(instruction.instruction);
    added.set_kind(instruction.kind);
    added.set_op(instruction.op);
    added.set_op_type(instruction.op_type);
  }
}

void BufferToMessage(const hal::LaunchBuffer& buffer, recipe::v1::LaunchBuffer* message) {
  message->set_kind(static_cast<uint32_t>(buffer.kind));
  message->set_instruction(buffer.instruction);
  message->set_op(buffer.op);
  message->set_op_type(buffer.op_type);
  message->set_shape(buffer.shape);
  message->set_bytes(buffer.bytes);
  message->set_begin(buffer.begin);
  message->set_end(buffer.end);
}

void RowLoopToMessage(const RowLoop& loop, recipe::v1::RowLoop* message) {
  message->set_function(loop.function);
  message->set_elements(loop.elements);
  message->set_features(loop.features);
  message->set_parts(loop.parts);
  for (const RowLoop::Operand operand : loop.operands) message->add_operands(static_cast<uint32_t>(operand));
}

// The binaries of the result are views into `parts`.
RecipeContainer ContainerOf(const RecipeParts& parts, absl::string_view target) {
  recipe::v1::EmulatorPayload payload;
  RecipeContainer container;
  CodeToMessage(parts, payload.mutable_code());
  container.binaries.push_back(parts.object);
  for (const KernelSpec& kernel : parts.kernels) {
    recipe::v1::Kernel& added = *payload.add_kernels();
    added.set_name(kernel.name);
    added.mutable_parameters()->Add(kernel.parameters.begin(), kernel.parameters.end());
  }
  for (const FunctionParts& function : parts.functions) {
    recipe::v1::Function& added = *payload.add_functions();
    ToMessage(function.table, added.mutable_table());
    CodeToMessage(function, added.mutable_code());
    container.binaries.push_back(function.object);
  }
  for (const RowLoop& loop : parts.row_loops) RowLoopToMessage(loop, payload.add_row_loops());
  ProfileToMessage(parts.profile, payload.mutable_profile());
  for (const hal::LaunchBuffer& buffer : parts.buffers) BufferToMessage(buffer, payload.add_buffers());
  container.kind = std::string(kKind);
  container.target = std::string(target);
  container.table = parts.table;
  container.workspace_bytes = WorkspaceBytes(parts);
  container.payload = payload.SerializeAsString();
  return container;
}

CodeParts CodeFromMessage(const recipe::v1::Code& message, absl::string_view object) {
  CodeParts code;
  code.slots.reserve(message.slots_size());
  for (const recipe::v1::BufferSlot& slot : message.slots()) {
    // An unknown source stays unknown in the narrower type, so that SlotIsValid refuses the slot.
    const uint32_t source = std::min<uint32_t>(slot.source(), std::numeric_limits<uint8_t>::max());
    code.slots.push_back({static_cast<BufferSlot::Source>(source), slot.value(), slot.bytes()});
  }
  code.workspace_bytes = message.workspace_bytes();
  code.object = std::string(object);
  return code;
}

RecipeProfile ProfileFromMessage(const recipe::v1::Profile& message) {
  RecipeProfile profile;
  profile.counters = message.counters();
  for (const recipe::v1::ProfiledInstruction& instruction : message.instructions()) {
    profile.instructions.push_back(
        {instruction.instruction(), instruction.kind(), instruction.op(), instruction.op_type()});
  }
  return profile;
}

absl::StatusOr<hal::LaunchBuffer> BufferFromMessage(const recipe::v1::LaunchBuffer& message) {
  if (message.kind() > static_cast<uint32_t>(hal::LaunchBuffer::Kind::kWorkspace)) {
    return absl::InvalidArgumentError(absl::StrCat("a launch buffer has the unknown kind ", message.kind()));
  }
  hal::LaunchBuffer buffer;
  buffer.kind = static_cast<hal::LaunchBuffer::Kind>(message.kind());
  buffer.instruction = message.instruction();
  buffer.op = message.op();
  buffer.op_type = message.op_type();
  buffer.shape = message.shape();
  buffer.bytes = message.bytes();
  buffer.begin = message.begin();
  buffer.end = message.end();
  return buffer;
}

RowLoop RowLoopFromMessage(const recipe::v1::RowLoop& message) {
  RowLoop loop{message.function(), message.elements(), message.features(), message.parts(), {}};
  for (const uint32_t operand : message.operands()) {
    // An unknown class stays unknown in the narrower type, so that IsValid refuses the loop.
    loop.operands.push_back(
        static_cast<RowLoop::Operand>(std::min<uint32_t>(operand, std::numeric_limits<uint8_t>::max())));
  }
  return loop;
}

bool SlotIsValid(const ProgramTable& table, const CodeParts& code, const BufferSlot& slot) {
  switch (slot.source) {
    case BufferSlot::Source::kNone:
      return true;
    case BufferSlot::Source::kArgument:
      return slot.value < table.arguments.size() && slot.bytes == table.arguments[slot.value].bytes;
    case BufferSlot::Source::kResult:
      return slot.value < table.results.size() && slot.bytes == table.results[slot.value].spec.bytes;
    case BufferSlot::Source::kWorkspace:
      return slot.value % kWorkspaceAlignment == 0 && slot.value <= code.workspace_bytes &&
             slot.bytes <= code.workspace_bytes - slot.value;
    case BufferSlot::Source::kResultTable:
      return slot.bytes == table.results.size() * sizeof(void*);
  }
  return false;
}

absl::Status ValidateCode(const ProgramTable& table, const CodeParts& code) {
  if (code.workspace_bytes > kMaxWorkspace)
    return absl::InvalidArgumentError(
        absl::StrCat("the workspace has ", code.workspace_bytes, " bytes; the maximum is ", kMaxWorkspace));
  int tables = 0;
  for (const BufferSlot& slot : code.slots) {
    if (!SlotIsValid(table, code, slot)) {
      return absl::InvalidArgumentError(
          absl::StrCat("buffer slot ", &slot - code.slots.data(), " of ", slot.bytes,
                       " bytes does not match its argument, result, workspace or result table"));
    }
    if (slot.source == BufferSlot::Source::kResultTable) ++tables;
  }
  return tables == 1 ? absl::OkStatus()
                     : absl::InvalidArgumentError(absl::StrCat("the code has ", tables, " result tables, expected 1"));
}

absl::Status Validate(const RecipeParts& parts, uint64_t workspace_bytes) {
  if (parts.profile.counters > kMaxCounters) {
    return absl::InvalidArgumentError(
        absl::StrCat("the profile has ", parts.profile.counters, " counters; the maximum is ", kMaxCounters));
  }
  for (const FunctionParts& function : parts.functions) {
    HPU_RETURN_IF_ERROR(ValidateCode(function.table, function));
  }
  HPU_RETURN_IF_ERROR(ValidateCode(parts.table, parts));
  HPU_RETURN_IF_ERROR(ValidateRowLoops(parts));
  if (WorkspaceBytes(parts) == workspace_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the header records a workspace of ", workspace_bytes,
                                                 " bytes, but the code needs ", WorkspaceBytes(parts)));
}

absl::StatusOr<RecipeParts> FromContainer(RecipeContainer container) {
  recipe::v1::EmulatorPayload payload;
  if (!payload.ParseFromString(container.payload)) {
    return absl::InvalidArgumentError(absl::StrCat("invalid payload of ", container.payload.size(), " bytes"));
  }
  if (container.binaries.size() != static_cast<size_t>(payload.functions_size()) + 1) {
    return absl::InvalidArgumentError(absl::StrCat("the recipe has ", container.binaries.size(), " binaries, expected ",
                                                   payload.functions_size() + 1));
  }
  RecipeParts parts;
  parts.table = std::move(container.table);
  static_cast<CodeParts&>(parts) = CodeFromMessage(payload.code(), container.binaries[0]);
  for (const recipe::v1::Kernel& kernel : payload.kernels()) {
    parts.kernels.push_back({kernel.name(), {kernel.parameters().begin(), kernel.parameters().end()}});
  }
  for (const recipe::v1::Function& function : payload.functions()) {
    FunctionParts& added = parts.functions.emplace_back();
    HPU_ASSIGN_OR_RETURN(added.table, FromMessage(function.table()));
    static_cast<CodeParts&>(added) = CodeFromMessage(function.code(), container.binaries[parts.functions.size()]);
  }
  for (const recipe::v1::RowLoop& loop : payload.row_loops()) parts.row_loops.push_back(RowLoopFromMessage(loop));
  parts.profile = ProfileFromMessage(payload.profile());
  for (const recipe::v1::LaunchBuffer& buffer : payload.buffers()) {
    HPU_ASSIGN_OR_RETURN(parts.buffers.emplace_back(), BufferFromMessage(buffer));
  }
  HPU_RETURN_IF_ERROR(Validate(parts, container.workspace_bytes));
  return parts;
}

}  // namespace

uint64_t SerializedSize(const RecipeParts& parts, absl::string_view target) {
  return ContainerOf(parts, target).SerializedBytes();
}

std::string SerializeParts(const RecipeParts& parts, absl::string_view target) {
  return ContainerOf(parts, target).Serialize();
}

absl::StatusOr<RecipeParts> ParseParts(absl::string_view name, absl::string_view bytes, absl::string_view target) {
  HPU_ASSIGN_OR_RETURN(RecipeContainer container, RecipeContainer::Parse(name, bytes, kKind, target));
  absl::StatusOr<RecipeParts> parts = FromContainer(std::move(container));
  if (!parts.ok()) return UnusableRecipe(name, parts.status().message());
  return parts;
}

}  // namespace hpu::emulator

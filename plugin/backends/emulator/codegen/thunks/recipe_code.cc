#include "plugin/backends/emulator/codegen/recipe_code.h"

#include <utility>

#include "plugin/backends/emulator/codegen/one_device.h"
#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/codegen/thunks/thunk_program.h"
#include "plugin/base/status_macros.h"
#include "xla/backends/cpu/runtime/buffer_allocations.h"
#include "xla/backends/cpu/runtime/thunk.h"
#include "xla/executable_run_options.h"
#include "xla/tsl/concurrency/async_value_ref.h"

namespace hpu::emulator {
namespace {

using xla::cpu::Thunk;

// Whether the thunk runs thunks of loops or branches. XLA runs those that follow a parallel one on threads of the pool.
bool HasInnerThunks(const Thunk& thunk) {
  return thunk.kind() == Thunk::Kind::kWhile || thunk.kind() == Thunk::Kind::kConditional;
}

absl::Status RunThunk(Thunk* thunk, const Thunk::ExecuteParams& params, const ComputePool& pool) {
  const tsl::AsyncValueRef<Thunk::ExecuteEvent> done = thunk->Execute(params);
  if (!pool.finish_spin().Await([&] { return done.IsAvailable(); })) tsl::BlockUntilReady(done);
  return done.IsError() ? done.GetError() : absl::OkStatus();
}

}  // namespace

// Kernels find their scope by the thread, and share a workspace. So this thread runs all of them: it waits for each
// thunk, and loops and branches get no pool.
absl::Status CodeTables::Call(void* entry, const std::vector<BufferSlot>& slots, size_t results, const CodeCall& call,
                              int64_t* counters) {
  const ThunkProgram& program = *static_cast<const ThunkProgram*>(entry);
  if (tables_.size() < results) tables_.resize(results);
  xla::cpu::BufferAllocations::Buffers buffers(program.constants.begin(), program.constants.end());
  for (size_t i = 0; i < buffers.size() && i < slots.size(); ++i) {
    void* const address = AddressOf(slots[i], call, nullptr);
    if (address != nullptr) buffers[i] = stream_executor::DeviceAddressBase(address, slots[i].bytes);
  }
  for (size_t i = 0; i < results && i < program.results.size(); ++i) {
    const ResultPlace& place = program.results[i];
    tables_[i] = static_cast<char*>(buffers[place.allocation].opaque()) + place.offset;
  }
  const xla::cpu::BufferAllocations allocations(std::move(buffers));
  Thunk::CustomCallExecuteParams custom_calls(xla::RunId(0), /*device_ordinal=*/0, call.pool.device(),
                                              /*ffi_execution_context=*/nullptr);
  Thunk::CollectiveExecuteParams collectives(xla::RunId(0), /*local_device_ordinal=*/0, xla::GlobalDeviceId(0),
                                             OneDevice(), /*collectives=*/nullptr);
  Thunk::ExecuteParams params;
  params.function_library = program.executable->function_library();
  params.buffer_allocations = &allocations;
  params.custom_call_params = &custom_calls;
  params.collective_params = &collectives;
  for (Thunk* const thunk : program.steps) {
    params.intra_op_threadpool = HasInnerThunks(*thunk) ? nullptr : call.pool.device();
    const int64_t timed = counters == nullptr ? -1 : InstructionTimes::Begin(nullptr, thunk->info().op_name.c_str());
    HPU_RETURN_IF_ERROR(RunThunk(thunk, params, call.pool));
    InstructionTimes::End(nullptr, timed);
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator

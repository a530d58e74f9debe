#include "plugin/backends/emulator/codegen/recipe_code.h"

#include <utility>

#include "plugin/backends/emulator/codegen/thunks/thunk_program.h"
#include "xla/backends/cpu/runtime/buffer_allocations.h"
#include "xla/backends/cpu/runtime/thunk.h"
#include "xla/executable_run_options.h"
#include "xla/tsl/concurrency/async_value_ref.h"

namespace hpu::emulator {

// Runs all thunks on this thread, because kernels find their scope by the thread.
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
  xla::cpu::Thunk::CustomCallExecuteParams custom_calls(xla::RunId(0), /*device_ordinal=*/0, call.pool.device(),
                                                        /*ffi_execution_context=*/nullptr);
  xla::cpu::Thunk::ExecuteParams params;
  params.function_library = program.executable->function_library();
  params.buffer_allocations = &allocations;
  params.intra_op_threadpool = call.pool.device();
  params.custom_call_params = &custom_calls;
  const tsl::AsyncValueRef<xla::cpu::Thunk::ExecuteEvent> done = program.executable->thunks().Execute(params);
  tsl::BlockUntilReady(done);
  return done.IsError() ? done.GetError() : absl::OkStatus();
}

}  // namespace hpu::emulator

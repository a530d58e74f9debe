// C functions: launches of recipes.
#include "plugin/testing/synapse_double/graph/launch.h"

#include <atomic>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/graph/external_events.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/event.h"
#include "plugin/testing/synapse_double/runtime/guard.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse {

using synapse_double::Handles;
using synapse_double::LaunchArgument;
using synapse_double::Recipe;
using synapse_double::Refuse;
using synapse_double::Report;
using synapse_double::Rule;
using synapse_double::Stream;
using synapse_double::Text;

namespace {

std::atomic<uint64_t> launches{0};

// Release 1.5 finds tensors by name. Release 1.18 finds them by id, unless the flags ask for names.
bool FindsByName(uint32_t flags) {
#ifdef SYNAPSE_DOUBLE_1_5
  return true;
#else
  return (flags & SYN_FLAGS_TENSOR_NAME) != 0;
#endif
}

LaunchArgument ToArgument(const synLaunchTensorInfo& info, bool by_name) {
  LaunchArgument argument;
  // The name is not read in launches by id: callers may leave it unset.
  if (by_name && info.tensorName != nullptr) argument.name = info.tensorName;
#ifndef SYNAPSE_DOUBLE_1_5
  argument.id = info.tensorId;
#endif
  argument.address = info.pTensorAddress;
  argument.kind = info.tensorType;
  argument.sizes.assign(std::begin(info.tensorSize), std::end(info.tensorSize));
  return argument;
}

synStatus Launch(synStreamHandle stream, const synLaunchTensorInfo* tensors, uint32_t count, uint64_t workspace,
                 synRecipeHandle recipe, uint32_t flags) {
  ++launches;
  if (synapse_double::GetSwitches().empty_launch) return synSuccess;
  if (count > 0) SYNAPSE_DOUBLE_REQUIRE_POINTER(tensors);
  std::shared_ptr<Stream> found_stream;
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found_stream));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(found_stream->CheckEngine(synapse_double::Engine::kCompute));
  if (found->data().generation != synapse_double::GetGeneration()) {
    return Refuse(Rule::kLaunch, synDeviceTypeMismatch,
                  Text("recipe ", found->data().name, " is for ", GenerationName(found->data().generation),
                       "; the device is ", GenerationName(synapse_double::GetGeneration())));
  }
  if ((flags & ~SYN_FLAGS_TENSOR_NAME) != 0) {
    return Refuse(Rule::kArguments, synInvalidArgument, Text("unknown flags ", synapse_double::Hex(flags)));
  }
  if (count > 0) synapse_double::CheckArrayGuard(tensors, count, "tensors");
  const bool by_name = FindsByName(flags);
  std::vector<LaunchArgument> arguments;
  for (uint32_t i = 0; i < count; ++i) arguments.push_back(ToArgument(tensors[i], by_name));
  synapse_double::LaunchAddresses addresses;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(CheckLaunch(*found, arguments, by_name, workspace, &addresses)));
  return found_stream->Enqueue(LaunchCommand(std::move(found), std::move(addresses)));
}

}  // namespace

synStatus synLaunch(const synStreamHandle stream, const synLaunchTensorInfo* tensors, const uint32_t count,
                    uint64_t workspace, const synRecipeHandle recipe, uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  return Launch(stream, tensors, count, workspace, recipe, flags);
}

#ifndef SYNAPSE_DOUBLE_1_5

synStatus synEventMapTensor(synEventHandle* events, size_t count, const synLaunchTensorInfo* tensors,
                            const synRecipeHandle recipe) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(events);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(tensors);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  synapse_double::CheckArrayGuard(tensors, count, "tensors");
  for (size_t i = 0; i < count; ++i) {
    std::shared_ptr<synapse_double::Event> event;
    SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(events[i], &event));
    const int32_t tensor = found->LaunchTensorOfId(tensors[i].tensorId);
    if (tensor == synapse_double::kNoIndex || !found->LaunchTensor(tensor).is_external) {
      return Refuse(Rule::kArguments, synInvalidArgument,
                    Text("event ", i, ": its tensor is not an external tensor of the recipe"));
    }
    synapse_double::ExternalEvents::Get().Map(events[i], recipe);
  }
  return synSuccess;
}

// Records the events after the whole launch: a card may record an event as soon as its tensors are written.
synStatus synLaunchWithExternalEvents(const synStreamHandle stream, const synLaunchTensorInfo* tensors,
                                      const uint32_t count, uint64_t workspace, const synRecipeHandle recipe,
                                      synEventHandle* events, const uint32_t event_count, uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  if (event_count > 0) SYNAPSE_DOUBLE_REQUIRE_POINTER(events);
  std::vector<std::shared_ptr<synapse_double::Event>> found(event_count);
  for (uint32_t i = 0; i < event_count; ++i) {
    SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(events[i], &found[i]));
    if (!synapse_double::ExternalEvents::Get().IsMapped(events[i], recipe)) {
      return Refuse(Rule::kArguments, synInvalidArgument,
                    Text("event ", i, " is not mapped to a tensor of the recipe; call synEventMapTensor"));
    }
  }
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Launch(stream, tensors, count, workspace, recipe, flags));
  std::shared_ptr<Stream> found_stream;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found_stream));
  for (const auto& event : found) SYNAPSE_DOUBLE_RETURN_IF_ERROR(event->Record(found_stream.get()));
  return synSuccess;
}

#endif

// A function of the double, not of SynapseAI.
uint64_t synapse_double_launch_count() { return launches; }

}  // namespace hpu::synapse

// Messages of failed CHECKs, from TensorFlow's log.
#ifndef HPU_PLUGIN_BASE_CONTAINMENT_FATAL_MESSAGES_H_
#define HPU_PLUGIN_BASE_CONTAINMENT_FATAL_MESSAGES_H_

#include <string_view>

namespace hpu::containment {

using FatalMessageSink = void (*)(std::string_view text, std::string_view file, int line);

// The log calls `sink` on the failing thread, before the abort, for the rest of the process. plugin/compat defines this
// function, because TensorFlow's log differs between releases.
void AddFatalMessageSink(FatalMessageSink sink);

}  // namespace hpu::containment

#endif  // HPU_PLUGIN_BASE_CONTAINMENT_FATAL_MESSAGES_H_

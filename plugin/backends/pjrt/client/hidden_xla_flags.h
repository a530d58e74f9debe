// HiddenXlaFlags: hides the variable XLA_FLAGS while a plugin reads its flags.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HIDDEN_XLA_FLAGS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HIDDEN_XLA_FLAGS_H_

#include "absl/strings/string_view.h"
#include "plugin/backends/pjrt/client/plugin.h"

namespace hpu::pjrt {

// While at least one object exists, getenv("XLA_FLAGS") returns null in all threads. The last object makes the variable
// visible again, with the same pointer.
//
// XLA reads the variable once, at its first use, and ends the process if the variable contains an unknown name. A
// plugin's XLA and TensorFlow's XLA have different names.
//
// Rule: no thread may change the environment (setenv, unsetenv, putenv) while an object exists. Reading is safe:
// hiding replaces one pointer in `environ` and moves no other entry, whereas unsetenv moves entries that other threads
// may be reading. Objects exist only while Plugin::Load, Client::Create and Topology::Create load a plugin and make it
// read its flags, thus in load_habana_module(). TensorFlow's XLA sees the variable unless another thread compiles its
// first program during these calls.
class HiddenXlaFlags {
 public:
  HiddenXlaFlags();
  ~HiddenXlaFlags();
  HiddenXlaFlags(const HiddenXlaFlags&) = delete;
  HiddenXlaFlags& operator=(const HiddenXlaFlags&) = delete;
};

// A serialised xla::CompileOptionsProto with an option that no plugin has, for one replica and partition. XLA reads its
// flags before it refuses the option.
inline constexpr absl::string_view kUnknownOption = "\x1a\x04\x20\x01\x28\x01:\x0c\x0a\x06hpu_no\x12\x02\x10\x01";

// Returns create(), a StatusOr of a pointer to a client or topology of `plugin`. If the plugin has not read its flags
// yet, makes it read them while XLA_FLAGS is hidden.
template <typename Create>
auto CreateWithoutXlaFlags(const Plugin& plugin, const Create& create) -> decltype(create()) {
  if (plugin.has_read_flags()) return create();
  const HiddenXlaFlags hidden;
  auto created = create();
  if (!created.ok()) return created;
  static_cast<void>((*created)->TryOptions(kUnknownOption));
  plugin.set_has_read_flags();
  return created;
}

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HIDDEN_XLA_FLAGS_H_

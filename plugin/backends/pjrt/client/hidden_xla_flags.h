// HiddenXlaFlags: hides the variable XLA_FLAGS while a plugin reads its flags.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HIDDEN_XLA_FLAGS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HIDDEN_XLA_FLAGS_H_

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

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HIDDEN_XLA_FLAGS_H_

// The plugin's C interface: what the Python package calls through ctypes. Each layer implements its part in c_api.cc.
// Strings are UTF-8. Thread safe unless said otherwise.
#ifndef HPU_PLUGIN_C_API_H_
#define HPU_PLUGIN_C_API_H_

#include <stddef.h>
#include <stdint.h>

#define HPU_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Bytes owned by the plugin; give them back with hpu_buffer_free. data is never null.
typedef struct hpu_buffer {
  char* data;
  size_t size;
} hpu_buffer;

HPU_EXPORT void hpu_buffer_free(hpu_buffer* buffer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HPU_PLUGIN_C_API_H_

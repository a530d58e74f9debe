// Structs of the profiler extension of the PJRT C API.
//
// The pinned package of the API's header lacks this extension. The layouts are copied from XLA's
// xla/backends/profiler/plugin/profiler_c_api.h and xla/pjrt/c/pjrt_c_api_profiler_extension.h. A profiler is used only
// if its table has all functions below.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PROFILER_API_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PROFILER_API_H_

#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace hpu::pjrt::profiler_api {

struct Error;     // defined by the plugin
struct Profiler;  // defined by the plugin

struct ErrorDestroy {
  size_t struct_size;
  void* priv;
  Error* error;
};

struct ErrorMessage {
  size_t struct_size;
  void* priv;
  const Error* error;
  const char* message;  // result; valid as long as `error`
  size_t message_size;  // result
};

struct ErrorGetCode {
  size_t struct_size;
  void* priv;
  const Error* error;
  int code;  // result: an absl::StatusCode
};

struct Create {
  size_t struct_size;
  const char* options;  // serialised tensorflow.ProfileOptions
  size_t options_size;
  Profiler* profiler;  // result
};

// Arguments of destroy, start and stop.
struct Use {
  size_t struct_size;
  Profiler* profiler;
};

struct CollectData {
  size_t struct_size;
  Profiler* profiler;
  uint8_t* buffer;              // null: the plugin owns the data and sets `buffer`
  size_t buffer_size_in_bytes;  // result
};

struct Table {
  size_t struct_size;
  void* priv;
  void (*error_destroy)(ErrorDestroy*);
  void (*error_message)(ErrorMessage*);
  Error* (*error_get_code)(ErrorGetCode*);
  Error* (*create)(Create*);
  Error* (*destroy)(Use*);
  Error* (*start)(Use*);
  Error* (*stop)(Use*);
  Error* (*collect_data)(CollectData*);
};

struct Extension {
  PJRT_Extension_Base base;
  const Table* table;
};

}  // namespace hpu::pjrt::profiler_api

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PROFILER_API_H_

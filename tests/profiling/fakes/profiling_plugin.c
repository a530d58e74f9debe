// PJRT plugin with a profiler: the plugin in the file PLUGIN, with the profiler extension before its extensions.
//
// A record is the content of the file in FAKE_RECORD. FAKE_START_ERROR and FAKE_STOP_ERROR are texts of errors.
// cc -shared -fPIC -DPLUGIN='"/path/of/the/plugin.so"'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The beginning of PJRT_Api.
struct Api {
  size_t struct_size;
  void* extension_start;
};

// Errors are texts.
struct ErrorMessage {
  size_t struct_size;
  void* priv;
  const char* error;
  const char* message;
  size_t message_size;
};

struct ErrorGetCode {
  size_t struct_size;
  void* priv;
  const char* error;
  int code;
};

struct Create {
  size_t struct_size;
  const char* options;
  size_t options_size;
  void* profiler;
};

struct CollectData {
  size_t struct_size;
  void* profiler;
  uint8_t* buffer;
  size_t buffer_size_in_bytes;
};

struct Table {
  size_t struct_size;
  void* priv;
  void (*error_destroy)(void*);
  void (*error_message)(struct ErrorMessage*);
  const char* (*error_get_code)(struct ErrorGetCode*);
  const char* (*create)(struct Create*);
  const char* (*destroy)(void*);
  const char* (*start)(void*);
  const char* (*stop)(void*);
  const char* (*collect_data)(struct CollectData*);
};

struct Extension {
  size_t struct_size;
  int type;
  void* next;
  const struct Table* table;
};

enum { kProfiler = 1, kFailedPrecondition = 9 };

static void DestroyError(void* args) { (void)args; }

static void Message(struct ErrorMessage* args) {
  args->message = args->error;
  args->message_size = strlen(args->error);
}

static const char* Code(struct ErrorGetCode* args) {
  args->code = kFailedPrecondition;
  return NULL;
}

static const char* Make(struct Create* args) {
  static int profiler;
  args->profiler = &profiler;
  return NULL;
}

static const char* Destroy(void* args) {
  (void)args;
  return NULL;
}

static const char* Start(void* args) {
  (void)args;
  return getenv("FAKE_START_ERROR");
}

static const char* Stop(void* args) {
  (void)args;
  return getenv("FAKE_STOP_ERROR");
}

static const char* Collect(struct CollectData* args) {
  static uint8_t data[1 << 16];
  FILE* file = fopen(getenv("FAKE_RECORD"), "rb");
  if (file == NULL) return "no record";
  args->buffer = data;
  args->buffer_size_in_bytes = fread(data, 1, sizeof(data), file);
  fclose(file);
  return NULL;
}

const struct Api* GetPjrtApi(void) {
  static const struct Table table = {sizeof(table), NULL,    DestroyError, Message, Code,
                                     Make,          Destroy, Start,        Stop,    Collect};
  static struct Extension extension = {sizeof(extension), kProfiler, NULL, &table};
  static struct Api* api = NULL;
  if (api != NULL) return api;
  void* library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  const struct Api* (*get)(void) = library == NULL ? NULL : (const struct Api* (*)(void))dlsym(library, "GetPjrtApi");
  if (get == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
  const struct Api* real = get();
  api = malloc(real->struct_size);
  memcpy(api, real, real->struct_size);
  extension.next = real->extension_start;
  api->extension_start = &extension;
  return api;
}

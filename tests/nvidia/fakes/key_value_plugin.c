// Fake PJRT plugin whose clients only meet: cc -I<folder of pjrt_c_api.h>. PJRT_Client_Create puts a key for its node,
// reads the key of each node, and fails with the values, because there is no device. FAKE_WAIT_MS: time-out of a read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt_c_api.h"

struct PJRT_Error {
  PJRT_Error_Code code;
  char message[2048];
};

static PJRT_Error* NewError(PJRT_Error_Code code, const char* message, size_t size) {
  PJRT_Error* error = calloc(1, sizeof(PJRT_Error));
  error->code = code;
  memcpy(error->message, message, size < sizeof(error->message) ? size : sizeof(error->message) - 1);
  return error;
}

static void DestroyError(PJRT_Error_Destroy_Args* args) { free(args->error); }

static void GetMessage(PJRT_Error_Message_Args* args) {
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
}

static PJRT_Error* GetCode(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->code;
  return NULL;
}

static PJRT_CallbackError callback_error = NewError;

static long long Option(const PJRT_Client_Create_Args* args, const char* name) {
  for (size_t i = 0; i < args->num_options; ++i) {
    const PJRT_NamedValue* option = &args->create_options[i];
    if (option->name_size == strlen(name) && memcmp(option->name, name, option->name_size) == 0)
      return option->int64_value;
  }
  return -1;
}

static PJRT_Error* Put(const PJRT_Client_Create_Args* args, const char* key, const char* value, size_t size) {
  PJRT_KeyValuePutCallback_Args put = {0};
  put.struct_size = sizeof(put);
  put.key = key;
  put.key_size = strlen(key);
  put.value = value;
  put.value_size = size;
  put.callback_error = &callback_error;
  put.user_arg = args->kv_put_user_arg;
  return args->kv_put_callback(&put);
}

static PJRT_Error* CreateClient(PJRT_Client_Create_Args* args) {
  char key[64];
  char value[64];
  char met[1024] = "met";
  const long long node = Option(args, "node_id");
  const long long nodes = Option(args, "num_nodes");
  PJRT_KeyValueTryGetCallback_Args try_get = {0};
  try_get.struct_size = sizeof(try_get);
  try_get.key = "nobody puts this";
  try_get.key_size = strlen(try_get.key);
  try_get.callback_error = &callback_error;
  try_get.user_arg = args->kv_try_get_user_arg;
  PJRT_Error* missing = args->kv_try_get_callback(&try_get);
  if (missing == NULL || missing->code != PJRT_Error_Code_NOT_FOUND)
    return NewError(PJRT_Error_Code_INTERNAL, "expected NOT_FOUND", strlen("expected NOT_FOUND"));
  free(missing);
  snprintf(key, sizeof(key), "local_topology/fake/%lld", node);
  const int length = snprintf(value, sizeof(value), "node %lld%cof %lld", node, '\0', nodes);
  PJRT_Error* error = Put(args, key, value, (size_t)length);
  const char* wait = getenv("FAKE_WAIT_MS");
  for (long long other = 0; error == NULL && other < nodes; ++other) {
    PJRT_KeyValueGetCallback_Args get = {0};
    snprintf(key, sizeof(key), "local_topology/fake/%lld", other);
    get.struct_size = sizeof(get);
    get.key = key;
    get.key_size = strlen(key);
    get.timeout_in_ms = wait == NULL ? 60000 : atoi(wait);
    get.callback_error = &callback_error;
    get.user_arg = args->kv_get_user_arg;
    error = args->kv_get_callback(&get);
    if (error != NULL) break;
    for (size_t i = 0; i < get.value_size; ++i) {
      if (get.value[i] == '\0') get.value[i] = '_';
    }
    snprintf(met + strlen(met), sizeof(met) - strlen(met), " [%.*s]", (int)get.value_size, get.value);
    get.value_deleter_callback(get.value);
  }
  return error != NULL ? error : NewError(PJRT_Error_Code_UNAVAILABLE, met, strlen(met));
}

const PJRT_Api* GetPjrtApi(void) {
  static PJRT_Api api;
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.struct_size = sizeof(api.pjrt_api_version);
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = DestroyError;
  api.PJRT_Error_Message = GetMessage;
  api.PJRT_Error_GetCode = GetCode;
  api.PJRT_Client_Create = CreateClient;
  return &api;
}

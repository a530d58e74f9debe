// The plugin's C interface, which the Python package calls through ctypes. Each .cc file in this folder implements a
// part. Strings are UTF-8. Thread safe unless stated otherwise.
#ifndef HPU_PLUGIN_C_API_C_API_H_
#define HPU_PLUGIN_C_API_C_API_H_

#include <stddef.h>
#include <stdint.h>

#define HPU_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Bytes allocated by the plugin. Free the buffer with hpu_buffer_free. data is never null.
typedef struct hpu_buffer {
  char* data;
  size_t size;
} hpu_buffer;

HPU_EXPORT void hpu_buffer_free(hpu_buffer* buffer);

// Release, source revision, hash of the sources and TensorFlow version: "0.2.0_1a2b3c4d.5e6f7a8b_tf2.15.1". Never
// freed.
HPU_EXPORT const char* hpu_version(void);

// --- settings ---

// Claims the warning about an invalid value of the setting `name`, so that the process warns only once. Returns 0 if
// the plugin or an earlier call has already claimed this warning, else 1.
HPU_EXPORT int32_t hpu_claim_setting_warning(const char* name);

// --- device ---

// Describes the device by an hpu.report.v1.DeviceInfo. Does not acquire the device.
HPU_EXPORT hpu_buffer hpu_device_info(void);

// Device memory, in bytes. Only `limit` is nonzero before the device is acquired.
typedef struct hpu_memory {
  int64_t in_use;
  int64_t peak;
  int64_t limit;
  int64_t allocations;  // number since the process started
  int64_t workspace;    // part of in_use: kept for recipes' temporaries
  int64_t reported;     // in use according to the device; 0 if the device does not count
  // Counters of hal::DeviceUsage; 0 unless the device is of a PJRT plugin.
  int64_t buffers;
  int64_t donated_arguments;
  int64_t kept_arguments;
  // Figures of the allocator in the device's library (hal::DeviceUsage); -1 if the library does not report them.
  int64_t reported_peak;
  int64_t reported_limit;
  int64_t reported_largest_free_block;
  int64_t reported_pool;
  int64_t reported_allocations;
} hpu_memory;

HPU_EXPORT hpu_memory hpu_memory_info(void);
// Frees the workspace, which the next launch allocates again, and resets `peak` to the memory in use.
HPU_EXPORT void hpu_memory_reset_peak(void);

// Sets whether TensorFlow lists the HPU among its devices; the default is 1. Call before TensorFlow lists devices. Pass
// 0 if the device of HPU_BACKEND cannot be used.
HPU_EXPORT void hpu_offer_device(int32_t offered);
// Sets whether Sessions that the calling thread creates lack the HPU, unless device_count of a Session's config
// contains "HPU". Returns the previous value, initially 0. Needed for TensorFlow's MLIR importers, which read the
// variables of a Session from host memory.
HPU_EXPORT int32_t hpu_hide_from_importers(int32_t hidden);

// Acquires the device if necessary. Returns an absl status code; 0 is OK. `message`, if not null, receives the error
// text, which is empty on success.
HPU_EXPORT int32_t hpu_acquire(hpu_buffer* message);
// Waits for all queued work and reports the work's first error like hpu_acquire. Does not acquire the device.
HPU_EXPORT int32_t hpu_synchronize(hpu_buffer* message);

// Interrupts a thread that waits for a device server. The device is then lost. Does nothing if no thread waits.
HPU_EXPORT void hpu_interrupt(void);
// Ends all waits for compiles: the launches that wait fail with CANCELLED. The compilers continue.
HPU_EXPORT void hpu_interrupt_compiles(void);
// Descriptor that becomes readable (8 bytes) after each SIGINT, -1 on failure. From the first call on, the plugin keeps
// a handler in front of the program's SIGINT handler (plugin/base/interrupts/sigint.h).
HPU_EXPORT int32_t hpu_sigint_descriptor(void);
// Adds one to the int32_t at `count`, atomically, and returns 0. Passed to Py_AddPendingCall to detect whether Python's
// main thread runs Python code.
HPU_EXPORT int32_t hpu_count_pending_call(void* count);
// Reports the error of the calling thread's last wait for a tensor like hpu_acquire, and clears the error.
HPU_EXPORT int32_t hpu_consume_read_error(hpu_buffer* message);

// Streams of the device; same values as hal::StreamKind (plugin/hal/stream.h).
enum { HPU_STREAM_COMPUTE = 0, HPU_STREAM_HOST_TO_DEVICE = 1, HPU_STREAM_DEVICE_TO_HOST = 2 };

// An event on a stream (plugin/tensorflow/device/timed_event.h). The functions report errors like hpu_acquire.
typedef struct hpu_event hpu_event;

// Acquires the device. `timing`: whether the event records the time at which it is reached. Sets `event` to null on
// errors.
HPU_EXPORT int32_t hpu_event_create(int32_t timing, hpu_event** event, hpu_buffer* message);
// No other call may use the event at the same time. Streams may still wait for it.
HPU_EXPORT void hpu_event_destroy(hpu_event* event);
// Marks the end of the work queued on the stream so far. Recording again moves the event.
HPU_EXPORT int32_t hpu_event_record(hpu_event* event, int32_t stream, hpu_buffer* message);
// Later work of the stream waits until the event is reached.
HPU_EXPORT int32_t hpu_event_wait(const hpu_event* event, int32_t stream, hpu_buffer* message);
HPU_EXPORT int32_t hpu_event_query(const hpu_event* event, int32_t* reached, hpu_buffer* message);
HPU_EXPORT int32_t hpu_event_synchronize(const hpu_event* event, hpu_buffer* message);
// Waits for both events. FailedPrecondition (9) if one was not recorded or was created without timing.
HPU_EXPORT int32_t hpu_event_elapsed(const hpu_event* begin, const hpu_event* end, double* milliseconds,
                                     hpu_buffer* message);

// --- kernels ---

// Statistics of compilations, launches and CPU fallbacks, as an hpu.report.v1.Statistics.
HPU_EXPORT hpu_buffer hpu_statistics(void);
// A table of the clusters that were compiled or launched, one per line.
HPU_EXPORT hpu_buffer hpu_statistics_table(void);
// Sets all counters to zero.
HPU_EXPORT void hpu_statistics_reset(void);
// Sends `signal` to the calling thread, once, when a cluster has been launched `launches` times. 0 launches: no signal.
// The thread must run until the signal was sent or the limit is 0.
HPU_EXPORT void hpu_signal_at_launch(int64_t launches, int32_t signal);

// Turns recording of all ops of all graphs on or off. Off by default, because recording costs memory and time. Turning
// recording on drops earlier records. Graphs that are already optimised are not recorded.
HPU_EXPORT void hpu_collect_op_records(int32_t collect);
// The records as an hpu.report.v1.OpRecords.
HPU_EXPORT hpu_buffer hpu_op_records(void);

// --- recipes ---

// Counters of the recipe caches since the process started, as an hpu.report.v1.RecipeCounters.
HPU_EXPORT hpu_buffer hpu_recipe_cache(void);
// Run time of each instruction of the recipes in memory, over all launches, as an hpu.report.v1.RecipeTimes. Contains
// no instructions unless recipes are timed (HPU_EMULATOR_PROFILE).
HPU_EXPORT hpu_buffer hpu_recipe_times(void);
// Device memory of the recipes in memory, as an hpu.report.v1.RecipeBuffers. Recipes of backends that do not record the
// tensors of launches have no buffers.
HPU_EXPORT hpu_buffer hpu_recipe_buffers(void);
// Waits until recipes that are stored in the background are on disk and uploaded. The wait for uploads lasts at most
// the remote cache's time-out.
HPU_EXPORT void hpu_recipe_cache_flush(void);
// Sets the command line of the process that transfers recipes from and to the remote cache
// (plugin/recipes/transfer_process.h), as a null-terminated array of words. Without a command, the remote cache is not
// used.
HPU_EXPORT void hpu_recipe_cache_set_transfer_command(const char* const* command);
// Stops background compilation permanently and waits for a running background compile. Does not wait for compiles of
// interrupted launches: if one is still running when the process exits, the process ends by _exit(2). Called before the
// process ends.
HPU_EXPORT void hpu_stop_compiling(void);

// Compilation of the function `function` in the library of a serialised GraphDef (compiler_ir.h). Both calls return an
// absl status code. `out` receives the result on success, otherwise the error message.

// Indices of the arguments that are compile-time constants, as an hpu.report.v1.NumberList.
HPU_EXPORT int32_t hpu_constant_arguments(const void* graph, size_t size, const char* function, hpu_buffer* out);
// The function's IR at the compilation stage `stage`. The graph has one node per argument.
HPU_EXPORT int32_t hpu_compiler_ir(const void* graph, size_t size, const char* function, const char* stage,
                                   hpu_buffer* out);

// --- recipes on disk, for tools: no device is needed ---

// Each returns an absl status code. `out` receives the result on success, otherwise the error message. `path` is the
// directory (TF_RECIPE_CACHE_PATH); a key is an entry's file name without suffix. Read, inspect and write also accept
// the name of notes: their key with the suffix ".notes".

// All entries, as an hpu.report.v1.RecipeListing. Does not mark entries as used.
HPU_EXPORT int32_t hpu_store_list(const char* path, hpu_buffer* out);
// Removes damaged files that were set aside, leftovers of killed processes, and the least recently used entries. The
// remaining entries have at most `max_bytes` bytes together and were used within the last `max_unused_s` seconds; a
// negative value sets no limit. Entries that are being read stay. `out` receives an hpu.report.v1.RecipeCleaning.
HPU_EXPORT int32_t hpu_store_clean(const char* path, int64_t max_bytes, int64_t max_unused_s, hpu_buffer* out);
// The verified bytes of an entry.
HPU_EXPORT int32_t hpu_store_read(const char* path, const char* key, hpu_buffer* out);
// Describes an entry's bytes by an hpu.report.v1.RecipeEntry; fails if the bytes are not an entry of this key.
HPU_EXPORT int32_t hpu_store_inspect(const char* key, const void* bytes, size_t size, hpu_buffer* out);
// Verifies an entry and writes it atomically. On success `out` receives an empty text.
HPU_EXPORT int32_t hpu_store_write(const char* path, const char* key, const void* bytes, size_t size, hpu_buffer* out);
// Differences between the programs of entries `before` and `now`, as an hpu.report.v1.TextList.
HPU_EXPORT int32_t hpu_store_compare(const char* path, const char* before, const char* now, hpu_buffer* out);

// --- SynapseAI ---

// Receives a step of a check, an hpu.report.v1.SynapseCheckStep. The bytes are valid during the call.
typedef void (*hpu_step_callback)(const void* bytes, size_t size);

// Checks the SynapseAI library at `library` (plugin/backends/gaudi/check/synapse_check.h). Compiles a one-node graph
// for each node that the Gaudi backend may use, then each program in the folder `programs` ("" for none). `generation`:
// a name like "gaudi2", or "" for the generation of the machine's cards. `first`: number of graphs to skip. Acquires no
// card and may take minutes. A refused graph is not an error. Returns an absl status code. `out` receives the error
// message, which is empty on success.
HPU_EXPORT int32_t hpu_synapse_check(const char* library, const char* generation, const char* programs, int64_t first,
                                     hpu_step_callback on_step, hpu_buffer* out);

// --- profiling ---

// Starts recording device activity, with the shapes of launches if `detailed`. Returns the recording's number. Several
// recordings may run concurrently. While no recording runs, an event costs one atomic load.
HPU_EXPORT int32_t hpu_trace_start(int32_t detailed);
// Ends the recording. Returns a Chrome trace as JSON, empty for an unknown number.
HPU_EXPORT hpu_buffer hpu_trace_stop(int32_t session);
// Writes "file:line" of the program that created the op to `line` (`size` bytes, null-terminated). Returns 0 if
// unknown.
typedef int32_t (*hpu_source_line_finder)(const char* op, char* line, size_t size);
// Sets the function that finds the source lines of ops for traces; null for none. Called when a trace ends.
HPU_EXPORT void hpu_trace_set_source_line_finder(hpu_source_line_finder finder);
// Adds an event to all active recordings, with times in nanoseconds since 1970.
HPU_EXPORT void hpu_trace_mark(const char* name, int64_t begin_ns, int64_t end_ns);

// --- collective operations in the device ---

// Creates the id of a new communicator, which the caller passes to all ranks. The id begins with the interconnect's
// name and a colon; only devices on the same interconnect can form a communicator. Returns an absl status code:
// Unimplemented if the backend has no collectives. `out` receives the id on success, otherwise the error message.
HPU_EXPORT int32_t hpu_communicator_id(hpu_buffer* out);
// Joins a communicator, which then runs the collectives of TensorFlow's group `group_key` on the device. All ranks of
// the group must pass the same id. Blocks until all ranks have joined. `names`: the ranks' names in error messages, one
// per line. `in_calling_order`: whether all ranks issue the group's operations eagerly and in the same order. The
// device runs the group's broadcasts only in this case. Returns an absl status code and its message.
HPU_EXPORT int32_t hpu_communicator_join(int32_t group_key, const char* id, int32_t rank, int32_t size,
                                         const char* names, int32_t in_calling_order, hpu_buffer* message);

// Registers a kernel for Horovod's in-place broadcast into variables if Horovod's library is loaded; otherwise does
// nothing. Thread safe.
HPU_EXPORT void hpu_horovod_loaded(void);

// --- device server ---

// Forks the session processes of `hpu serve` (hpu/serve/v1/control.proto) for the front process at the other end of the
// packet socket `socket`. Returns when the front process closes its end. The calling process must be single-threaded.
// Returns an absl status code.
HPU_EXPORT int32_t hpu_serve_fork_server(int32_t socket);

// --- ops ---

// What is known of TensorFlow's ops, as an hpu.ops.v1.Ops.
HPU_EXPORT hpu_buffer hpu_ops(void);

// --- graph passes ---

// Runs one graph pass (hpu::passes::PassNames(); "all" for the placed graph's whole pipeline) on a GraphDef. The nodes'
// requested devices count as assigned. `function` is the name of the graph's function, or "". Returns an absl status
// code. On success `graph_out` receives the GraphDef after the pass, serialised deterministically, and `report_out` an
// hpu.report.v1.GraphReport. On errors `graph_out` is empty and `report_out` receives the message.
HPU_EXPORT int32_t hpu_run_graph_pass(const void* graph, size_t size, const char* pass, const char* function,
                                      hpu_buffer* graph_out, hpu_buffer* report_out);

// Reclusters the function `cluster` of a GraphDef's library for `device` (plugin/passes/clustering/recluster.h). Ops
// named in `refused`, one per line, stay outside of clusters. Returns an absl status code. `graph_out` receives the
// GraphDef with the new functions, `name_out` the new function's name or the error message.
HPU_EXPORT int32_t hpu_split_cluster(const void* graph, size_t size, const char* cluster, const char* refused,
                                     const char* device, hpu_buffer* graph_out, hpu_buffer* name_out);

// The latest reports of this process, as an hpu.report.v1.GraphReports: of graphs that TensorFlow passed to the graph
// passes, and of refused eager ops.
HPU_EXPORT hpu_buffer hpu_graph_reports(void);
// Logs the ops that HPU_OP_LIST does not cover and that no earlier warning named
// (plugin/passes/analysis/unlisted_ops.h). Called before the process ends.
HPU_EXPORT void hpu_log_unlisted_ops(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HPU_PLUGIN_C_API_C_API_H_

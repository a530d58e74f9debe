// The plugin's C interface: what the Python package calls through ctypes. Each file beside this one implements a part.
// Strings are UTF-8. Thread safe unless said otherwise.
#ifndef HPU_PLUGIN_C_API_C_API_H_
#define HPU_PLUGIN_C_API_C_API_H_

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

// Release, source revision, hash of the sources and TensorFlow version: "0.1.0_1a2b3c4d.5e6f7a8b_tf2.15.1". Never
// freed.
HPU_EXPORT const char* hpu_version(void);

// --- device ---

// The device as a JSON object: "backend" (the value of HPU_BACKEND, or the acquired device's), "acquired" (bool),
// "modules" (number on this machine, or null), "compiler_target" (where the backend knows it before the device is
// acquired), and, once acquired, "type", "description", "module_id", "memory_bytes", "host_pool_bytes". "error" is
// there if the backend is unknown. Acquires nothing.
HPU_EXPORT hpu_buffer hpu_device_info(void);

// Device memory, in bytes. All 0 while the device is not acquired, but limit.
typedef struct hpu_memory {
  int64_t in_use;
  int64_t peak;
  int64_t limit;
  int64_t allocations;  // since the process started, not bytes
  int64_t workspace;    // part of in_use: kept for the temporaries of recipes
} hpu_memory;

HPU_EXPORT hpu_memory hpu_memory_info(void);
// Frees the workspace, which the next launch takes anew, and makes `peak` begin again at what is in use.
HPU_EXPORT void hpu_memory_reset_peak(void);

// Acquires the device if need be. Returns an absl status code: 0 if all is well; `message`, if not null, then gets the
// reason (empty otherwise).
HPU_EXPORT int32_t hpu_acquire(hpu_buffer* message);
// Waits for all queued work and reports its first error in the same way. Does not acquire the device.
HPU_EXPORT int32_t hpu_synchronize(hpu_buffer* message);

// Ends the waiting for a device server's work, if this process waits for some: the device is lost. Else does nothing.
HPU_EXPORT void hpu_interrupt(void);
// Reports in the same way, once, what the calling thread's last wait for a tensor failed with; 0 if it did not fail.
HPU_EXPORT int32_t hpu_take_failed_read(hpu_buffer* message);

// Streams of the device, as plugin/hal/stream.h numbers them.
enum { HPU_STREAM_COMPUTE = 0, HPU_STREAM_HOST_TO_DEVICE = 1, HPU_STREAM_DEVICE_TO_HOST = 2 };

// A point in a stream's work (plugin/tensorflow/device/timed_event.h). The functions return and report as hpu_acquire
// does.
typedef struct hpu_event hpu_event;

// Acquires the device. `timing`: whether the event keeps the time at which it is reached. `event` gets null on errors.
HPU_EXPORT int32_t hpu_event_create(int32_t timing, hpu_event** event, hpu_buffer* message);
// No other call with the event may run. Streams may still wait for it.
HPU_EXPORT void hpu_event_destroy(hpu_event* event);
// Marks the end of the work queued on the stream so far; again moves the event.
HPU_EXPORT int32_t hpu_event_record(hpu_event* event, int32_t stream, hpu_buffer* message);
// Holds later work of the stream back until the event is reached.
HPU_EXPORT int32_t hpu_event_wait(const hpu_event* event, int32_t stream, hpu_buffer* message);
HPU_EXPORT int32_t hpu_event_query(const hpu_event* event, int32_t* reached, hpu_buffer* message);
HPU_EXPORT int32_t hpu_event_synchronize(const hpu_event* event, hpu_buffer* message);
// Waits for both. FailedPrecondition (9) if one was not recorded or keeps no time.
HPU_EXPORT int32_t hpu_event_elapsed(const hpu_event* begin, const hpu_event* end, double* milliseconds,
                                     hpu_buffer* message);

// --- kernels ---

// What has been compiled, launched and run on the CPU so far, as a JSON object: "clusters" (each with "name", "ops",
// "arguments", "constants", "argument_bytes", "recipes", "compile_seconds", "lowering_seconds" (of these),
// "recipe_bytes", "launches", "fallbacks", "fallback_bytes", "fallback_reasons"), "eager" ("recipes",
// "compile_seconds", "launches", "host_runs", "host_bytes"), and over the clusters and eager ops "compile_seconds",
// "launches", "fallbacks", "fallback_bytes".
HPU_EXPORT hpu_buffer hpu_statistics(void);
// The clusters that were compiled or ran as a table, one a line.
HPU_EXPORT hpu_buffer hpu_statistics_table(void);
// Sets all counters to zero.
HPU_EXPORT void hpu_statistics_reset(void);

// Whether to record every op of every graph from now on, and what becomes of it: costs memory and time, off at first.
// Turning it on forgets earlier records. Graphs that were optimised before are not recorded.
HPU_EXPORT void hpu_collect_op_records(int32_t collect);
// The records, as a JSON object: "graphs" (as hpu_graph_reports, with "record", "ops" and "gaps"; all of them, but for
// "dropped" ones for which there was no room); "crossings", the tensors that they send between the HPU and the CPU
// ("record", "key", "from", "to"); "copies" of these (times and bytes by "record" and "name", the key); "host_runs" of
// ops outside clusters by their CPU kernel (in the same way, by node name); "failures" of clusters ("record",
// "cluster", "rule", "nodes", "reason").
HPU_EXPORT hpu_buffer hpu_op_records(void);

// --- recipes ---

// The caches of recipes as a JSON object of counts since the process started: "memory_hits", "disk_hits", "compiled",
// "disk_misses", "stored", "refused" (entries that were there and could not be used), "evicted", "waits" (for another
// process that compiled), "wait_seconds"; of the remote cache "remote_hits", "remote_misses", "remote_refused" (entries
// that were there and could not be used), "remote_failures" (of transfers) and "uploaded".
HPU_EXPORT hpu_buffer hpu_recipe_cache(void);
// The time of each instruction of the recipes in memory, as a JSON array: "name" (the cluster that a recipe was made
// for) and "instructions" ("instruction", "kind", "op", "op_type", "seconds" over all launches; plugin/hal/recipe.h).
// No instructions unless recipes are timed (HPU_EMULATOR_PROFILE).
HPU_EXPORT hpu_buffer hpu_recipe_times(void);
// Waits until the recipes that are being stored in the background are on the disk and, until the remote cache's
// time-out at most, uploaded.
HPU_EXPORT void hpu_recipe_cache_flush(void);
// Sets the command line, words up to a null, of the process that transfers recipes from and to the remote cache
// (plugin/recipes/transfer_process.h). Without it, the remote cache is not used.
HPU_EXPORT void hpu_recipe_cache_set_transfer_command(const char* const* command);
// Ends compiling in the background, for good: before the process ends. Waits for what is being compiled.
HPU_EXPORT void hpu_stop_compiling(void);

// Whether `padded` gives in its first rows what `program` gives (plugin/compiler/dynamic_shapes/row_independence.h);
// both are serialised HloModuleProtos of one function, for `rows` and `padded_rows` rows. Returns an absl status code:
// 0 if so, 9 (FailedPrecondition) if it may not; `message` then says which op mixes rows.
HPU_EXPORT int32_t hpu_check_rows(const void* program, size_t size, int64_t rows, const void* padded,
                                  size_t padded_size, int64_t padded_rows, hpu_buffer* message);

// What the compiler makes of the function `function` in the library of a serialised GraphDef (compiler_ir.h). Both
// return an absl status code. If it is 0, `out` gets what is described, otherwise the message.

// The arguments whose values are part of the program, as a JSON list of numbers.
HPU_EXPORT int32_t hpu_constant_arguments(const void* graph, size_t size, const char* function, hpu_buffer* out);
// The function at a stage of its compilation. The graph has a node for each argument.
HPU_EXPORT int32_t hpu_compiler_ir(const void* graph, size_t size, const char* function, const char* stage,
                                   hpu_buffer* out);

// --- recipes on disk, for tools: no device is needed ---

// Each returns an absl status code. If it is 0, `out` gets what is described, otherwise the message. `path` is the
// directory (TF_RECIPE_CACHE_PATH); a key is an entry's name without suffix.

// A JSON object: "entries", each with "key", "bytes", "used" (seconds since 1970), "problem" (empty, or why it would
// not be loaded) and, without a problem, "cluster", "ops" (instructions), "created", "compile_seconds",
// "workspace_bytes", "payload_bytes", "arguments", "results", "program" (its SHA-256), "backend", "target",
// "package_version", "tensorflow_version"; "damaged" (files that were set aside); "pending" (lock and temporary files).
HPU_EXPORT int32_t hpu_store_list(const char* path, hpu_buffer* out);
// Removes what was set aside, what killed processes left, and the least recently used entries, but none that is being
// read, until the others have at most `max_bytes` and none was last used more than `max_unused_s` ago (a negative
// number sets no limit). A JSON object: "entries" and "bytes" removed, "in_use" (entries that had to go and stayed),
// "busy" (another process evicts: no entry was removed), "leftovers" and "damaged" removed.
HPU_EXPORT int32_t hpu_store_clean(const char* path, int64_t max_bytes, int64_t max_unused_s, hpu_buffer* out);
// The bytes of an entry that verifies.
HPU_EXPORT int32_t hpu_store_read(const char* path, const char* key, hpu_buffer* out);
// What bytes from elsewhere hold, as in hpu_store_list; an error if they are no entry of this key.
HPU_EXPORT int32_t hpu_store_inspect(const char* key, const void* bytes, size_t size, hpu_buffer* out);
// Puts an entry that verifies in place, whole or not at all. Nothing is written to `out`.
HPU_EXPORT int32_t hpu_store_write(const char* path, const char* key, const void* bytes, size_t size, hpu_buffer* out);
// How the program of entry `now` differs from that of `before`: a JSON list of texts for people.
HPU_EXPORT int32_t hpu_store_compare(const char* path, const char* before, const char* now, hpu_buffer* out);

// --- profiling ---

// Records what the device does from now on, with the shapes of launches if `detailed`. Returns the recording's number.
// Several may run at once; none costs anything while none runs.
HPU_EXPORT int32_t hpu_trace_start(int32_t detailed);
// Ends it. A trace of Chrome's as JSON, empty for a number that is no recording's.
HPU_EXPORT hpu_buffer hpu_trace_stop(int32_t session);
// Adds an event of the program's own, with its times in nanoseconds since 1970, to all recordings that run.
HPU_EXPORT void hpu_trace_mark(const char* name, int64_t begin_ns, int64_t end_ns);

// --- collective operations in the device ---

// An id for a new communicator, to be given to all ranks; its part before the colon names what connects the devices
// that can form one. Returns an absl status code: Unimplemented where the backend has none; `out` gets the message
// then.
HPU_EXPORT int32_t hpu_communicator_id(hpu_buffer* out);
// Collectives of TensorFlow's group of that key happen in the device from now on. All ranks, which are TensorFlow's,
// call it with the same id, and it waits for them. `names`: what errors call the ranks, a line for each.
// `in_calling_order`: they issue all of the group's operations eagerly, in one order; broadcasts of other groups do not
// happen in the device. Returns an absl status code and its message.
HPU_EXPORT int32_t hpu_communicator_join(int32_t group_key, const char* id, int32_t rank, int32_t size,
                                         const char* names, int32_t in_calling_order, hpu_buffer* message);

// Gives Horovod's op that writes into variables a kernel, once Horovod's library is loaded; nothing before. Thread
// safe.
HPU_EXPORT void hpu_horovod_loaded(void);

// --- device server ---

// Forks the session processes of `hpu serve` (hpu/serve/v1/control.proto) for the front process at the other end of the
// packet socket `socket`, until that is closed. The process must have no other thread. Returns an absl status code.
HPU_EXPORT int32_t hpu_serve_fork_server(int32_t socket);

// --- graph passes ---

// Runs one graph pass (hpu::passes::PassNames(); "all" for the placed graph's whole pipeline) on a GraphDef whose
// nodes' devices count as assigned. `function` is the name of the function that the graph came from, "" for none.
// Returns an absl status code. If it is 0, `graph_out` gets the GraphDef after the pass, serialized deterministically,
// and `report_out` the report as JSON (plugin/passes/reporting/report.h); otherwise `graph_out` is empty and
// `report_out` holds the message.
HPU_EXPORT int32_t hpu_run_graph_pass(const void* graph, size_t size, const char* pass, const char* function,
                                      hpu_buffer* graph_out, hpu_buffer* report_out);

// Cuts the cluster `cluster` of a GraphDef's library again, without the ops named in `refused` (one a line), for
// `device` (plugin/passes/clustering/recluster.h). Returns as hpu_run_graph_pass does; `graph_out` gets the GraphDef
// with the larger library, `name_out` the new function's name or the message.
HPU_EXPORT int32_t hpu_split_cluster(const void* graph, size_t size, const char* cluster, const char* refused,
                                     const char* device, hpu_buffer* graph_out, hpu_buffer* name_out);

// The reports of the latest graphs that TensorFlow gave to the passes in this process, oldest first, as a JSON list.
HPU_EXPORT hpu_buffer hpu_graph_reports(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HPU_PLUGIN_C_API_C_API_H_

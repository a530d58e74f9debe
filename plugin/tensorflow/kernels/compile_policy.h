// Compile policy: decides whether an execution compiles, compiles in the background or runs on the CPU
// (HPU_COMPILE_MODE).
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COMPILE_POLICY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COMPILE_POLICY_H_

#include <cstdint>

#include "plugin/base/rules/rules.h"

namespace hpu {

// How to run an execution whose signature has no recipe yet.
struct CompileDecision {
  enum class Action {
    kCompile,              // now, while the program waits
    kCompileInBackground,  // later; this execution runs on the CPU
    kRunOnCpu,             // this execution runs on the CPU
  };
  Action action = Action::kCompile;
  Rule reason = Rule::kFallback;  // why the execution runs on the CPU
  bool only_stored = false;       // kCompile: only if the recipe is stored; else decide again
  bool for_bucket = false;        // compile the recipe of all sizes of the signature's bucket
};

// Counters of a cluster that the policy reads. Traces of one function for different shapes count as one cluster.
struct ClusterCounts {
  int64_t recipes = 0;     // compiled, for all signatures
  int64_t executions = 0;  // for all signatures, on the HPU and the CPU
  double longest_compile_seconds = 0;
  int64_t fallbacks = 0;          // of this signature
  bool scheduled = false;         // whether a background compilation of this signature is queued or running
  int64_t in_background = 0;      // signatures queued for, or in, background compilation
  bool has_bucket = false;        // a bounded recipe may serve this signature (bounded_recipes.h)
  bool bucket_scheduled = false;  // whether a background compilation of the bounded recipe is queued or running
  bool bucket_stored = false;     // an earlier process has stored the bounded recipe, which was not looked up yet
  double bucket_cpu_seconds = 0;  // time that all signatures of the bucket have run on the CPU
  bool is_first = true;           // no recipe exists for the cluster with variables of these shapes
  bool is_known = false;          // another trace has a recipe for this signature
  double cpu_seconds = 0;         // time that this signature has run on the CPU
  bool has_parts = false;         // another signature did not compile, so that the cluster was split
  bool may_be_stored = false;     // the recipe may be stored, but has not been looked up
};

// Whether the cluster was compiled more than 10 times and has run fewer than 50 times per compilation. XLA's lazy
// compilation has the same rule (tensorflow/compiler/jit/device_compilation_profiler.cc). A cluster that keeps running
// is eventually compiled again. Always false for a signature that a bounded recipe may serve.
bool IsMegamorphic(const ClusterCounts& counts);

// Declares that other processes depend on this process's results: replicas stay equal only if all run a cluster alike.
// The mode auto then compiles as the mode strict. Thread safe.
void RequireEqualChoices();

// Whether recipes are compiled by the times that they would save: in the mode auto, unless it is strict (below).
bool ChoosesByTime();

// Whether clusters have bounded recipes: with TF_ENABLE_DYNAMIC_SHAPES, and if ChoosesByTime().
bool UsesBoundedRecipes();

// Reads HPU_COMPILE_MODE at each call. In the mode auto, the first signature is compiled at once. Any other signature
// runs on the CPU until its time there exceeds the cluster's longest compile time, and is then compiled in the
// background. Before its first run, its recipe is looked up, if recipes are stored. A bounded recipe of an earlier
// process is used at once. So no program takes more than twice the time of the better choice (ski rental). If fallbacks
// are forbidden, TensorFlow's ops must be deterministic, or RequireEqualChoices() was called, auto is strict.
//
// In the modes lazy and async, a megamorphic cluster runs new signatures on the
// CPU. In these modes, so does a cluster that once took longer than HPU_COMPILE_LIMIT_S to compile. With
// TF_ENABLE_DYNAMIC_SHAPES the megamorphic rule also applies in the mode strict, unless TF_CPU_RUNTIME_FALLBACK=forbid.
CompileDecision DecideCompile(const ClusterCounts& counts);

// Counters of one signature of an eager op.
struct EagerCounts {
  int64_t cpu_runs = 0;  // including this execution
  double cpu_seconds = 0;
  double compile_seconds = 0;  // of an eager op, on average
  bool scheduled = false;      // whether a background compilation is queued or running
};

// The op runs on its CPU kernel HPU_EAGER_COMPILE_AFTER times, and is then compiled. If ChoosesByTime(), it is compiled
// in the background once its runs have taken as long as a compilation, unless the setting is 0.
CompileDecision DecideEagerCompile(const EagerCounts& counts);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COMPILE_POLICY_H_

// StagedCopies: said of a Device whose copies go through memory of the backend's own.
#ifndef HPU_PLUGIN_HAL_STAGED_COPIES_H_
#define HPU_PLUGIN_HAL_STAGED_COPIES_H_

namespace hpu::hal {

// A device that is one, too, has read the source of Stream::CopyToDevice when that returns, and MapHost costs it
// nothing: callers gain nothing by staging of their own, nor need they wait before they use a source again.
class StagedCopies {
 public:
  virtual ~StagedCopies() = default;

 protected:
  StagedCopies() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_STAGED_COPIES_H_

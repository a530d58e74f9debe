// Interruptible: said of a Device whose work the program may give up while it runs.
#ifndef HPU_PLUGIN_HAL_INTERRUPTIBLE_H_
#define HPU_PLUGIN_HAL_INTERRUPTIBLE_H_

namespace hpu::hal {

class Interruptible {
 public:
  virtual ~Interruptible() = default;

  // If the program waits for work, ends its waiting: the device is lost, with Cancelled. Else nothing. Thread safe.
  virtual void Interrupt() = 0;

 protected:
  Interruptible() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_INTERRUPTIBLE_H_

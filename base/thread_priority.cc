#include "base/thread_priority.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cobra {

void ComputePatiently() {
  sched_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.sched_policy = SCHED_NORMAL;
  attributes.sched_nice = 5;
  attributes.sched_runtime = 50'000'000;  // ns: of this policy, the length of a turn
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace cobra

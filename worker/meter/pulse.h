// Notices whether a neighbour disturbs a run. On a rented machine the other thread of the core may
// be somebody else's: while it computes, everything here takes 1.2 to 2 times as long, for
// milliseconds or for minutes. A pulse is a fixed piece of arithmetic in registers, some 20 us
// long, before and after each timed region; if both of a region's pulses took their usual time, the
// region was undisturbed (docs/measurements.md).
#ifndef COBRA_WORKER_METER_PULSE_H_
#define COBRA_WORKER_METER_PULSE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace cobra::worker {

// A pulse up to this ratio is undisturbed: clocks that differ by a step stay below it, neighbours
// above.
constexpr double kQuietPulse = 1.1;

class Pulse {
 public:
  // Beats for a second, to learn what is usual on `cores`. Processes forked later share what any of
  // them learns.
  static absl::StatusOr<std::unique_ptr<Pulse>> Create(std::vector<int> cores);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // The time of a pulse now over that of an undisturbed one; of several cores the worst. Moves this
  // thread from core to core if there are several, and back.
  double Ratio();

 private:
  struct Shared;
  Pulse(std::vector<int> cores, Shared* shared) : cores_(std::move(cores)), shared_(shared) {}
  double Beat();

  const std::vector<int> cores_;
  Shared* const shared_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_PULSE_H_

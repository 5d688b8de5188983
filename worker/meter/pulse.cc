#include "worker/meter/pulse.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>

#include "worker/meter/meter.h"

namespace cobra::worker {
namespace {

// Bins of 2 % from 1 us on.
constexpr int kBins = 512;
constexpr double kLogStep = 0.02;
// An undisturbed pulse is the fastest of those that are not rare: at least one in a thousand.
constexpr int64_t kRareOf = 1000;
constexpr double kLearnNs = 1e9;

int BinOf(double us) {
  return std::clamp(static_cast<int>(std::lround(std::log(std::max(us, 1.0)) / kLogStep)), 0, kBins - 1);
}
double TimeOf(int bin) { return std::exp(bin * kLogStep); }

// Two operations for each latency of one, in twelve chains: both units for floating point have work
// in each cycle, so that another thread on them is felt. Four numbers in a vector, which every
// processor has.
double Arithmetic() {
  using Vector = float __attribute__((vector_size(16)));
  constexpr int kChains = 12, kSteps = 5000;
  Vector chains[kChains] = {};
  const Vector factor = {0.999F, 0.998F, 0.997F, 0.996F}, term = {0.001F, 0.002F, 0.003F, 0.004F};
  const double start_ns = SteadyNowNs();
  for (int i = 0; i < kSteps; ++i) {
    for (Vector& chain : chains) chain = chain * factor + term;
  }
  const double us = (SteadyNowNs() - start_ns) / 1000;
  Vector sum = {};
  for (const Vector& chain : chains) sum += chain;
  volatile float kept = sum[0];
  static_cast<void>(kept);
  return us;
}

}  // namespace

struct Pulse::Shared {
  std::atomic<int64_t> counts[kBins];
  std::atomic<int64_t> total;

  int Usual() const {
    const int64_t enough = std::max<int64_t>(1, total.load(std::memory_order_relaxed) / kRareOf);
    int64_t so_far = 0;
    for (int bin = 0; bin < kBins; ++bin) {
      so_far += counts[bin].load(std::memory_order_relaxed);
      if (so_far >= enough) return bin;
    }
    return kBins - 1;
  }
};

absl::StatusOr<std::unique_ptr<Pulse>> Pulse::Create(std::vector<int> cores) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return absl::ResourceExhaustedError("no memory for the pulse");
  std::unique_ptr<Pulse> pulse(new Pulse(std::move(cores), new (memory) Shared()));
  for (const double start_ns = SteadyNowNs(); SteadyNowNs() - start_ns < kLearnNs;) pulse->Ratio();
  return pulse;
}

Pulse::~Pulse() { ::munmap(shared_, sizeof(Shared)); }

double Pulse::Beat() {
  const double us = Arithmetic();
  shared_->counts[BinOf(us)].fetch_add(1, std::memory_order_relaxed);
  shared_->total.fetch_add(1, std::memory_order_relaxed);
  return us;
}

double Pulse::Ratio() {
  double worst_us = 0;
  if (cores_.size() < 2) {
    worst_us = Beat();
  } else {
    cpu_set_t before, one;
    ::sched_getaffinity(0, sizeof(before), &before);
    for (const int core : cores_) {
      CPU_ZERO(&one);
      CPU_SET(static_cast<size_t>(core), &one);
      ::sched_setaffinity(0, sizeof(one), &one);
      worst_us = std::max(worst_us, Beat());
    }
    ::sched_setaffinity(0, sizeof(before), &before);
  }
  return worst_us / TimeOf(shared_->Usual());
}

}  // namespace cobra::worker

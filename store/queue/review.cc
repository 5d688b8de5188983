#include "store/queue/review.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace cobra::store {
namespace {

bool Agree(const ReviewedMeasurement& a, const ReviewedMeasurement& b) {
  return std::max(a.latency_us, b.latency_us) <= kAgreementFactor * std::min(a.latency_us, b.latency_us);
}

// How many other measurements agree with `row`, by other workers unless there are none.
size_t Confirmations(bool one_worker, const std::vector<ReviewedMeasurement>& rows, const ReviewedMeasurement& row) {
  return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [&](const ReviewedMeasurement& other) {
    return &other != &row && Agree(row, other) && (one_worker || row.worker != other.worker);
  }));
}

}  // namespace

void Review(bool one_worker, std::vector<ReviewedMeasurement>* rows) {
  const ReviewedMeasurement* accepted = nullptr;
  size_t most = 0;
  for (const ReviewedMeasurement& row : *rows) {
    const size_t confirmations = Confirmations(one_worker, *rows, row);
    if (confirmations > most) {
      most = confirmations;
      accepted = &row;
    }
  }
  const bool confirmed = accepted != nullptr;
  for (const ReviewedMeasurement& row : *rows) {
    if (accepted == nullptr && row.doubt.empty()) accepted = &row;
  }
  for (ReviewedMeasurement& row : *rows) {
    const bool agrees = accepted != nullptr && Agree(row, *accepted);
    if (agrees && (confirmed || row.doubt.empty())) {
      row.held.clear();
    } else if (!row.doubt.empty()) {
      row.held = row.doubt;
    } else {
      row.held =
          absl::StrCat(row.latency_us, " us contradicts another measurement of it, ", accepted->latency_us, " us");
    }
  }
}

}  // namespace cobra::store

// Which measurements of one subject on one target may be learned from. A measurement far from what
// the serving model predicts, or from an earlier one, is held until a second measurement agrees: a
// worker that is broken, busy or not honest then teaches nothing by itself.
#ifndef COBRA_STORE_QUEUE_REVIEW_H_
#define COBRA_STORE_QUEUE_REVIEW_H_

#include <string>
#include <vector>

namespace cobra::store {

// Two measurements agree if they differ by at most this factor. Of 1,189 subjects that one honest
// worker measured twice (data/measurements/cpu-epyc-genoa-1t), 99 % differ by less than 1.23 and
// all but four by less than 2.
inline constexpr double kAgreementFactor = 2;

struct ReviewedMeasurement {
  double latency_us = 0;  // above 0
  std::string worker;
  // StoredMeasurement::doubt and ::held.
  std::string doubt, held;
};

// Sets `held` of each. `rows` are all measurements of one subject, in the order of arrival.
// `one_worker`: the target has no other worker, so two measurements of the same one count as
// agreement.
//
// If two measurements agree, those that agree with the one that most others confirm are accepted,
// and all others are held. Otherwise the first one without doubt is accepted, with those that agree
// with it.
void Review(bool one_worker, std::vector<ReviewedMeasurement>* rows);

}  // namespace cobra::store

#endif  // COBRA_STORE_QUEUE_REVIEW_H_

// The minute of calibration, offered once to a user who asks at a terminal and whose machine has
// none.
#ifndef COBRA_CLIENT_CALIBRATION_OFFER_H_
#define COBRA_CLIENT_CALIBRATION_OFFER_H_

#include "client/commands.h"

namespace cobra::client {

// Whether this-machine is there now. The question is asked only where standard input and standard
// error are a terminal, the server is this user's own or the default one, and neither --quiet nor
// --format json is given. The answer is kept in the user's state folder; where it cannot be kept,
// nothing is asked. After a yes the machine is measured as by `cobra-client calibrate`; what went
// wrong is printed, and the answer is false.
bool OfferCalibration(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CALIBRATION_OFFER_H_

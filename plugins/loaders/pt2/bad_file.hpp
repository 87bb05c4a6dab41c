// Faults of the file, reported as by all loaders; see common/bad_file.hpp.
#pragma once
#include "../common/bad_file.hpp"

namespace pt2 {

using loading::BadFile;
using loading::in_quotes;
using loading::shown;
using loading::with_place;
using loading::within;

}  // namespace pt2

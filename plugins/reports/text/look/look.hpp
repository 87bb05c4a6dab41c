// The look of a text report, the one header of this folder for others: styled text, running text in
// lines, the configuration's settings, and tables drawn as lines.
#pragma once
#include "flow.hpp"
#include "layout.hpp"
#include "settings.hpp"
#include "style.hpp"

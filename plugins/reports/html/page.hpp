// The page around the data, made by web/build.mjs at build time: head with style and policy, then
// the data, then the program that shows it.
#pragma once
#include <string_view>

#include "block.hpp"

namespace html_report {

std::string_view page_before_data();
std::string_view page_after_data();

// The data of the page's first screen, and all other data that do not grow with the model. Kinds,
// axes and severities are numbers of the SDK's headers, as in web/src/data/codes.ts.

void write_summary(Json& json, const tmeter::Report& report);

// The parts of a report that grow with the model, column by column: the page reads a column as one
// array, and similar values are adjacent, so they compress well.

void write_modules(Json& json, const tmeter::Report& report);
void write_operators(Json& json, const tmeter::Report& report);
void write_tensors(Json& json, const tmeter::Report& report);
/// Distributions and series.
void write_curves(Json& json, const tmeter::Report& report);

/// The values of all metrics on an axis: [{"metric", "cells": [one per row]}]. Metrics without any
/// are left out.
void write_values(Json& json, const tmeter::Report& report, int32_t axis);

/// [[metric, module…]…]: modules whose value is a lower bound because a value inside is missing.
void write_lower_bounds(Json& json, const tmeter::Report& report);
void write_assumed(Json& json, const tmeter::Report& report);

}  // namespace html_report

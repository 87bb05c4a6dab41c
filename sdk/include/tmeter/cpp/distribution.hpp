// Histograms and curves, as plugins make them. Fill in and pass to Call::add.
#pragma once
#include <vector>

#include "graph.hpp"

TMETER_SDK_BEGIN

inline tmeter_target target_of(const Tensor& t) { return {TMETER_AXIS_TENSOR, 0, t.index()}; }
inline tmeter_target target_of(const Module& m) { return {TMETER_AXIS_MODULE, 0, m.index()}; }
inline constexpr tmeter_target kWholeModel{TMETER_AXIS_MODEL, 0, 0};

struct Distribution {
  std::string id, title, unit;
  tmeter_target of = kWholeModel;
  std::vector<double> edges;     // one more than counts
  std::vector<uint64_t> counts;  // bin i: [edges[i], edges[i + 1])

  /// Borrows from this object.
  tmeter_distribution abi() const {
    return {sizeof(tmeter_distribution),
            0,
            to_abi(id),
            to_abi(title),
            to_abi(unit),
            of,
            edges.data(),
            counts.data(),
            counts.size()};
  }
};

struct Series {
  std::string id, title;
  std::string x_title, x_unit, y_title, y_unit;
  tmeter_target of = kWholeModel;
  std::vector<double> x, y;

  /// Borrows from this object.
  tmeter_series abi() const {
    return {sizeof(tmeter_series),
            0,
            to_abi(id),
            to_abi(title),
            to_abi(x_title),
            to_abi(x_unit),
            to_abi(y_title),
            to_abi(y_unit),
            of,
            x.data(),
            y.data(),
            x.size()};
  }
};

TMETER_SDK_END

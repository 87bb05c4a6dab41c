// A custom report format in one class.
//
//   struct OneLine final : tmeter::ReportWriter {
//     void write(const tmeter::Report& r, tmeter::Output& out) override {
//       for (const auto& m : r.metrics()) out.print("{}={} ", m.id(), r.total(m));
//     }
//   };
//   TMETER_REPORT_WRITER("com.acme.oneline", "oneline", "txt", OneLine);
#pragma once
#include "plugin.hpp"

/// `id_`: plugin id; `name_`: as in --report NAME; `extension_`: of files; `Class_`: a
/// ReportWriter.
#define TMETER_REPORT_WRITER(id_, name_, extension_, Class_)                        \
  TMETER_PLUGIN(id_, "1.0.0", [](tmeter::Registrar& r) {                            \
    r.writer(name_, extension_, "text/plain",                                       \
             [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) { \
               Class_ writer;                                                       \
               writer.write(report, out);                                           \
             });                                                                    \
  })

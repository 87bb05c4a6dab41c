// A custom report format: `--report @name@`, or a file whose name ends in ".@name@".
#include <tmeter/cpp/plugin.hpp>

static void write_totals(const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
  for (const auto& metric : report.metrics())
    out.print("{}={}\n", metric.id(), report.total(metric));
}

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  r.writer("@name@", "@name@", "text/plain", write_totals);
});

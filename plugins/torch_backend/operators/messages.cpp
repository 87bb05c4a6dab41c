#include "operators/messages.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <optional>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr size_t kMaxLength = 300;

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = s.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

std::string_view first_line(std::string_view text) {
  text = trimmed(text);
  return trimmed(text.substr(0, text.find('\n')));
}

/// The reason in a TorchScript error: the first line without indentation after the program text.
///   …~~~~ <--- HERE
///     return x
///   builtins.ValueError: expected 4D input (got 3D input)
std::string_view after_program_text(std::string_view text) {
  constexpr std::string_view kHere = "<--- HERE\n";
  const auto here = text.rfind(kHere);
  if (here == std::string_view::npos) return {};
  text = text.substr(here + kHere.size());
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (!line.empty() && line[0] != ' ') return line;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::string_view without_class(std::string_view reason) {
  for (const std::string_view prefix : {"RuntimeError: ", "torch.jit.Error: ", "builtins."}) {
    if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
  }
  return reason;
}

/// "'code/__torch__/net.py' (line 12)" when the text points at a program, else "'data.pkl'".
std::string place_in_file(std::string_view text, std::string_view record) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  const auto file = text.rfind(kFile);
  const auto line = text.find(kLine, file == std::string_view::npos ? text.size() : file);
  if (line == std::string_view::npos) return "'" + std::string(record) + "'";
  const auto name = text.substr(file + kFile.size(), line - file - kFile.size());
  const auto digits = text.substr(line + kLine.size());
  const auto number = digits.substr(0, digits.find_first_not_of("0123456789"));
  return "'" + std::string(name) + "' (line " + std::string(number) + ")";
}

/// Loading errors with a known cause: LibTorch's text, the text before the name in question, and
/// the meaning.
struct LoadErrorCause {
  std::string_view pattern, before_name, means;
};
constexpr std::array<LoadErrorCause, 3> kMissing{{
    {"Unknown builtin op: ", "Unknown builtin op: ", "the model uses the operator "},
    {"Unknown type name", "__torch__.torch.classes.", "the model needs the custom class "},
    {"cannot call a Class Namespace", "__torch__.torch.classes.",
     "the model needs the custom class "},
}};

bool part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == '.';
}

/// "the model uses the operator acme::gated, which …"; empty if the cause is not known.
std::string load_error_cause(std::string_view text) {
  for (const auto& k : kMissing) {
    const auto at = text.find(k.before_name);
    if (at == std::string_view::npos || text.find(k.pattern) == std::string_view::npos) continue;
    auto name = text.substr(at + k.before_name.size());
    const auto end = std::find_if_not(name.begin(), name.end(), part_of_name);
    name = name.substr(0, static_cast<size_t>(end - name.begin()));
    while (name.ends_with('.') || name.ends_with(':')) name.remove_suffix(1);
    return std::string(k.means) + std::string(name) +
           ", which this LibTorch does not have (it belongs to an extension library or to a newer "
           "torch)";
  }
  return {};
}

/// Removes the request for a bug report from LibTorch's internal assertions: a forged file is not a
/// bug.
std::string_view without_bug_report_request(std::string_view reason) {
  constexpr std::string_view kBugReportRequest = "please report a bug to PyTorch.";
  const auto request = reason.find(kBugReportRequest);
  if (request == std::string_view::npos) return reason;
  const auto rest = trimmed(reason.substr(request + kBugReportRequest.size()));
  const auto failed = reason.substr(0, reason.find(" INTERNAL ASSERT FAILED"));
  return rest.empty() ? failed : rest;
}

/// Cuts the advice that LibTorch adds for users of other parts of it.
std::string_view without_advice(std::string_view reason) {
  for (const std::string_view advice :
       {" (Exception raised from", " You may have run into this message while",
        " This could be because the operator doesn't exist"})
    reason = reason.substr(0, reason.find(advice));
  return reason;
}

bool out_of_memory(std::string_view text) {
  return text.find("std::bad_alloc") != std::string_view::npos ||
         text.find("can't allocate memory") != std::string_view::npos;
}

/// The limit that --max-memory sets is the reason where there is one.
std::string out_of_memory_text(std::string_view purpose = {}) {
  const auto text = "there is not enough memory" + std::string(purpose);
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return text;
  return text + ": more than " + std::to_string(limit.rlim_cur >> 20) +
         " MiB (--max-memory) is needed";
}

std::string text_of(const std::exception& error) {
  const auto* e = dynamic_cast<const c10::Error*>(&error);
  return e ? e->what_without_backtrace() : error.what();
}

}  // namespace

std::string short_reason(std::string_view text) {
  if (out_of_memory(text)) return out_of_memory_text();
  auto line = without_class(after_program_text(text));
  if (line.empty()) line = first_line(text);
  line = without_bug_report_request(without_advice(line));
  std::string out(line.substr(0, kMaxLength));
  while (out.ends_with(':') || out.ends_with('.') || out.ends_with(' ')) out.pop_back();
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';  // control characters of a file must not reach a terminal
  }
  return out.empty() ? "no reason given" : out;
}

std::string short_reason(const std::exception& error) { return short_reason(text_of(error)); }

void rethrow_as_bad_model(std::string_view record) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    const auto text = text_of(e);
    if (out_of_memory(text)) {
      throw Error(TMETER_BAD_MODEL, out_of_memory_text(" to read '" + std::string(record) + "'"));
    }
    const auto cause = load_error_cause(text);
    if (!cause.empty()) throw Error(TMETER_BAD_MODEL, cause);
    throw Error(TMETER_BAD_MODEL, place_in_file(text, record) +
                                      " cannot be read; the archive is damaged or of another "
                                      "version: " +
                                      short_reason(text));
  }
}

namespace {

const c10::IValue* argument(const Failure& f, std::string_view name) {
  const auto it = std::find(f.arg_names.begin(), f.arg_names.end(), name);
  const auto i = static_cast<size_t>(it - f.arg_names.begin());
  return i < f.args.size() ? &f.args[i] : nullptr;
}

std::optional<at::Tensor> tensor(const Failure& f, std::string_view name) {
  const auto* value = argument(f, name);
  return value && value->isTensor() && value->toTensor().defined()
             ? std::optional(value->toTensor())
             : std::nullopt;
}

/// "layer1.0.conv1 (aten::conv2d)"
std::string place(const Failure& f) {
  if (f.op.empty()) return "the model stops";
  return f.module.empty() ? f.op : f.module + " (" + f.op + ")";
}

/// The most common mismatch in words: the number of channels or features. Empty for any other.
std::string size_mismatch(const Failure& f) {
  const auto x = tensor(f, "input"), w = tensor(f, "weight");
  if (!x || !w || w->dim() < 2) return {};
  const bool linear = f.op == "aten::linear";
  const bool convolution =
      f.op.find("conv") != std::string::npos && f.op.find("transpose") == std::string::npos;
  const auto* groups = argument(f, "groups");
  const int64_t expected =
      w->size(1) * (convolution && groups && groups->isInt() ? groups->toInt() : 1);
  if (!(linear || convolution) || x->dim() < (linear ? 1 : w->dim() - 1)) return {};
  const int64_t got = linear ? x->size(-1) : x->size(x->dim() - w->dim() + 1);
  if (got == expected) return {};
  return "expects " + std::to_string(expected) + (linear ? " input features" : " input channels") +
         ", got " + std::to_string(got);
}

}  // namespace

FailureDescription describe_failure(const Failure& f) {
  const auto sizes = size_mismatch(f);
  return {place(f) + (sizes.empty() ? ": " + f.reason : " " + sizes), !sizes.empty()};
}

std::string undecided_text(const Failure& f) { return place(f) + " " + f.reason; }

}  // namespace tmeter::torch_backend

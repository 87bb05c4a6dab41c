#include "stream.hpp"

#include <algorithm>

#include "plugins/common/utf8.hpp"

namespace xml_report {
namespace {

// XML 1.0, 2.2: Char.
bool allowed(char32_t code) {
  return code == '\t' || code == '\n' || code == '\r' ||
         (code >= 0x20 && code <= 0x10FFFF && code != 0xFFFE && code != 0xFFFF);
}

// Line ends and tabs are written as references, because parsers replace them with spaces (3.3.3) or
// LF.
std::string_view reference(char32_t code) {
  switch (code) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    case '\r':
      return "&#13;";
    default:
      return {};
  }
}

bool plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7F && c != '&' && c != '<' && c != '>' && c != '"';
  });
}

std::string escaped(std::string_view text) {
  std::string out;
  plugins::for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    const auto by_name = reference(code);
    out += !by_name.empty() ? by_name : allowed(code) ? bytes : plugins::kReplacement;
  });
  return out;
}

}  // namespace

Stream::Stream(tmeter::Output& out) : buffer_(out) {
  buffer_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
}

void Stream::indent() {
  static constexpr std::string_view kSpaces = "                ";
  buffer_ << kSpaces.substr(0, std::min(kSpaces.size(), 2 * open_.size()));
}

void Stream::end_tag() {
  if (!leaf_.empty()) {
    if (has_text_)
      buffer_ << "</" << leaf_ << ">\n";
    else
      buffer_ << "/>\n";
  } else if (in_tag_) {
    buffer_ << ">\n";
  }
  leaf_ = {};
  in_tag_ = has_text_ = false;
}

Stream& Stream::open(std::string_view name) {
  end_tag();
  indent();
  buffer_ << "<" << name;
  open_.push_back(name);
  in_tag_ = true;
  return *this;
}

Stream& Stream::close() {
  const bool nothing_inside = in_tag_ && leaf_.empty();
  const auto name = open_.back();
  if (nothing_inside) {
    buffer_ << "/>\n";
    in_tag_ = false;
    open_.pop_back();
    return *this;
  }
  end_tag();
  open_.pop_back();
  indent();
  buffer_ << "</" << name << ">\n";
  return *this;
}

Stream& Stream::element(std::string_view name) {
  end_tag();
  indent();
  buffer_ << "<" << name;
  leaf_ = name;
  in_tag_ = true;
  return *this;
}

Stream& Stream::attribute(std::string_view name, std::string_view value) {
  buffer_ << " " << name << "=\"";
  if (plain(value))
    buffer_ << value;
  else
    buffer_ << escaped(value);
  buffer_ << "\"";
  return *this;
}

Stream& Stream::text(std::string_view value) {
  if (!has_text_) buffer_ << ">";
  has_text_ = true;
  buffer_ << escaped(value);
  return *this;
}

void Stream::finish() {
  end_tag();
  buffer_.flush();
}

}  // namespace xml_report

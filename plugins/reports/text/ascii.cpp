#include "ascii.hpp"

#include <algorithm>
#include <array>

#include "utf8.hpp"

namespace text_report {
namespace {

struct Substitute {
  std::string_view of;  // characters
  char by;
};

// What the report itself writes. Names may hold anything: what is not here becomes "?".
constexpr std::array<Substitute, 13> kSubstitutes{{{"─━═╌┄╍┅–—−╴╶╼╾╸╺", '-'},
                                                   {"│┃║╎┆╏┇", '|'},
                                                   {"┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬", '+'},
                                                   {"╒╓╕╖╘╙╛╜╞╟╡╢╤╥╧╨╪╫┍┎┑┒┕┖┙┚┝┞┟┠┡┢┥┦┧┨┩┪", '+'},
                                                   {"┭┮┯┰┱┲┵┶┷┸┹┺┽┾┿╀╁╂╃╄╅╆╇╈╉╊", '+'},
                                                   {"×✕", 'x'},
                                                   {"·…•", '.'},
                                                   {"≥→▸›", '>'},
                                                   {"≤←‹", '<'},
                                                   {"≈", '~'},
                                                   {"↑", '^'},
                                                   {"†", '+'},
                                                   {"▏▎▍▌▋▊▉█▁▂▃▄▅▆▇", '#'}}};

char ascii_of(std::string_view character) {
  for (const auto& s : kSubstitutes)
    if (s.of.find(character) != s.of.npos) return s.by;
  return '?';
}

}  // namespace

void add_ascii(std::string_view text, std::string& out) {
  plugins::for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    if (code < 0x80)
      out += bytes;
    else
      out.append(display_width(bytes), ascii_of(bytes));
  });
}

}  // namespace text_report

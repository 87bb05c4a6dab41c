// The names of a terminal's 256 colours, from the rich library.
#include <algorithm>
#include <array>

#include "markup.hpp"

namespace text_report {
namespace {

struct Name {
  std::string_view name;
  uint8_t number;
};

// Sorted by name.
// clang-format off
constexpr std::array<Name, 235> kNames{{
    {"aquamarine1", 122}, {"aquamarine3", 79}, {"black", 0}, {"blue", 4}, {"blue1", 21},
    {"blue3", 20}, {"blue_violet", 57}, {"bright_black", 8}, {"bright_blue", 12},
    {"bright_cyan", 14}, {"bright_green", 10}, {"bright_magenta", 13}, {"bright_red", 9},
    {"bright_white", 15}, {"bright_yellow", 11}, {"cadet_blue", 73}, {"chartreuse1", 118},
    {"chartreuse2", 112}, {"chartreuse3", 76}, {"chartreuse4", 64}, {"cornflower_blue", 69},
    {"cornsilk1", 230}, {"cyan", 6}, {"cyan1", 51}, {"cyan2", 50}, {"cyan3", 43}, {"dark_blue", 18},
    {"dark_cyan", 36}, {"dark_goldenrod", 136}, {"dark_green", 22}, {"dark_khaki", 143},
    {"dark_magenta", 91}, {"dark_olive_green1", 192}, {"dark_olive_green2", 155},
    {"dark_olive_green3", 149}, {"dark_orange", 208}, {"dark_orange3", 166}, {"dark_red", 88},
    {"dark_sea_green", 108}, {"dark_sea_green1", 193}, {"dark_sea_green2", 157},
    {"dark_sea_green3", 150}, {"dark_sea_green4", 71}, {"dark_slate_gray1", 123},
    {"dark_slate_gray2", 87}, {"dark_slate_gray3", 116}, {"dark_turquoise", 44},
    {"dark_violet", 128}, {"deep_pink1", 199}, {"deep_pink2", 197}, {"deep_pink3", 162},
    {"deep_pink4", 125}, {"deep_sky_blue1", 39}, {"deep_sky_blue2", 38}, {"deep_sky_blue3", 32},
    {"deep_sky_blue4", 25}, {"dodger_blue1", 33}, {"dodger_blue2", 27}, {"dodger_blue3", 26},
    {"gold1", 220}, {"gold3", 178}, {"gray0", 16}, {"gray100", 231}, {"gray11", 234},
    {"gray15", 235}, {"gray19", 236}, {"gray23", 237}, {"gray27", 238}, {"gray3", 232},
    {"gray30", 239}, {"gray35", 240}, {"gray37", 59}, {"gray39", 241}, {"gray42", 242},
    {"gray46", 243}, {"gray50", 244}, {"gray53", 102}, {"gray54", 245}, {"gray58", 246},
    {"gray62", 247}, {"gray63", 139}, {"gray66", 248}, {"gray69", 145}, {"gray7", 233},
    {"gray70", 249}, {"gray74", 250}, {"gray78", 251}, {"gray82", 252}, {"gray84", 188},
    {"gray85", 253}, {"gray89", 254}, {"gray93", 255}, {"green", 2}, {"green1", 46}, {"green3", 40},
    {"green4", 28}, {"green_yellow", 154}, {"grey0", 16}, {"grey100", 231}, {"grey11", 234},
    {"grey15", 235}, {"grey19", 236}, {"grey23", 237}, {"grey27", 238}, {"grey3", 232},
    {"grey30", 239}, {"grey35", 240}, {"grey37", 59}, {"grey39", 241}, {"grey42", 242},
    {"grey46", 243}, {"grey50", 244}, {"grey53", 102}, {"grey54", 245}, {"grey58", 246},
    {"grey62", 247}, {"grey63", 139}, {"grey66", 248}, {"grey69", 145}, {"grey7", 233},
    {"grey70", 249}, {"grey74", 250}, {"grey78", 251}, {"grey82", 252}, {"grey84", 188},
    {"grey85", 253}, {"grey89", 254}, {"grey93", 255}, {"honeydew2", 194}, {"hot_pink", 206},
    {"hot_pink2", 169}, {"hot_pink3", 168}, {"indian_red", 167}, {"indian_red1", 204},
    {"khaki1", 228}, {"khaki3", 185}, {"light_coral", 210}, {"light_cyan1", 195},
    {"light_cyan3", 152}, {"light_goldenrod1", 227}, {"light_goldenrod2", 222},
    {"light_goldenrod3", 179}, {"light_green", 120}, {"light_pink1", 217}, {"light_pink3", 174},
    {"light_pink4", 95}, {"light_salmon1", 216}, {"light_salmon3", 173}, {"light_sea_green", 37},
    {"light_sky_blue1", 153}, {"light_sky_blue3", 110}, {"light_slate_blue", 105},
    {"light_slate_gray", 103}, {"light_slate_grey", 103}, {"light_steel_blue", 147},
    {"light_steel_blue1", 189}, {"light_steel_blue3", 146}, {"light_yellow3", 187}, {"magenta", 5},
    {"magenta1", 201}, {"magenta2", 200}, {"magenta3", 164}, {"medium_orchid", 134},
    {"medium_orchid1", 207}, {"medium_orchid3", 133}, {"medium_purple", 104},
    {"medium_purple1", 141}, {"medium_purple2", 140}, {"medium_purple3", 98},
    {"medium_purple4", 60}, {"medium_spring_green", 49}, {"medium_turquoise", 80},
    {"medium_violet_red", 126}, {"misty_rose1", 224}, {"misty_rose3", 181}, {"navajo_white1", 223},
    {"navajo_white3", 144}, {"navy_blue", 17}, {"orange1", 214}, {"orange3", 172}, {"orange4", 94},
    {"orange_red1", 202}, {"orchid", 170}, {"orchid1", 213}, {"orchid2", 212}, {"pale_green1", 156},
    {"pale_green3", 114}, {"pale_turquoise1", 159}, {"pale_turquoise4", 66},
    {"pale_violet_red1", 211}, {"pink1", 218}, {"pink3", 175}, {"plum1", 219}, {"plum2", 183},
    {"plum3", 176}, {"plum4", 96}, {"purple", 129}, {"purple3", 56}, {"purple4", 55}, {"red", 1},
    {"red1", 196}, {"red3", 160}, {"rosy_brown", 138}, {"royal_blue1", 63}, {"salmon1", 209},
    {"sandy_brown", 215}, {"sea_green1", 85}, {"sea_green2", 83}, {"sea_green3", 78},
    {"sky_blue1", 117}, {"sky_blue2", 111}, {"sky_blue3", 74}, {"slate_blue1", 99},
    {"slate_blue3", 62}, {"spring_green1", 48}, {"spring_green2", 47}, {"spring_green3", 41},
    {"spring_green4", 29}, {"steel_blue", 67}, {"steel_blue1", 81}, {"steel_blue3", 68},
    {"tan", 180}, {"thistle1", 225}, {"thistle3", 182}, {"turquoise2", 45}, {"turquoise4", 30},
    {"violet", 177}, {"wheat1", 229}, {"wheat4", 101}, {"white", 7}, {"yellow", 3},
    {"yellow1", 226}, {"yellow2", 190}, {"yellow3", 184}, {"yellow4", 106}
}};
// clang-format on

}  // namespace

std::optional<uint8_t> color_number(std::string_view name) {
  const auto it =
      std::lower_bound(kNames.begin(), kNames.end(), name,
                       [](const Name& n, std::string_view key) { return n.name < key; });
  if (it == kNames.end() || it->name != name) return std::nullopt;
  return it->number;
}

std::vector<std::string_view> color_names() {
  std::vector<std::string_view> names;
  for (const auto& n : kNames) names.push_back(n.name);
  return names;
}

}  // namespace text_report

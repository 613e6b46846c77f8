/** The card of `get_weather`: the temperature in large digits, and where it is between cold and hot. */

const WORDS = {
  en: { now: "Now", note: "Made-up report" },
  zh: { now: "现在", note: "虚构数据" },
};
const COLDEST = -20;
const HOTTEST = 40;

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ React, card }) {
  const h = React.createElement;

  card("get_weather", function Weather({ input, output, language }) {
    const [, degrees, unit] = /(-?\d+)°([CF])/.exec(output) ?? [];
    if (degrees === undefined) return h("p", { className: "weather" }, output);
    const celsius = unit === "F" ? ((degrees - 32) * 5) / 9 : Number(degrees);
    const place = Math.min(1, Math.max(0, (celsius - COLDEST) / (HOTTEST - COLDEST)));
    const words = WORDS[language];
    return h(
      "div",
      { className: "weather" },
      h("p", { className: "weather-place" }, h("strong", null, input.city), ` · ${words.now}`),
      h("p", { className: "weather-degrees" }, `${degrees}°`, h("small", null, unit)),
      h(
        "div",
        { className: "weather-scale", "aria-hidden": true },
        h("span", { style: { left: `${place * 100}%` } }),
      ),
      h("p", { className: "weather-note" }, words.note),
    );
  });
}

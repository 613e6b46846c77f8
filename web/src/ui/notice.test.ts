import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { type Language, LanguageContext, loadLanguage } from "@/text/text";
import { ErrorLine, ErrorNotice } from "@/ui/notice";
import { Remedies } from "@/ui/remedy";

function draw(view: typeof ErrorNotice, error: Error, needsOperator: boolean, language: Language = "en"): string {
  const places = { addressOf: (remedy: string) => `#/${remedy}`, needsOperator: () => needsOperator };
  const shown = createElement(Remedies, { value: places }, createElement(view, { error }));
  return renderToStaticMarkup(createElement(LanguageContext, { value: language }, shown));
}

const refused = Object.assign(new Error("openai rejected the API key"), { kind: "model_error", remedy: "keys" });

describe.each([ErrorNotice, ErrorLine])("%O", (view) => {
  test("leads to the place that repairs the error", () => {
    expect(draw(view, refused, false)).toMatch(/<a href="#\/keys"[^>]*>Open the keys of providers<\/a>/);
    const missing = Object.assign(new Error("Embedded model 'good' is not downloaded."), { remedy: "models" });
    expect(draw(view, missing, false)).toMatch(/<a href="#\/models"[^>]*>Open the models<\/a>/);
  });

  test("says who can repair it to a user who may not be the operator", async () => {
    expect(draw(view, refused, false)).not.toContain("operator");
    expect(draw(view, refused, true)).toContain("Only the operator of this server can change this");
    await loadLanguage("zh");
    expect(draw(view, refused, true, "zh")).toMatch(/各服务商的密钥.*管理员/);
  });

  test("has no link for any other error, or one that this page does not know", () => {
    expect(draw(view, new Error("too long"), true)).not.toContain("<a");
    expect(draw(view, Object.assign(new Error("new"), { remedy: "javascript:alert()" }), true)).not.toContain("<a");
  });
});

test("a page without the places shows the error alone", () => {
  expect(renderToStaticMarkup(createElement(ErrorNotice, { error: refused }))).not.toContain("<a");
});

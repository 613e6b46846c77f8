import { expect, test } from "vitest";
import { nextStep } from "@/app/stop-key";

test("Escape closes the workbench first, then asks, and stops at the second press", () => {
  expect(nextStep(true, true, true)).toBe("close");
  expect(nextStep(false, true, false)).toBe("ask");
  expect(nextStep(false, true, true)).toBe("stop");
  expect(nextStep(false, false, true)).toBe("none");
});

import { expect, test } from "vitest";
import { readRoute, routeTo } from "@/app/route";

test("an address and its session belong together", () => {
  expect(readRoute(routeTo("a/b ü"))).toBe("a/b ü");
  expect(readRoute(routeTo(null))).toBeNull();
  expect(readRoute("#/elsewhere")).toBeNull();
});

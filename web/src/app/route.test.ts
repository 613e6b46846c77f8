import { expect, test } from "vitest";
import { readRoute, routeTo } from "@/app/route";

test("an address can be made from a session and read back", () => {
  expect(readRoute(routeTo("a/b ü"))).toBe("a/b ü");
  expect(readRoute(routeTo(null))).toBeNull();
  expect(readRoute("#/elsewhere")).toBeNull();
});

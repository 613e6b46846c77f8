import { expect, test } from "vitest";
import { addressOf, type Route, readRoute } from "@/app/route";

const ROUTES: Route[] = [
  { kind: "chat", sessionId: null, messageId: null },
  { kind: "chat", sessionId: "a/b ü", messageId: null },
  { kind: "chat", sessionId: "a", messageId: "msg/1" },
  { kind: "room", panel: "", argument: null },
  { kind: "room", panel: "runs", argument: "run_1" },
  { kind: "shared", token: "t" },
];

test.each(ROUTES)("the address of %o can be read back", (route) => {
  expect(readRoute(addressOf(route))).toEqual(route);
});

test.each(["", "#/", "#/elsewhere", "#/s/", "#/shared/"])("the address %j is a new chat", (hash) => {
  expect(readRoute(hash)).toEqual({ kind: "chat", sessionId: null, messageId: null });
});

test("a broken escape in an address is read as it is", () => {
  expect(readRoute("#/s/50%")).toEqual({ kind: "chat", sessionId: "50%", messageId: null });
});
